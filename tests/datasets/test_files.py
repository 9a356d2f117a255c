"""A data file is used only if it is whole, wherever it comes from."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from invarlearn import datasets
from invarlearn.datasets import DataError, _files

FETCHERS = {
    "mnist.npz": datasets.fetch_mnist,
    "nist_letters_subset_28.npz": datasets.fetch_letters,
    "audiomnist_8k.npz": datasets.fetch_spoken_digits,
    "ecml06_task_a_users.npz": lambda: datasets.fetch_spam("task_a"),
    "ecml06_task_b.npz": lambda: datasets.fetch_spam("task_b"),
    **{f"ssl_{name}.npz": (lambda n=name: datasets.fetch_ssl(n)) for name in datasets._fetch._SSL},
    **{f"uci_{name}.csv": (lambda n=name: datasets.fetch_uci(n)) for name in datasets._fetch._UCI},
}


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """No cache and no network but what a test sets up."""
    monkeypatch.setenv("INVARLEARN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("INVARLEARN_DATA_URL", "http://127.0.0.1:9/")
    monkeypatch.setattr("time.sleep", lambda seconds: None)


def small_mnist():
    import io

    rng = np.random.RandomState(0)
    buffer = io.BytesIO()
    np.savez(
        buffer,
        X_train=rng.randint(256, size=(5, 28, 28)).astype(np.uint8),
        y_train=np.arange(5, dtype=np.uint8),
        X_test=rng.randint(256, size=(3, 28, 28)).astype(np.uint8),
        y_test=np.arange(3, dtype=np.uint8),
    )
    return buffer.getvalue()


@pytest.fixture
def served(monkeypatch):
    """A server on loopback that offers a small mnist.npz; faults can be switched on."""
    content = small_mnist()
    monkeypatch.setitem(_files.SHA256, "mnist.npz", hashlib.sha256(content).hexdigest())

    class Handler(BaseHTTPRequestHandler):
        fault = ""
        requests = 0

        def do_GET(self):
            type(self).requests += 1
            if self.fault == "missing":
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.fault == "broken":
                self.wfile.write(content[: len(content) // 2])
                self.wfile.flush()
                self.connection.close()
            elif self.fault == "altered":
                self.wfile.write(content[:-10] + b"0123456789")
            else:
                self.wfile.write(content)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("INVARLEARN_DATA_URL", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.delenv("INVARLEARN_DATA", raising=False)
    yield Handler
    server.shutdown()
    server.server_close()


def test_every_file_has_a_fetcher():
    assert set(FETCHERS) == set(_files.SHA256)


@pytest.mark.parametrize("name", FETCHERS)
def test_a_truncated_file_is_an_error_never_data(name, real_data, tmp_path, monkeypatch):
    content = (real_data / name).read_bytes()
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    for size in (0, 100, len(content) - 1):
        (tmp_path / name).write_bytes(content[:size])
        with pytest.raises(DataError, match="damaged or cut short"):
            FETCHERS[name]()


@pytest.mark.parametrize("name", FETCHERS)
def test_a_damaged_file_in_the_folder_is_an_error(name, tmp_path, monkeypatch):
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    (tmp_path / name).write_bytes(small_mnist())
    with pytest.raises(DataError, match="Nothing was loaded"):
        FETCHERS[name]()


def test_downloads_are_cached_and_verified(served, tmp_path):
    digits = datasets.fetch_mnist()
    assert digits.X_train.shape == (5, 784)
    assert digits.X_train.max() <= 1
    datasets.fetch_mnist()
    assert served.requests == 1
    cached = tmp_path / "cache" / "mnist.npz"
    cached.write_bytes(cached.read_bytes()[:-100])
    datasets.fetch_mnist()
    assert served.requests == 2


@pytest.mark.parametrize("fault", ["altered", "broken", "missing"])
def test_a_bad_download_is_an_error_and_leaves_nothing(fault, served, tmp_path):
    served.fault = fault
    with pytest.raises(DataError, match=r"could not be downloaded.*INVARLEARN_DATA"):
        datasets.fetch_mnist()
    assert not list((tmp_path / "cache").glob("**/*"))
    served.fault = ""
    assert datasets.fetch_mnist().X_test.shape == (3, 784)


def test_without_network_the_error_says_what_to_do(monkeypatch):
    monkeypatch.delenv("INVARLEARN_DATA", raising=False)
    with pytest.raises(DataError, match="Set INVARLEARN_DATA to a folder"):
        datasets.fetch_uci("heart")


def test_a_folder_that_is_none_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="nowhere is not a folder"):
        datasets.fetch_uci("heart")
    (tmp_path / "uci_heart.csv").mkdir()
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    with pytest.raises(DataError, match="should be a file"):
        datasets.fetch_uci("heart")


def test_the_folder_comes_before_the_cache(served, tmp_path, monkeypatch):
    (tmp_path / "mnist.npz").write_bytes(small_mnist())
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    datasets.fetch_mnist()
    assert served.requests == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.fetch_ssl("coil"), "choose one of bci"),
        (lambda: datasets.fetch_uci("iris"), "choose one of australian"),
        (lambda: datasets.fetch_spam("task_c"), "choose one of task_a, task_b"),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(call, message):
    with pytest.raises(ValueError, match=message):
        call()
