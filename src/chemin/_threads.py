"""How many threads BLAS has: one, for products that are too small to share.

Threads that wait for the next product spin, and take processor time from those that work. A fit of
400 rows takes twice the processor time with two threads, and on a busy machine twice the time.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController

LARGE = 2**30  # multiplications: a product of so many takes some tenths of a second by one thread


class _OneThread:
    """BLAS at one thread while any walk is under way, in whatever threads walks are made.

    The limit is the process's, not a thread's: the first walk sets it, the last one restores it.
    """

    def __init__(self) -> None:
        self._lock, self._walks = Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._walks == 0 and set(before := _threads()) != {1}:
                self._limit = _blas().limit(limits=1, user_api="blas")
                if _threads() == before:  # another thread has the say
                    self._limit = None
            self._walks += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._walks -= 1
            if self._walks == 0 and self._limit is not None:
                _release()
                self._limit.restore_original_limits()
                self._limit = None
                _release()


def _threads() -> list[int]:
    libraries = _blas().lib_controllers
    return [library.num_threads for library in libraries if library.user_api == "blas"]


def _release() -> None:
    """threadpoolctl from 3.8 on lets one thread alone set the limits: give them to any other."""
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


ONE_THREAD = _OneThread()


def threads_for(*shape: int) -> AbstractContextManager[None]:
    """One thread, unless a product of matrices of these sizes is worth sharing."""
    size = 1
    for n in shape:
        size *= int(n)
    return ONE_THREAD if size < LARGE else nullcontext()


__all__ = ["ONE_THREAD", "threads_for"]
