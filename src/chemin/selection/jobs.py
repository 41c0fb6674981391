"""Independent jobs through joblib: threads, or whatever `joblib.parallel_config` says."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any

from joblib import effective_n_jobs
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
    if not shown and effective_n_jobs(n_jobs) == 1:  # what hands jobs over takes longer
        return [work.function(*given, **named) for work, given, named in every]
    if not shown or len(every) < 2:
        return list(Parallel(n_jobs=n_jobs, prefer="threads")(every))
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    one_by_one = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    columns = (TextColumn("paths"), BarColumn(), MofNCompleteColumn(), TimeLeft())
    with Progress(*columns) as bar:
        return list(bar.track(one_by_one(every), total=len(every)))


def answered(every: Sequence[Asking], n_jobs: Any) -> list[Any]:
    """The results of several that ask for jobs: those of all of them are done together, so that no
    worker waits for the last job of one.
    """
    results: list[Any] = [None] * len(every)
    known: dict[int, Any] = dict.fromkeys(range(len(every)))
    while True:
        asked = {}
        for k, answer in known.items():
            try:
                asked[k] = every[k].send(answer)
            except StopIteration as end:
                results[k] = end.value
        if not asked:
            break
        done = iter(run_all([job for jobs in asked.values() for job in jobs], n_jobs))
        known = {k: [next(done) for _ in jobs] for k, jobs in asked.items()}
    return results


__all__ = ["Asking", "answered", "run_all"]
