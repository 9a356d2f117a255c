"""Work in a pool of threads, and its limits."""

import multiprocessing
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import current_thread

import pytest

from invarlearn._utils.parallel import in_threads, n_threads, single_threaded

in_two_threads = partial(in_threads, max_threads=2)


def test_every_item_is_processed_once():
    done = []
    in_two_threads(done.append, range(50))
    assert sorted(done) == list(range(50))


def test_nested_calls_run_in_the_calling_thread():
    done = []

    def outer(i):
        caller = current_thread()
        in_two_threads(lambda j: done.append((i, j, current_thread() is caller)), range(5))

    in_two_threads(outer, range(8))
    assert sorted(done) == [(i, j, True) for i in range(8) for j in range(5)]


def test_concurrent_callers_share_the_threads():
    with ThreadPoolExecutor(4) as pool:
        lists = [[] for _ in range(4)]
        for task in [pool.submit(in_two_threads, one.append, range(20)) for one in lists]:
            task.result(timeout=30)
    assert all(sorted(one) == list(range(20)) for one in lists)


def test_errors_reach_the_caller_and_nothing_runs_after_them():
    done = []

    def fail_at_3(i):
        if i == 3:
            raise RuntimeError("item 3")
        time.sleep(0.01)
        done.append(i)

    with pytest.raises(RuntimeError, match="item 3"):
        in_two_threads(fail_at_3, range(50))
    n_done = len(done)
    time.sleep(0.05)
    assert len(done) == n_done < 49
    in_two_threads(lambda i: None, range(10))


def _count(queue):
    done = []
    in_two_threads(done.append, range(10))
    queue.put(len(done))


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_its_own_threads():
    in_two_threads(lambda i: None, range(10))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_count, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=30) == 10
    finally:
        child.kill()
        child.join()


def test_a_single_thread_is_the_calling_one():
    threads = set()
    with single_threaded():
        in_two_threads(lambda i: threads.add(current_thread()), range(10))
    in_threads(lambda i: threads.add(current_thread()), range(10), max_threads=1)
    assert threads == {current_thread()}
    assert n_threads() >= 1
