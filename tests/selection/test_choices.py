"""Choices against brute force: random pairs of a criterion and a model (see `chosen`)."""

import warnings

import pytest

import chosen

PAIRS = 500
HERE = 24  # the others run with `make stress`


def check(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # minima at ends, walks that round-off ends
        pair, _, _, wrong = chosen.judge(seed)
    assert not wrong, f"{pair.describe}: {wrong}"


@pytest.mark.parametrize("seed", range(HERE))
def test_choices(seed):
    """Oracle: every model at a dense set of values; value, minimum, interval, one_se, sparsest."""
    check(seed)


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(HERE, PAIRS))
def test_more_choices(seed):
    """Oracle: as above."""
    check(seed)
