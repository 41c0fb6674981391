"""Data sets of the papers, and simulators. Nothing is read or downloaded at import."""

from chemin.datasets._files import Dataset, available, load
from chemin.datasets._simulated import (
    breiman_coefficients,
    make_breiman,
    make_mixture,
    make_sinexp,
    make_speed_benchmark,
)

__all__ = [
    "Dataset",
    "available",
    "breiman_coefficients",
    "load",
    "make_breiman",
    "make_mixture",
    "make_sinexp",
    "make_speed_benchmark",
]
