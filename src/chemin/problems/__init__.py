"""WHAT is solved: each problem a declaration of M, q, r and a staircase, no algorithm."""

from .base import Certificate, Columns, Problem, Reading, Start
from .lasso import Lasso
from .staircase import Coupling, DenseGram, LowRankGram, Staircases, StaircaseSystem
from .svc import SVC
from .svr import SVR

__all__ = [
    "SVC",
    "SVR",
    "Certificate",
    "Columns",
    "Coupling",
    "DenseGram",
    "Lasso",
    "LowRankGram",
    "Problem",
    "Reading",
    "StaircaseSystem",
    "Staircases",
    "Start",
]
