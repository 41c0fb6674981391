"""Every tolerance of the walks: value, what it is relative to, and why. One table.

A comment reads "unit: what it decides". 1e-13 of the "linear term" means 1e-13 times it, and so on:

    linear term     what a residual is measured by: the unit of its variable at t
    box             how far the pins of a multiplier are apart
    absolute terms  the sum of the sizes of what a number is added up from: it bounds its round-off
    drift           how far a residual is off the tread on which it should stand
    m               rows of a matrix
    1               nothing: the number itself

`benchmarks/tolerances.py` says what ten times more and ten times less of each does. Sizes of blocks
and limits of patience are no tolerances: they change how long a walk takes, and stay where they are
used.
"""

from __future__ import annotations

import os

import numpy as np

EPS = float(np.finfo(np.float64).eps)

# ---------------------------------------------------------------------- residuals and positions
# Residuals are judged in two units: what the certificate can see, and their own round-off.
PRECISION = 1e-13  # linear term, box: a residual or a multiplier so near a corner is at it
ROUNDING = 8 * EPS  # sum of absolute terms: a residual so near a corner is at it
KEEP_PRECISION = 10.0  # PRECISION: what may drift in a block, certificates ask for 1e-9
KEEP_ROUNDING = 2.0  # ROUNDING: what may drift in a block
BENT = 100.0  # what may drift: a block that can be no shorter is kept and mended, not left
MEND = 0.1  # what may drift: more is corrected when a block ends
SPARE = 10.0  # precision of z, drift: so far beyond a corner it is corrected to, one is at it
WALKED = 0.3  # what may drift: more is walked away where no step with the inverse corrects it
STALE = 0.1  # linear term, terms: shrunk to this part, tolerances and h are computed again; so they
# are where terms have grown to its inverse
FROM_ZERO = 1e-3  # multipliers where a block ends: with less in all at its start, drift is judged
# by the terms of its end
FADED = 0.1  # t: shrunk to this part, a block of few variables ends
FADING = 0.7  # t: the same for many variables: a direction that is not new drifts on a long step
HOLDS = 1e-11  # linear term: residuals at the end of leave-one-out are on their stairs
INSIDE = 1e-12  # 1: so far outside its box a multiplier at the end of leave-one-out is inside
BLIND = 2e-8  # linear term: round-off of residuals above it ends a path, no certificate sees beyond
DIM = 1e-4  # lambda of a penalty: round-off of residuals above it ends a walk that finds no way
LOOSEST = 1e4  # tolerances: so wide they get before a walk that stands still is given up

# ---------------------------------------------------------------------- speeds and pivots
VANISHING = 64 * EPS  # absolute terms: a speed, or a pivot by a refined solve, below it is zero
ASIDE = 1e-10  # the fastest: in a jump, what is slower does not end it
NIL = 1e-13  # absolute terms: pivots of the compiled core below are zero, the rounding of G_FF
ENTRIES = 8 * EPS  # roots of the diagonal: entries of a matrix are known to this part of them; of
# u'G u no more than the sum of (root u)^2 times it, and a pivot below that is zero
DOUBT = 1e-8  # absolute terms: below, an updated inverse knows no pivot and no speed at a corner
DOUBT_REFINED = 1e-11  # absolute terms: nor does one with its solves refined once
INDEFINITE = 1e-8  # absolute terms: a pivot below minus this is no rounding
TURNED = 1e-7  # absolute terms: the square of how fast f moves, as a norm, is known to this
NULL = 1e-14  # m times the largest: an eigenvalue of m rows below it is zero
FRAIL = 1e-4  # absolute terms: after a smaller pivot the inverse, or the direction, is made again
SETTLED = 1e-10  # a solve: refined again while it changes by more, so that residuals do not drift
WORN = 1e-6  # |1 - H G_FF|: above, a block begins with a fresh inverse; below, one refinement does
RUINED = 1e-2  # |1 - H G_FF|: above, a block ends: refinement hardly converges
# Added to the offsets of pins' upper ends, among offsets in [1, 2). Any distinct offsets will do;
# so large, those of two variables that oppose each other (one row of the matrix, with two signs)
# never add up to a state that only both together can leave.
DOWN_FIRST = 3.0  # offsets: those of upper ends come last

# ---------------------------------------------------------------------- the parameter
LONG = 0.75  # t: the longest step to zero, so that drift is measured where it ends
NOUGHT = 1e-13  # t where the walk began: smaller ones are not told from 0
NEAR_ZERO = 1e-9  # t where the walk began: below, solutions need not be unique any more
ENDLESS = 1e9  # t: on the way to infinity, what comes later is noise
LOWEST = 1e-12  # start: the least lambda above 0 that the audit looks at
NOTHING = 1e-10  # box and linear term: a path starts where more than this happens to f
AT_REST = 1e-13  # the fastest: above the start, what is slower stands still, but for round-off
TIED = 16 * EPS  # t: above the start, events so near are one tie, and nothing moves between them
UNSEEN = 256 * EPS  # absolute terms: less is round-off of residuals, or of a speed near VANISHING

# ---------------------------------------------------------------------- ramps
CLOSE = 4 * EPS  # the place: nearer than this a crossing is there
UNSOLVED = 0.01  # tolerance of residuals: what a Krylov space may leave of the equations
REALLY = 4.0  # tolerance of residuals: more than that left where a move ends is round-off
SEEN, SEEN_ROUNDING = 1e-9, 50 * EPS  # linear term, terms: what certificates see beyond a stair
ARRIVED = 0.25  # tolerance of residuals: so near its corner a variable is to arrive; then twice
MENDED = 0.02  # tolerance of residuals: what may be left of what is off where a move ends
SPANNED = 64 * EPS  # the entries of T: a beta below it is round-off, and the Krylov space complete
SPREAD = 1e4  # smallest weight: above, all poles are taken, a Krylov space loses it
SLIPS = 1e-6  # a solve: if one refinement changes more, the inverse is made again,
LOST = 1e-3  # a solve: or, just made, is not to be used
WEAK = 1e-8  # diagonal: after a smaller pivot the inverse is made again
NEARBY = 0.05  # t: so far neither G_FF + t D nor the sizes of residuals change much
AWAY = 0.25  # t: so far from where it was made the inverse is made again
DISTANT = 1e4  # t: on the way up, what comes later is not told from the limit, met from one side
FITTED = 1e-10  # margin: a fit that is off by less, and bends by less, is perfect on the way to 0
FAINT = 1e-8  # margin: a fit that is off by less somewhere is soon lost in PRECISION there
EVEN = 1e-5  # 1: moves that bend less on the way to 0 can be followed there at once
TAIL = 1e-3  # the way to 0: a corner in this last part of it is met at 0, but for round-off
GENTLE = 0.5  # 1: moves that bend more on the way to 0 may have a pole there


def reference_asked_for() -> bool:
    """Whether the reference is to do everything: CHEMIN_ENGINE=reference."""
    return os.environ.get("CHEMIN_ENGINE") == "reference"
