"""From a problem to its trace: the start, the walk, and what ends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from .._threads import ONE_THREAD
from ..kernels import Ridged
from ..problems.base import Start
from ..problems.staircase import Floats, Ints, StaircaseSystem
from .krylov import KrylovWalker
from .progress import Progress
from .rational import RationalWalker
from .reasons import End, Reason, WalkEnd
from .rescue import RescuedWalker, regularise
from .tolerances import EPS, PRECISION, ROUNDING, SPREAD, reference_asked_for
from .trace import CurvedRecorder, Recorder, Trace

try:
    from ._subnormals import SubnormalsAreZero
    from .blocked import BlockWalker
    from .ramps import RampWalker
except ImportError:  # a source tree on the path, nothing compiled
    SubnormalsAreZero = nullcontext
    BlockWalker = None  # type: ignore[assignment, misc]
    RampWalker = KrylovWalker  # type: ignore[assignment, misc]

SEED, SECOND_SEED = 0, 1  # of the offsets that break ties
KEPT = 4096  # of the random numbers of each
CAREFUL = 600  # variables: a second walk by the reference takes seconds at the most
ABOVE = 2.0  # times a stop above the start: a walk down to it begins there
POLISH = 4  # passes; one takes away all but EPS of what is off
DEFAULT_RANGE = 1e-4  # of the start: where a path stops by default
# Of a bound on the start: one look at a time until it is known where the path starts. Few variables
# are free there, and the walk begins again at no cost.
GLANCE, GLANCES, SHOWN = 1e-2, 6, 2  # of paths on which nothing happens: so many are shown
FAILURES = (WalkEnd, np.linalg.LinAlgError)  # of walks: what has been walked is kept


def make_walker(system: StaircaseSystem, *args: Any) -> Any:
    """The fast engine, or the readable one when CHEMIN_ENGINE=reference.

    Ramps at a fixed t are walked by the readable one.
    """
    if reference_asked_for():
        return make_reference(system, *args)
    if system.soft is not None:
        soft = system.soft[system.soft > 0]
        return (RampWalker if soft.max() <= SPREAD * soft.min() else RationalWalker)(system, *args)
    if BlockWalker is None or isinstance(system.coupling, Ridged):
        return make_reference(system, *args)
    return BlockWalker(system, *args)


def make_reference(system: StaircaseSystem, *args: Any) -> RescuedWalker:
    """The readable engine; on ramps it walks along rational functions."""
    return (RescuedWalker if system.soft is None else RationalWalker)(system, *args)


def recorder_of(system: StaircaseSystem) -> type[Recorder]:
    return Recorder if system.soft is None else CurvedRecorder


def phase_one(
    system: StaircaseSystem, start: Start, t: float, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """The solution at t, from any stairs.

    An artificial residual e makes the given state optimal, with random distances to spare; then
    g + tau e is followed from tau = 1 to 0.
    """
    stair, z = start.stair, start.z
    z, h, drift = off(system, stair, z, t)
    if not drift.any():
        return stair, z
    low, held, high = (system.stairs.level(stair + s, t) for s in (-1, 0, 1))
    pinned = stair % 2 == 1
    spare = np.abs(h).max() * 0.01 or 1.0
    wide = 1.0 if start.spare is None else start.spare
    spare = np.minimum(spare, 0.25 * (high - low)) * wide * (1.0 + rng.random(len(h)))
    with np.errstate(invalid="ignore"):
        wanted = np.where(pinned, np.clip(h, low + spare, high - spare), held)
    stair, z = unwind(system, stair, z, t, h - wanted, rng)
    return polish(system, stair, z, t, rng)


def unwind(
    system: StaircaseSystem, stair: Ints, z: Floats, t: float, e: Floats, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """From the solution of g + e at t to that of g: g + tau e is followed from tau = 1 to 0."""
    if not e.any():
        return stair, z
    walker = make_walker(system.frozen(t, e), stair, z, 1.0, Recorder(), rng)
    walker.walk(EPS)  # what is left of e then is round-off
    return walker.stair, walker.z


def polish(
    system: StaircaseSystem, stair: Ints, z: Floats, t: float, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """The solution at t, from one that is nearly it: what is off is unwound, and again.

    Round-off of an artificial residual can be larger than what the solution asks for: with weights
    that differ by a million, or a small lambda, the residuals of the start are much larger than
    those of the solution.
    """
    for _ in range(POLISH):
        z, _, drift = off(system, stair, z, t)
        if not drift.any():
            break
        stair, z = unwind(system, stair, z, t, drift, rng)
    return stair, z


def off(system: StaircaseSystem, stair: Ints, z: Floats, t: float) -> tuple[Floats, Floats, Floats]:
    """z with pins where they are, h, and how far it is off its stairs; 0 for solutions."""
    z = np.where(stair % 2 == 1, system.stairs.level(stair, t), z)
    h, tangent = system.residual(z, t), system.tangent(z, t)
    on_tangent = h if tangent is system else tangent.residual(z, t)
    drift, linear = tangent.stairs.off(stair, on_tangent, t), np.abs(tangent.q + t * tangent.r)

    def settled(size: Floats) -> bool:
        return bool(np.all(np.abs(drift) <= tangent.tolerances(size, t, PRECISION, ROUNDING)))

    # Part of the terms, or a bound on them, will mostly do: they take a product with the matrix.
    coupling = tangent.coupling
    if settled(linear) or (
        settled(linear + coupling.bound(z)) and settled(linear + coupling.magnitude(z))
    ):
        return z, h, np.zeros_like(drift)
    return z, h, drift


@contextmanager
def walking() -> Iterator[None]:
    """What a walk is made in, and what is computed along it: one BLAS thread, no subnormals."""
    with ONE_THREAD, SubnormalsAreZero():
        yield


def follow(*args: Any, **options: Any) -> Trace:
    """`follow_here` with one BLAS thread: products this small lose by sharing."""
    with walking():
        return follow_here(*args, **options)


def carry_on(*args: Any, **options: Any) -> Trace:
    """`carry_on_here` with one BLAS thread."""
    with walking():
        return carry_on_here(*args, **options)


def follow_here(
    system: StaircaseSystem,
    start: Start,
    *,
    begin: float | None = None,
    stop: float | None = None,
    reach: float = DEFAULT_RANGE,
    max_events: int | None = None,
    verbose: int = 0,
    again: bool = False,
) -> Trace:
    """Follow the solution from `begin` (default: where something first happens) to `stop`.

    `reach`: without a stop, to this part of the start. `again`: see `carry_on_here`.
    """
    rng, make = _for_try(system, again)
    t = start.t if begin is None else begin
    walk = Walk(system, stop, max_events, verbose, from_top=begin is None, reach=reach)
    if begin is None and start.highest and stop is not None:
        t = max(t, ABOVE * stop)
    try:
        stair, z = start.stair, start.z
        if not (start.solved and t >= start.t):
            stair, z = phase_one(system, start, t, rng)
        if begin is None and not start.highest:
            stair, z, t = climb(system, stair, z, t, stop, rng)
    except FAILURES as error:
        return walk.nothing(start.stair, start.z, _end(error))
    return walk.go(stair, z, t, make, rng)


def climb(
    system: StaircaseSystem,
    stair: Ints,
    z: Floats,
    t: float,
    stop: float | None,
    rng: np.random.Generator,
) -> tuple[Ints, Floats, float]:
    """Up to where nothing changes any more, and above the stop."""
    make = make_reference if system.soft is None else make_walker
    climber = make(system, stair, z, t, recorder_of(system)(), rng)
    climber.walk(np.inf)
    if stop is not None and climber.t <= stop:
        climber.walk(ABOVE * stop)
    return climber.stair, climber.z, climber.t


def carry_on_here(
    system: StaircaseSystem,
    stair: Ints,
    z: Floats,
    t: float,
    *,
    regular: bool = True,
    begun: float = 0.0,
    stop: float | None = None,
    max_events: int | None = None,
    verbose: int = 0,
    again: bool = False,
) -> Trace:
    """Follow the solution from a state that is the solution at t, but for round-off.

    `begun`: |t| where the walk began that is carried on. `again`: a walk from here has failed. Ties
    are broken otherwise, and small problems are walked by the reference.
    """
    rng, make = _for_try(system, again)
    walk = Walk(system, stop, max_events, verbose, from_top=False, begun=begun)
    try:
        if not regular:
            stair, z = regularise(system.tangent(z, t), stair, z, t)
        stair, z = polish(system, stair, z, t, rng)
    except FAILURES as error:
        return walk.nothing(stair, z, _end(error))
    return walk.go(stair, z, t, make, rng)


def _for_try(
    system: StaircaseSystem, again: bool
) -> tuple[np.random.Generator, Callable[..., Any]]:
    """Offsets for ties and the engine: of the first walk, or of a second after a failure."""
    rng: Any = _Offsets(SECOND_SEED if again else SEED)  # same problem, same path
    return rng, make_reference if again and len(system) <= CAREFUL else make_walker


class _Offsets:
    """The same random numbers for every walk. The first of them are kept: to make a generator takes
    as long as a block of a small problem.
    """

    def __init__(self, seed: int) -> None:
        self.seed, self.used = seed, 0
        self.generator: np.random.Generator | None = None

    def random(self, size: Any) -> Floats:
        first = self.used
        self.used += int(np.prod(size))
        if self.used <= KEPT:
            return _first(self.seed)[first : self.used].reshape(size)
        if self.generator is None:
            self.generator = _generator(self.seed, first)
        return self.generator.random(size)


def _generator(seed: int, used: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed).advance(used))


@cache
def _first(seed: int) -> Floats:
    numbers = _generator(seed).random(KEPT)
    numbers.setflags(write=False)
    return numbers


def _end(error: Exception) -> End:
    """Why a walk has failed; where linear algebra has, no number was left to go on with."""
    return error.end if isinstance(error, WalkEnd) else Reason.SINGULAR()


@dataclass(frozen=True)
class Walk:
    """A walk that is kept: where it goes, and what may end it."""

    system: StaircaseSystem
    stop: float | None
    max_events: int | None
    verbose: int
    from_top: bool  # above the start nothing happens
    begun: float = 0.0
    reach: float = DEFAULT_RANGE  # of the start: where it ends without a stop

    def nothing(self, stair: Ints, z: Floats, end: End) -> Trace:
        """No walk at all, with the reason."""
        recorder = recorder_of(self.system)()
        return Trace.build(recorder, stair, z, self.system.stairs, trim=False, end=end)

    def go(
        self, stair: Ints, z: Floats, t: float, make: Callable[..., Any], rng: np.random.Generator
    ) -> Trace:
        """From a solution to the stop, and what ended the walk."""
        system = self.system
        recorder = recorder_of(system)(system, z, t, self.max_events, from_top=self.from_top)
        t_stop = self.reach * t if self.stop is None else self.stop
        try:
            walker = make(system, stair, z, t, recorder, rng)
            walker.guard, walker.carried_from = True, self.begun
            with Progress(t_stop, self.verbose > 0) as walker.progress:
                if self.stop is None and self.from_top:
                    _down_from_top(walker, recorder, system, self.reach)
                else:
                    walker.walk(t_stop)
            end = Reason.STOP()
        except FAILURES as error:
            end = _end(error)
        except KeyboardInterrupt:
            end = Reason.INTERRUPTED()
        except MemoryError:
            end = Reason.MEMORY()
        return Trace.build(recorder, stair, z, system.stairs, trim=self.from_top, end=end)


def _down_from_top(walker: Any, recorder: Recorder, system: StaircaseSystem, reach: float) -> None:
    """From a bound on the start to `reach` of the start itself, if there is one."""
    places: list[float] = []
    try:
        while recorder.top is None and len(places) < GLANCES:
            walker.walk(GLANCE * walker.t)
            places.append(walker.t)
    except WalkEnd:  # nothing, down to where double precision is blind
        if recorder.top is not None or len(places) < SHOWN or not _at_rest(system, walker.z):
            raise
    if recorder.top is None:
        recorder.forget_below(places[SHOWN - 1])
    elif reach * recorder.top < walker.t:
        walker.walk(reach * recorder.top)


def _at_rest(system: StaircaseSystem, z: Floats) -> bool:
    """Whether multipliers add nothing to any residual, but for round-off and for what unpenalised
    variables take up: then nothing happens further down, however far that is.
    """
    coupling, held = system.coupling, np.where(system.boxed, z, 0.0)
    n, border = coupling.n_rows, coupling.border
    added, terms = coupling.dot(held)[:n], coupling.magnitude(held)[:n]
    taken_up = border @ np.linalg.lstsq(border, added, rcond=None)[0]
    return bool(np.all(np.abs(added - taken_up) <= ROUNDING * terms.max(initial=0.0)))
