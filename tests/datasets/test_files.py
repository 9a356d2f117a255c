"""Data files are verified before use, from the folder, the cache or a download."""

import hashlib
import io
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from invarlearn import datasets
from invarlearn.datasets import DataError, data_files, fetch_file
from invarlearn.datasets.files import load_arrays

SSL = ("bci", "digit1", "g241c", "g241n", "text", "usps")
UCI = ("australian", "bupa", "heart", "ionosphere", "sonar")
FETCHERS = {
    "mnist.npz": datasets.fetch_mnist,
    "nist_letters_subset_28.npz": datasets.fetch_letters,
    "audiomnist_8k.npz": datasets.fetch_spoken_digits,
    "ecml06_task_a_users.npz": lambda: datasets.fetch_spam("task_a"),
    "ecml06_task_b.npz": lambda: datasets.fetch_spam("task_b"),
    **{f"ssl_{name}.npz": (lambda n=name: datasets.fetch_ssl(n)) for name in SSL},
    **{f"uci_{name}.csv": (lambda n=name: datasets.fetch_uci(n)) for name in UCI},
}


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    """An empty cache, and no network unless a test sets one up."""
    monkeypatch.setenv("INVARLEARN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("INVARLEARN_DATA_URL", "http://127.0.0.1:9/")
    monkeypatch.setattr("time.sleep", lambda seconds: None)


def small_file():
    """Return the content of an .npz file with an array of five numbers."""
    buffer = io.BytesIO()
    np.savez(buffer, numbers=np.arange(5))
    return buffer.getvalue()


# the served file, and one that is nowhere
CHECKSUMS = {
    "small.npz": hashlib.sha256(small_file()).hexdigest(),
    "other.csv": hashlib.sha256(b"other").hexdigest(),
}


@pytest.fixture
def served(monkeypatch):
    """A server on loopback that offers small.npz; faults can be switched on."""
    content = small_file()

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
    assert set(FETCHERS) == {file.name for file in data_files()}


def test_the_state_of_every_file_is_listed(served, tmp_path, monkeypatch):
    assert {file.state for file in data_files(CHECKSUMS)} == {"missing"}
    path = fetch_file("small.npz", CHECKSUMS)
    assert data_files(CHECKSUMS) == [
        datasets.DataFile("other.csv", "missing"),
        datasets.DataFile("small.npz", "whole", "cache", path),
    ]
    path.write_bytes(b"")
    assert data_files(CHECKSUMS)[1] == datasets.DataFile("small.npz", "damaged", "cache", path)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "small.npz").write_bytes(small_file())
    monkeypatch.setenv("INVARLEARN_DATA", str(folder))
    file = data_files(CHECKSUMS)[1]
    assert (file.state, file.source) == ("whole", "INVARLEARN_DATA")


@pytest.mark.parametrize("name", FETCHERS)
def test_a_truncated_file_is_an_error(name, real_data, tmp_path, monkeypatch):
    content = (real_data / name).read_bytes()
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    for size in (0, 100, len(content) - 1):
        (tmp_path / name).write_bytes(content[:size])
        with pytest.raises(DataError, match="damaged or cut short"):
            FETCHERS[name]()


@pytest.mark.parametrize("name", FETCHERS)
def test_a_damaged_file_in_the_folder_is_an_error(name, tmp_path, monkeypatch):
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    (tmp_path / name).write_bytes(small_file())
    with pytest.raises(DataError, match="Nothing was loaded"):
        FETCHERS[name]()


def test_downloads_are_cached_and_verified(served, tmp_path):
    path = fetch_file("small.npz", CHECKSUMS)
    assert path == tmp_path / "cache" / "small.npz"
    assert load_arrays(path)["numbers"].tolist() == [0, 1, 2, 3, 4]
    fetch_file("small.npz", CHECKSUMS)
    assert served.requests == 1
    path.write_bytes(path.read_bytes()[:-100])
    fetch_file("small.npz", CHECKSUMS)
    assert served.requests == 2
    assert path.read_bytes() == small_file()


@pytest.mark.parametrize("fault", ["altered", "broken", "missing"])
def test_a_bad_download_is_an_error_and_leaves_nothing(fault, served, tmp_path):
    served.fault = fault
    with pytest.raises(DataError, match=r"could not be downloaded.*INVARLEARN_DATA"):
        fetch_file("small.npz", CHECKSUMS)
    assert not list((tmp_path / "cache").glob("**/*"))
    served.fault = ""
    assert fetch_file("small.npz", CHECKSUMS).read_bytes() == small_file()


def test_without_network_the_error_says_what_to_do(monkeypatch):
    monkeypatch.delenv("INVARLEARN_DATA", raising=False)
    with pytest.raises(DataError, match="Set INVARLEARN_DATA to a folder"):
        datasets.fetch_uci("heart")


def test_a_path_that_is_not_a_folder_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="nowhere is not a folder"):
        datasets.fetch_uci("heart")
    (tmp_path / "uci_heart.csv").mkdir()
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    with pytest.raises(DataError, match="should be a file"):
        datasets.fetch_uci("heart")


def test_the_data_folder_takes_precedence_over_the_cache(served, tmp_path, monkeypatch):
    (tmp_path / "small.npz").write_bytes(small_file())
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    assert fetch_file("small.npz", CHECKSUMS) == tmp_path / "small.npz"
    assert served.requests == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.fetch_file("cats.npz"), "name='cats.npz' is unknown"),
        (lambda: datasets.fetch_file("mnist.npy"), "did you mean 'mnist.npz'"),
        (lambda: datasets.fetch_ssl("coil"), "choose one of bci"),
        (lambda: datasets.fetch_uci("iris"), "choose one of australian"),
        (lambda: datasets.fetch_spam("task_c"), "choose one of task_a, task_b"),
    ],
)
def test_errors_about_unknown_names_list_the_valid_ones(call, message):
    with pytest.raises(ValueError, match=message):
        call()
