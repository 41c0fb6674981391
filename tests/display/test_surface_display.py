"""The figure of a surface: what it shows, against the surface itself."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from chemin import nu_svr_surface, svr_surface
from chemin.datasets import make_sinexp
from chemin.display import SurfaceDisplay

pytestmark = pytest.mark.filterwarnings("ignore:the minimum of the .* sits at:UserWarning")


@pytest.mark.parametrize("make, scale", [(svr_surface, "log"), (nu_svr_surface, "linear")])
def test_every_line_is_drawn(make, scale):
    """Oracle: the curves of the lines, at the points that are drawn; the best point is marked."""
    surface = make(*make_sinexp(30, 0, noise=0.2), gamma=30.0, cv=3, first=1)
    _, ax = plt.subplots()
    display = SurfaceDisplay.from_surface(surface, ax=ax)
    assert display.ax_ is ax and ax.get_xlabel() == "λ = 1/C" and ax.get_yscale() == scale
    assert len(display.segments) == len(surface.lines)
    for line, points in zip(surface.lines, display.segments):
        moving, fixed = (0, 1) if line.along == "lambda" else (1, 0)
        assert np.all(points[:, fixed] == line.fixed)
        np.testing.assert_array_equal(points[:, 2], line.curve(points[:, moving]))
    (star,) = ax.get_lines()
    assert star.get_xdata()[0] == surface.lambda_ and star.get_ydata()[0] == surface.value
    plt.close("all")
