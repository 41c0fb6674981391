"""WHAT is solved: each problem a declaration, no algorithm."""

from ..certificate import Certificate
from .adaptive_ridge import AdaptiveRidge
from .base import Columns, Parameter, Problem, Reading, Start, Turned
from .elastic_net import ElasticNet
from .garrote import Garrote
from .l1_svc import L1SVC
from .laplacian_svc import LaplacianSVC
from .lasso import Lasso
from .loss import Loss
from .machine import KernelMachine, Rows
from .nu_svr import NuSVR
from .one_class import OneClass
from .quadratic import Expectile, KernelRidge, QuadraticSVR
from .quadratic_svc import QuadraticSVC
from .quantile import Quantile
from .ridge import Ridge
from .staircase import Staircases, StaircaseSystem
from .svc import SVC
from .svr import SVR
from .terms import Term

# By the name under which paths are saved.
PROBLEMS: dict[str, type[Problem]] = {
    problem.name: problem
    for problem in (
        *(SVC, SVR, NuSVR, OneClass, Quantile, Lasso),
        *(Ridge, Garrote, AdaptiveRidge),
        *(QuadraticSVC, QuadraticSVR, Expectile, KernelRidge),
        *(LaplacianSVC, L1SVC, ElasticNet),
    )
}

__all__ = [
    "L1SVC",
    "PROBLEMS",
    "SVC",
    "SVR",
    "AdaptiveRidge",
    "Certificate",
    "Columns",
    "ElasticNet",
    "Expectile",
    "Garrote",
    "KernelMachine",
    "KernelRidge",
    "LaplacianSVC",
    "Lasso",
    "Loss",
    "NuSVR",
    "OneClass",
    "Parameter",
    "Problem",
    "QuadraticSVC",
    "QuadraticSVR",
    "Quantile",
    "Reading",
    "Ridge",
    "Rows",
    "StaircaseSystem",
    "Staircases",
    "Start",
    "Term",
    "Turned",
]
