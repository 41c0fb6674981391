"""f over a whole path, exactly: segments on which f is smooth at every point.

Between events z is smooth in the parameter, and so is f at any point x. What a curve over the whole
path needs of f is asked of blocks of segments, never of a formula:

    at          f at any place of any segment
    crossings   the places at which f passes given levels
    parts       sums of losses between crossings, with what is needed for their minima

Each kind of segment is one class. `Straight` is the first: f is affine in u between events, with

    u = 1/parameter (kernel machines in lambda)  or  u = parameter (lasso; epsilon, nu, tau, cost).

`Curved` knows no formula but f itself: moves of another kind become that (see `engine.moves`).
"""

from .kinds import Bounded, Coordinate, Curved, Projective, Segments, Straight, f_at
from .parts import Parts
from .read import coordinate_of, segments
from .rounded import Terms

__all__ = [
    "Bounded",
    "Coordinate",
    "Curved",
    "Parts",
    "Projective",
    "Segments",
    "Straight",
    "Terms",
    "coordinate_of",
    "f_at",
    "segments",
]
