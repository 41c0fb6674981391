"""The table of tolerances is complete, and the only one."""

import ast
import inspect
import re
from importlib import import_module

import pytest

from chemin.engine import tolerances

WALKS = ["reference", "rescue", "blocked", "follow", "trace", "audit", "leave_out"]
WALKS += ["rational", "krylov", "ramps", "crossing"]
SMALL = 1e-3  # a named number below this is a tolerance


def constants(module):
    """Names of numbers in capitals that a module itself defines, and their values."""
    tree = ast.parse(inspect.getsource(module))
    targets = [t for node in tree.body if isinstance(node, ast.Assign) for t in node.targets]
    names = [t.id for t in targets if isinstance(t, ast.Name) and t.id.isupper()]
    return {n: v for n in names if isinstance(v := getattr(module, n), (int, float))}


def test_every_tolerance_has_a_unit_and_a_reason():
    """Oracle: the source, line by line: name = value  # unit: reason."""
    source = inspect.getsource(tolerances)
    told = re.findall(r"^([A-Z_]+) = .*?  # [^:\n]+: .+$", source, re.MULTILINE)
    assert set(constants(tolerances)) - {"EPS"} == set(told)


@pytest.mark.parametrize("name", WALKS)
def test_no_tolerance_elsewhere(name):
    """Oracle: the source of the walks; counts and sizes may be named there, small parts may not."""
    found = constants(import_module(f"chemin.engine.{name}"))
    shares = {"DEFAULT_RANGE"}  # of the start: how long a path is, not how precise
    assert {n for n, v in found.items() if 0 < v < SMALL} <= shares
