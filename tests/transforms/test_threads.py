"""Threads that stay."""

import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import current_thread

import numba
import pytest

from invarlearn.transforms._threads import in_threads


@pytest.fixture
def two_threads(monkeypatch):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 2)


def test_every_item_is_done_once(two_threads):
    done = []
    in_threads(done.append, range(50))
    assert sorted(done) == list(range(50))


def test_calls_within_calls_do_not_wait_for_each_other(two_threads):
    done = []

    def outer(i):
        who = current_thread()
        in_threads(lambda j: done.append((i, j, current_thread() is who)), range(5))

    in_threads(outer, range(8))
    assert sorted(done) == [(i, j, True) for i in range(8) for j in range(5)]


def test_callers_may_share_the_threads(two_threads):
    with ThreadPoolExecutor(4) as pool:
        lists = [[] for _ in range(4)]
        for task in [pool.submit(in_threads, one.append, range(20)) for one in lists]:
            task.result(timeout=30)
    assert all(sorted(one) == list(range(20)) for one in lists)


def test_errors_arrive_and_nothing_goes_on_after_them(two_threads):
    def fail(i):
        if i == 3:
            raise RuntimeError("item 3")

    with pytest.raises(RuntimeError, match="item 3"):
        in_threads(fail, range(10))
    in_threads(lambda i: None, range(10))


def _count(queue):
    done = []
    in_threads(done.append, range(10))
    queue.put(len(done))


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_the_child_of_a_fork_has_threads_of_its_own(two_threads):
    in_threads(lambda i: None, range(10))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_count, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=30) == 10
    finally:
        child.kill()
        child.join()
