"""WHAT is solved: each problem a declaration of M, q, r and a staircase, no algorithm."""

from .base import Certificate, Columns, Problem, Reading, Start, Turned
from .lasso import Lasso
from .nu_svr import NuSVR
from .one_class import OneClass
from .staircase import BlockCoupling, Coupling, Staircases, StaircaseSystem
from .svc import SVC
from .svr import SVR

__all__ = [
    "SVC",
    "SVR",
    "BlockCoupling",
    "Certificate",
    "Columns",
    "Coupling",
    "Lasso",
    "NuSVR",
    "OneClass",
    "Problem",
    "Reading",
    "StaircaseSystem",
    "Staircases",
    "Start",
    "Turned",
]
