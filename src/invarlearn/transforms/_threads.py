"""Work on all cores of a machine, as BLAS does it, for what is more than one matrix product."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from threading import Lock, local
from typing import Any


def in_threads(function: Callable[[Any], None], items: Sequence[Any]) -> None:
    """Call a function, which must release the interpreter for most of its time, on every item.

    There are as many threads as numba may use (``NUMBA_NUM_THREADS``; joblib sets it in its worker
    processes), or one within :func:`one_thread`, each with one thread of BLAS. Cut the work into
    items without regard to their number, so that results do not depend on it. Within a function
    that is called so, items are done one by one. It must not wait for other threads that come here:
    these may wait for its own.
    """
    threads = n_threads()
    with one_thread_of_blas():
        if min(threads, len(items)) < 2 or hasattr(_here, "works") or _alone.locked():
            for item in items:
                function(item)
            return
        waiting = [_pool(threads).submit(function, item) for item in items]
        try:
            for done in waiting:
                done.result()
        finally:
            # after an error or an interrupt, no one goes on writing behind the caller's back
            for done in waiting:
                done.cancel()
            wait(waiting)


def n_threads() -> int:
    """Say how many threads :func:`in_threads` has."""
    from numba import config

    threads: int = config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    return threads


_here = local()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Give threads that stay: starting them takes as long as a pass over a small matrix."""
    return ThreadPoolExecutor(threads, initializer=setattr, initargs=(_here, "works", True))


if hasattr(os, "register_at_fork"):
    # threads do not live on in the child of a fork
    os.register_at_fork(after_in_child=_pool.cache_clear)


_alone, _limiting = Lock(), Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let this process work in one thread: for fair measurements, and beside other processes."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        if not _alone.acquire(blocking=False):
            yield
            return
        try:
            yield
        finally:
            _alone.release()


@contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """Limit BLAS to one thread, unless someone does so already.

    Limits are of the whole process: contexts that overlap in several threads would restore each
    other's limit instead of what was there before.
    """
    if not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _limiting.release()


@contextmanager
def one_thread_of_openmp() -> Iterator[None]:
    """Limit OpenMP to one thread: on a busy machine, threads of small work wait for each other.

    This is a limit of the thread that asks, not of the process, so that contexts may overlap.
    """
    with _controller().limit(limits=1, user_api="openmp"):
        yield


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def slices(n: int, step: int) -> list[slice]:
    """Cut a range into pieces."""
    step = max(1, int(step))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
