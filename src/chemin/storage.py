"""Files of paths: arrays and a JSON header in one .npz, no pickle."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

FORMAT = 5  # of saved paths
SUFFIX = ".npz"
# What reading a file raises that is no archive, is none of ours, is cut short or empty.
FOREIGN = (
    ValueError, KeyError, TypeError, OSError, EOFError, AttributeError, NotImplementedError,
    MemoryError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """What a file holds."""

    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def named(file: str | FilePath) -> FilePath:
    """The file with its suffix: `write` and `read` agree on it."""
    if not isinstance(file, (str, PathLike)):
        raise ValueError(f"file must be the name of a file, a str or a Path, got {file!r:.60}")
    path = FilePath(file)
    return path if path.name.endswith(SUFFIX) else path.with_name(path.name + SUFFIX)


def write(file: str | FilePath, stored: Stored) -> None:
    arrays: dict[str, Any] = {name: plain(array) for name, array in stored.arrays.items()}
    header = {"format": FORMAT} | stored.header
    header["digest"] = digest(header, arrays)
    np.savez_compressed(named(file), header=np.array(json.dumps(header)), **arrays)


def digest(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """What changes with any byte of the arrays and any word of the header but the digest itself."""
    known = {name: value for name, value in header.items() if name != "digest"}
    total = hashlib.sha256(json.dumps(known, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        total.update(f"{name} {array.dtype.descr} {array.shape}".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def plain(array: NDArray[Any]) -> NDArray[Any]:
    """Labels that are objects, as text: a file holds no pickle."""
    if array.dtype.kind != "O":
        return array
    if not all(isinstance(label, str) for label in array.ravel()):
        kinds = sorted({type(label).__name__ for label in array.ravel()})
        raise ValueError(f"labels of kind {', '.join(kinds)} cannot be saved: use text or numbers")
    return array.astype(str)


def read(file: str | FilePath) -> Stored:
    """What `write` has written; any other file is a ValueError."""
    path = named(file)
    if not path.exists() and FilePath(file).exists():
        path = FilePath(file)
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
            header = json.loads(str(arrays.pop("header")))
            number, found_digest = header["format"], header.get("digest")
    except FileNotFoundError:
        raise
    except FOREIGN:  # what NumPy says of such files helps nobody
        raise ValueError(
            f"{path} is not a saved path, or is damaged: expected a file that Path.save has written"
        ) from None
    if number != FORMAT:
        raise ValueError(f"{path} has format {number}, this version reads {FORMAT}")
    if found_digest != digest(header, arrays):
        raise ValueError(f"{path} is damaged: its content is not what was saved")
    return Stored(header, arrays)


def stored_points(X: Any) -> dict[str, NDArray[Any]]:
    """Points as arrays; of sparse ones what is stored of them."""
    if not issparse(X):
        return {"X": X}
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    return {f"X_{name}": part for name, part in parts.items()}


def restored_points(arrays: dict[str, NDArray[Any]]) -> Any:
    if "X" in arrays:
        return arrays["X"]
    parts = tuple(arrays[f"X_{name}"] for name in ("data", "indices", "indptr"))
    points = csr_array(parts, shape=tuple(arrays["X_shape"]))
    points.check_format(full_check=True)
    return points


def restored_laplacian(arrays: dict[str, NDArray[Any]]) -> Any:
    if "laplacian_data" not in arrays:
        return None
    n = len(arrays["weight"])
    parts = tuple(arrays[f"laplacian_{name}"] for name in ("data", "indices", "indptr"))
    return csr_array(parts, shape=(n, n))
