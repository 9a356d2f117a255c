"""Work on all cores of a machine, as BLAS does it, for what is more than one matrix product."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any


def in_threads(function: Callable[[Any], None], items: Sequence[Any]) -> None:
    """Call a function, which must release the interpreter for most of its time, on every item.

    There are as many threads as numba may use (``NUMBA_NUM_THREADS``; joblib sets it in its worker
    processes), each with one thread of BLAS. Cut the work into items without regard to their
    number, so that results do not depend on it.
    """
    from numba import config

    threads = min(config.NUMBA_NUM_THREADS, len(items))  # type: ignore[attr-defined]
    with one_thread_of_blas():
        if threads < 2:
            for item in items:
                function(item)
            return
        with ThreadPoolExecutor(threads) as pool:
            for done in [pool.submit(function, item) for item in items]:
                done.result()


_limiting = Lock()


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


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def slices(n: int, step: int) -> list[slice]:
    """Cut a range into pieces."""
    step = max(1, int(step))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
