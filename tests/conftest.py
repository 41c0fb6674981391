"""Data sets for the tests, and a word on how many of the tests that need them ran."""

import pytest

from chemin import datasets

NEEDS_DATA = "needs the data folder: set CHEMIN_DATA"
NEEDED = ("data folder", "needed")  # travels with a test's report, from worker to terminal
OUTCOMES: list[str] = []  # of the tests that need the folder


@pytest.fixture(scope="session")
def data_names():
    """Names of the sets in the data folder; none where there is no folder."""
    try:
        return frozenset(datasets.available())
    except FileNotFoundError:
        return frozenset()


@pytest.fixture
def load_data(data_names, request):
    """A function that loads a set of the data folder, and skips the test where there is none.

    A set that is missing from a folder that is there fails the test.
    """

    def load(name):
        request.node.user_properties.append(NEEDED)
        if not data_names:
            pytest.skip(f"{NEEDS_DATA} ({name} is not there)")
        if name not in data_names:
            pytest.fail(f"the data folder is found, but {name} is not there")
        return datasets.load(name)

    return load


def pytest_collection_modifyitems(items):
    for item in items:
        if "shared" in getattr(item, "fixturenames", ()):  # of test_datasets.py
            item.user_properties.append(NEEDED)


def pytest_runtest_logreport(report):
    if NEEDED in map(tuple, report.user_properties) and (report.when == "call" or report.skipped):
        OUTCOMES.append(report.outcome)


def pytest_terminal_summary(terminalreporter):
    skipped = OUTCOMES.count("skipped")
    ran = len(OUTCOMES) - skipped
    terminalreporter.write_line(
        f"data folder: {ran} tests that need it ran, {skipped} were skipped"
        + (f" ({NEEDS_DATA})" if skipped else "")
    )
