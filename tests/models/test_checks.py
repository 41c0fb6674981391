"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from chemin import (
    AdaptiveRidge,
    KernelPerceptron,
    MKLClassifier,
    MKLRegressor,
    NonNegativeGarrote,
    PathLasso,
    PathNuSVR,
    PathQuadraticSVC,
    PathRidge,
    PathSVC,
    PathSVR,
    RosenblattPerceptron,
    StepwiseRegression,
)

# The checks use tiny and random data, on which the best model is often the constant one.
pytestmark = [
    pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning"),
    pytest.mark.filterwarnings("ignore:.* fit y perfectly:UserWarning"),
    pytest.mark.filterwarnings("ignore:The least populated class:UserWarning"),
    pytest.mark.filterwarnings("ignore:the perceptron still made mistakes"),
]


@parametrize_with_checks(
    [
        PathSVC(cv=3),
        PathSVC(cv=3, kernel="linear"),
        PathQuadraticSVC(cv=3),
        PathSVR(cv=3),
        PathNuSVR(cv=3),
        PathLasso(cv=3),
        RosenblattPerceptron(max_iter=20),
        KernelPerceptron(max_iter=20),
        MKLClassifier(),
        MKLRegressor(),
        PathRidge(cv=3),
        NonNegativeGarrote(cv=3),
        AdaptiveRidge(cv=3),
        StepwiseRegression(),
    ]
)
def test_estimator(estimator, check):
    """Oracle: scikit-learn's estimator checks, none excused."""
    check(estimator)
