"""Data sets as CSV files in a folder: a header, one row a sample, the last column `target`."""

from __future__ import annotations

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER_VARIABLE = "CHEMIN_DATA"
SUFFIXES = (".csv", ".csv.gz")

TARGET = "target"
SPLIT = "train"
"""A column of this name is the published split, not a feature."""
ROW_NAME = "name"
"""A column of this name labels the rows, and is no feature either."""

MOST_CLASSES = 10
"""Whole numbers with at most as many different values are classes: the ten digits are, the 28
counts of rings in abalone are not."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set.

    Parameters
    ----------
    name : str
    data : ndarray of shape (n, d)
        float64; strings in promoters.
    target : ndarray of shape (n,)
        int64 for classes, float64 for a numeric target.
    feature_names : list of d str
    target_names : list of str or None
        The classes in increasing order; None for a numeric target.
    train : ndarray of bool or None
        The published training rows, where there is a split (prostate).
    row_names : list of n str or None
        The names of the rows, where they have any (promoters).
    """

    name: str
    data: NDArray[Any]
    target: NDArray[Any]
    feature_names: list[str]
    target_names: list[str] | None = None
    train: NDArray[np.bool_] | None = None
    row_names: list[str] | None = None

    def __repr__(self) -> str:
        n, d = self.data.shape
        kind = "regression" if self.target_names is None else f"{len(self.target_names)} classes"
        return f"Dataset({self.name!r}, {n} x {d}, {kind})"


def available() -> list[str]:
    """Return the names that `load` knows, sorted."""
    return sorted(_files())


def load(name: str) -> Dataset:
    """Read a data set from the folder that the environment variable CHEMIN_DATA names.

    Without the variable: `shared/data` in the current directory or in one above it.

    Parameters
    ----------
    name : str
        The file without `.csv` or `.csv.gz`; see `available`.

    Examples
    --------
    >>> load("boston")  # doctest: +SKIP
    Dataset('boston', 506 x 13, regression)
    """
    files = _files()
    if name not in files:
        raise FileNotFoundError(
            f"there is no data set {name!r} in {_folder()}, only {', '.join(sorted(files))}. "
            f"{FOLDER_VARIABLE} must point to the folder with its CSV file."
        )
    header, table = _read(files[name])
    columns = dict(zip(header, table.T))
    target, target_names = _target(columns.pop(TARGET))
    train = columns.pop(SPLIT, None)
    row_names = columns.pop(ROW_NAME, None)
    return Dataset(
        name=name,
        data=np.column_stack(list(columns.values())),
        target=target,
        feature_names=list(columns),
        target_names=target_names,
        train=None if train is None else train.astype(np.float64) != 0,
        row_names=None if row_names is None else row_names.tolist(),
    )


def _folder() -> Path:
    given = os.environ.get(FOLDER_VARIABLE)
    if given:
        if not Path(given).is_dir():
            raise FileNotFoundError(
                f"{FOLDER_VARIABLE} is {given!r}, which is no folder; it must point to the folder "
                "with the CSV files of the data sets."
            )
        return Path(given)
    here = Path.cwd()
    for parent in (here, *here.parents):
        if (parent / "shared" / "data").is_dir():
            return parent / "shared" / "data"
    raise FileNotFoundError(
        f"no folder shared/data in {here} or above it. Set the environment variable "
        f"{FOLDER_VARIABLE}: it must point to the folder with the CSV files of the data sets."
    )


def _files() -> dict[str, Path]:
    return {
        path.name.removesuffix(suffix): path
        for suffix in SUFFIXES
        for path in _folder().glob(f"*{suffix}")
    }


def _read(path: Path) -> tuple[list[str], NDArray[Any]]:
    """Return the header and the table: of float64, or of strings if a column is not numbers."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        header, first = next(lines), next(lines)
    kind = np.float64 if all(_is_number(text) for text in first) else np.str_
    return header, np.loadtxt(path, delimiter=",", skiprows=1, dtype=kind, ndmin=2, comments=None)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _target(column: NDArray[Any]) -> tuple[NDArray[Any], list[str] | None]:
    """Return the target, and the names of its classes if it has any."""
    numbers = column.astype(np.float64)
    values = np.unique(numbers)
    if len(values) > MOST_CLASSES or np.any(values != np.floor(values)):
        return numbers, None
    return numbers.astype(np.int64), [str(int(value)) for value in values]
