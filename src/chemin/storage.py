"""Files of paths: arrays and a JSON header in one .npz, no pickle."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 3  # of saved paths


@dataclass(frozen=True)
class Stored:
    """What a file holds."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write(file: str | FilePath, stored: Stored) -> None:
    """The format's number goes into the header."""
    header = np.array(json.dumps({"format": FORMAT} | stored.header))
    arrays: dict[str, Any] = {"header": header} | stored.arrays
    np.savez_compressed(file, **arrays)


def read(file: str | FilePath) -> Stored:
    """Files of another format are refused."""
    with np.load(file, allow_pickle=False) as found:
        if "header" not in found:
            raise ValueError(f"{file} is not a saved path: it has no header")
        header = json.loads(str(found["header"]))
        if header["format"] != FORMAT:
            raise ValueError(f"{file} has format {header['format']}, this version reads {FORMAT}")
        return Stored(header, {name: found[name] for name in found if name != "header"})
