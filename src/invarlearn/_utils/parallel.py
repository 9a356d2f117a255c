"""Thread pools for functions that release the GIL, and limits on BLAS and OpenMP threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from threading import Lock, local
from typing import Any


def in_threads(
    function: Callable[[Any], None], items: Sequence[Any], max_threads: int | None = None
) -> None:
    """Call a function on every item, in a pool of threads.

    BLAS is limited to one thread meanwhile. Nested calls, and calls within
    :func:`single_threaded`, process the items sequentially in the calling thread. Divide the work
    into items independently of the number of threads, so that results do not depend on it.

    Parameters
    ----------
    function : callable
        Function of one item. It should release the GIL for most of its running time. It must not
        wait for calls of ``in_threads`` in other threads: they may wait for the same pool.
    items : sequence
    max_threads : int, optional
        Largest number of threads. None: :func:`n_threads`.
    """
    threads = n_threads() if max_threads is None else max_threads
    with limit_blas_threads():
        if (
            min(threads, len(items)) < 2
            or hasattr(_thread_state, "is_worker")
            or _single_threaded.locked()
        ):
            for item in items:
                function(item)
            return
        futures = [_pool(threads).submit(function, item) for item in items]
        try:
            for future in futures:
                future.result()
        finally:
            # after an error or an interrupt, no thread may still write into the caller's arrays
            for future in futures:
                future.cancel()
            wait(futures)


def n_threads() -> int:
    """Return the default number of threads of :func:`in_threads`.

    This is numba's ``NUMBA_NUM_THREADS``, which joblib sets in its worker processes.
    """
    from numba import config

    threads: int = config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    return threads


_thread_state = local()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return a thread pool, cached because starting one takes as long as a small computation."""
    return ThreadPoolExecutor(
        threads, initializer=setattr, initargs=(_thread_state, "is_worker", True)
    )


if hasattr(os, "register_at_fork"):
    # threads do not survive a fork: child processes start new pools
    os.register_at_fork(after_in_child=_pool.cache_clear)


# locked while the contexts below are active
_single_threaded, _blas_limit = Lock(), Lock()


@contextmanager
def single_threaded() -> Iterator[None]:
    """Restrict the process to one thread, for fair timings or beside other processes."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        if not _single_threaded.acquire(blocking=False):
            yield
            return
        try:
            yield
        finally:
            _single_threaded.release()


@contextmanager
def limit_blas_threads() -> Iterator[None]:
    """Limit BLAS to one thread while the context is active.

    The limit holds for the whole process. Only the outermost of overlapping contexts sets and
    restores it: contexts in several threads would otherwise restore each other's limit.
    """
    if not _blas_limit.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _blas_limit.release()


@contextmanager
def limit_openmp_threads() -> Iterator[None]:
    """Limit OpenMP to one thread while the context is active.

    On a busy machine, threads with little work mostly wait for each other. The limit holds for the
    calling thread only, so that contexts may overlap.
    """
    with _controller().limit(limits=1, user_api="openmp"):
        yield


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def slices(n: int, step: int) -> list[slice]:
    """Return consecutive slices of ``step`` items that cover range(n); the last may be shorter.

    Unlike :func:`sklearn.utils.gen_batches`, this accepts n = 0, which has no slices.
    """
    step = max(1, int(step))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
