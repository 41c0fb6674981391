"""The order of the examples: numbered ones by their number, others from the simple to the long."""

import re

from sphinx_gallery.sorting import NumberOfCodeLinesSortKey


class Order(NumberOfCodeLinesSortKey):
    """The number in plot_<number>_..., or else the lines of code."""

    def __call__(self, filename):
        number = re.match(r"plot_(\d+)_", str(filename))
        return int(number[1]) if number else super().__call__(filename)
