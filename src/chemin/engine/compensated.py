"""Residuals b - G x as if in twice the precision, rounded once (Ogita, Rump and Oishi, 2005).

A sum a + b and a product a b of doubles are each two doubles exactly, what is rounded and what the
rounding has lost (Knuth; Dekker and Veltkamp). The lost parts are added up beside the sum. No long
double is needed: on some machines it is a double.

`_compensated.pyx` does the same, operation by operation, and is used where it has been compiled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problems.staircase import Floats

SPLIT = 134217729.0  # 2^27 + 1 cuts the 53 bits of a double in halves


def residual_by_numpy(G: Floats, x: Floats, b: Floats) -> Floats:
    """b - G x, G symmetric."""
    total, lost = b.copy(), np.zeros_like(b)
    for row, minus in zip(G, -x):
        if minus == 0.0:
            continue
        product, error = _product(row, minus)
        total, rounded = _sum(total, product)
        lost += error
        lost += rounded
    return total + lost


def _sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a + b, and what its rounding has lost."""
    s = a + b
    q = s - a
    return s, (a - (s - q)) + (b - q)


def _product(a: Floats, b: float) -> tuple[Floats, Floats]:
    """a b, and what its rounding has lost."""
    p = a * b
    (a_up, a_low), (b_up, b_low) = _halves(a), _halves(b)
    return p, (((a_up * b_up - p) + a_up * b_low) + a_low * b_up) + a_low * b_low


def _halves(a: Floats | float) -> tuple[Floats | float, Floats | float]:
    c = SPLIT * a
    upper = c - (c - a)
    return upper, a - upper


try:
    from ._compensated import symmetric_residual
except ImportError:  # a source tree on the path, nothing compiled
    symmetric_residual = residual_by_numpy

residual: Callable[[Floats, Floats, Floats], Floats] = symmetric_residual
