"""Independent jobs: by threads, or through joblib by whatever `joblib.parallel_config` says."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from threading import Thread
from typing import Any

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import ThreadingBackend, get_active_backend
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel

from .._threads import ONE_THREAD

# Asks for jobs again and again, is given what they return, and comes to a result.
Asking = Generator[list[Any], list[Any], Any]


def run_all(jobs: Iterable[Any], n_jobs: Any, *, shown: bool = False) -> list[Any]:
    """What all jobs return, in their order; `shown`: with a bar of those done and the time left."""
    every = list(jobs)
    with ONE_THREAD:  # of BLAS, for each of the workers: their products are too small to share
        return _run(every, n_jobs, shown)


def _run(every: list[Any], n_jobs: Any, shown: bool) -> list[Any]:
    shown &= len(every) > 1
    results = _results(every, n_jobs, "generator" if shown else "list")
    if not shown:
        return list(results)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (TextColumn("paths"), BarColumn(), MofNCompleteColumn(), TimeLeft())
    with Progress(*columns) as bar:
        return list(bar.track(results, total=len(every)))


def _results(every: list[Any], n_jobs: Any, return_as: str) -> Iterable[Any]:
    """What jobs return, in their order; as they are done, if a generator is asked for."""
    workers, backend = effective_n_jobs(n_jobs), get_active_backend(prefer="threads")[0]
    threads = isinstance(backend, ThreadingBackend)
    if workers == 1 or (threads and len(every) < 2):  # what hands jobs over takes longer
        return (work.function(*given, **named) for work, given, named in every)
    if threads:
        return _by_threads(every, workers, backend.get_nested_backend())
    return Parallel(n_jobs=n_jobs, prefer="threads", return_as=return_as)(every)


def _by_threads(every: list[Any], workers: int, nested: tuple[Any, Any]) -> Iterator[Any]:
    """What jobs return; `nested` is what joblib does inside them: a backend and its workers.

    joblib looks every ten milliseconds whether its threads are done: as long as a short path takes.
    These threads end with the process, as those do.
    """
    config, (inner, workers_of_inner) = get_config(), nested
    results: list[Future[Any]] = [Future() for _ in every]
    left = iter(list(zip(results, every)))  # one for all workers

    def work() -> None:
        with config_context(**config), parallel_config(inner, n_jobs=workers_of_inner):
            for result, (job, given, named) in left:
                if not result.set_running_or_notify_cancel():
                    continue
                try:
                    result.set_result(job.function(*given, **named))
                except BaseException as error:  # for the one that waits for it
                    result.set_exception(error)

    try:
        for _ in range(min(workers, len(every))):
            Thread(target=work, daemon=True).start()
        for result in results:
            yield result.result()
    finally:
        for result in results:
            result.cancel()


def answered(every: Sequence[Asking], n_jobs: Any) -> list[Any]:
    """The results of several that ask for jobs: those of all of them are done together, so that no
    worker waits for the last job of one.
    """
    results: list[Any] = [None] * len(every)
    known: dict[int, Any] = dict.fromkeys(range(len(every)))
    with ONE_THREAD:
        while True:
            asked = {}
            for k, answer in known.items():
                try:
                    asked[k] = every[k].send(answer)
                except StopIteration as end:
                    results[k] = end.value
            if not asked:
                return results
            done = iter(run_all([job for jobs in asked.values() for job in jobs], n_jobs))
            known = {k: [next(done) for _ in jobs] for k, jobs in asked.items()}


__all__ = ["Asking", "answered", "run_all"]
