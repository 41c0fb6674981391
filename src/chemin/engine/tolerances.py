"""The tolerances that all walks share, and which engine is asked for."""

from __future__ import annotations

import os

import numpy as np

EPS = float(np.finfo(np.float64).eps)

# Residuals are judged in two units: what the certificate can see (it asks for 1e-9 of the linear
# term), and round-off: EPS times the sum of the absolute values of the terms that make them up.
PRECISION = 1e-13
ROUNDING = 8 * EPS
STILL = 64 * EPS  # a speed below this, relative to the terms that make it up, is zero
ASIDE = 1e-10  # in a jump: a variable slower than this part of the fastest does not end it
SINGULAR = 64 * EPS  # a pivot below this, relative to the terms that make it up, is zero
INDEFINITE = 1e-8  # a pivot below minus this is no rounding: the matrix is indefinite
NULL = 1e-14  # an eigenvalue of m rows below m times this, relative to the largest, is zero
LONG = 0.75  # of the way to zero: the longest step
NOUGHT = 1e-13  # of where the walk began: values of t below are not told from 0
NEAR_ZERO = 1e-9  # likewise: below, solutions need not be unique any more
ENDLESS = 1e9  # on the way to infinity: what comes later than this many times t is noise
# Added to the offsets of pins' upper ends, among offsets in [1, 2). Any distinct offsets will do;
# so large, those of two variables that oppose each other (one row of the matrix, with two signs)
# never add up to a state that only both together can leave.
DOWN_FIRST = 3.0


def reference_asked_for() -> bool:
    """Whether the reference is to do everything: CHEMIN_ENGINE=reference."""
    return os.environ.get("CHEMIN_ENGINE") == "reference"
