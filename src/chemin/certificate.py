"""What a certificate says, and how it is computed: from the loss and the data, never from the walk.

A solution is judged by what a user holds: coef, intercept, alpha, lambda_ and the other parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
# Violations and gaps up to this are exact, or up to FLOORS times the floor where that is more:
# round-off of sums adds up to some multiples of it.
EXACT = 1e-9
FLOORS = 50.0
# Where FLOORS floors exceed this, nothing can be said: a path stops there.
BLIND = 1e-6
# An objective below this part of one unit of error a point is a difference of much larger terms:
# gaps are not judged relative to what double precision cannot tell from zero.
NEARLY_ZERO = 1e-2


@dataclass(frozen=True)
class Certificate:
    """How far a solution is from optimal, computed from the data.

    Attributes
    ----------
    kkt_violation : float or array
        The largest violation of the optimality conditions, in units of the margin and of weights.
    relative_gap : float or array
        `(P - D) / max(|P|, |D|)`: no model can be better by more than this.
    floor : float or array
        What double precision allows at that solution, in the same units.
    verdict : str or array of str
        "exact": violation and gap are at most max(1e-9, 50 floor); "wrong": they are not;
        "not certifiable": 50 floor exceeds 1e-6, so that round-off hides the answer.
    exact : bool or array of bool
        Whether the verdict is "exact".
    """

    kkt_violation: Any
    relative_gap: Any
    floor: Any

    def __repr__(self) -> str:
        worst = (
            f"{f.name}={np.abs(getattr(self, f.name)).max(initial=0.0):.2g}" for f in fields(self)
        )
        exact = np.asarray(self.exact)
        said = self.verdict if exact.ndim == 0 else f"{exact.sum()} of {exact.size} exact, worst"
        return f"<Certificate: {said}: {', '.join(worst)}>"

    @property
    def verdict(self) -> Any:
        seen, good = self._judged()
        word = np.where(seen, np.where(good, "exact", "wrong"), "not certifiable")
        return str(word) if word.ndim == 0 else word

    @property
    def exact(self) -> Any:
        seen, good = self._judged()
        exact = np.asarray(seen & good)
        return bool(exact) if exact.ndim == 0 else exact

    def _judged(self) -> tuple[Any, Any]:
        """Whether anything can be said, and whether violation and gap are small enough."""
        floors = FLOORS * np.asarray(self.floor)
        worst = np.maximum(np.abs(self.kkt_violation), np.abs(self.relative_gap))
        # What is no number is not certifiable, and never exact.
        return (floors <= BLIND) & np.isfinite(worst), worst <= np.maximum(EXACT, floors)

    @classmethod
    def joined(cls, parts: Iterable[Certificate]) -> Certificate:
        """Of several arrays of solutions, one after the other."""
        parts = list(parts)
        if len(parts) == 1:
            return parts[0]
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))

    def some(self, k: Any) -> Certificate:
        """Of some of the solutions."""
        return Certificate(*(getattr(self, field.name)[k] for field in fields(self)))

    @property
    def single(self) -> Certificate:
        """Of the first solution, as numbers."""
        return Certificate(*(float(getattr(self, field.name)[0]) for field in fields(self)))


def relative(gap: Floats, primal: Floats, least: Floats | float) -> Floats:
    """(P - D) / max(|P|, |D|, tiny); tiny: a part of `least`."""
    size = np.maximum(np.maximum(np.abs(primal), np.abs(primal - gap)), NEARLY_ZERO * least)
    return gap / np.maximum(size, TINY)
