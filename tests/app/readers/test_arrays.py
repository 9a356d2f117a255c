"""Arrays in NPZ files."""

import zipfile

import numpy as np
import pytest

from invarlearn.app.messages import InputError
from invarlearn.app.readers import open_samples


def test_arrays_are_read_back(tmp_path):
    rng = np.random.RandomState(0)
    X, y = rng.randint(256, size=(5, 6, 7)).astype(np.uint8), np.array(["a", "b", "a", "b", "a"])
    np.savez(tmp_path / "a.npz", X=X, y=y)
    source = open_samples(tmp_path / "a.npz")
    assert source.shape == (6, 7)
    np.testing.assert_allclose(source.read_all(), X.reshape(5, -1) / 255, rtol=1e-6)
    assert source.labels.tolist() == y.tolist()
    assert list(source.names) == ["1", "2", "3", "4", "5"]
    np.savez_compressed(tmp_path / "b.npz", X=X.reshape(5, -1).astype(int))
    source = open_samples(tmp_path / "b.npz", shape=(6, 7))
    assert source.labels is None
    assert source.shape == (6, 7)
    np.testing.assert_array_equal(source.read_all(), X.reshape(5, -1))


def test_bytes_and_floats_are_not_mixed(tmp_path):
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 4)
    np.savez(tmp_path / "a.npz", X=pixels)
    np.savez(tmp_path / "b.npz", X=pixels.astype(float))
    like = open_samples(tmp_path / "a.npz").settings
    assert open_samples(tmp_path / "a.npz", like=like).read_all().max() < 1
    with pytest.raises(InputError, match=r"trained on bytes.*Save both as"):
        open_samples(tmp_path / "b.npz", like=like)


def test_an_archive_that_would_run_code_is_refused(tmp_path):
    class Harm:
        def __reduce__(self):
            return (open, (str(tmp_path / "harm"), "w"))

    np.savez(tmp_path / "a.npz", X=np.array([Harm()], dtype=object))
    with pytest.raises(InputError, match="contains Python objects"):
        open_samples(tmp_path / "a.npz")
    assert not (tmp_path / "harm").exists()


def test_an_archive_that_declares_a_huge_array_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000, 100), }"
        content = b"\x93NUMPY\x01\x00" + (len(header) + 1).to_bytes(2, "little") + header + b"\n"
        file.writestr("X.npy", content)
    with pytest.raises(InputError, match="cannot be read as an NPZ file"):
        open_samples(tmp_path / "a.npz")


def test_groups_are_read_from_an_array(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=np.eye(4), y=[0, 1, 0, 1], groups=[3, 3, 4, 4], slide=["a", "b", "c", "d"])
    assert open_samples(path).groups.tolist() == [3, 3, 4, 4]
    source = open_samples(path, groups="slide")
    assert source.groups.tolist() == ["a", "b", "c", "d"]
    assert open_samples(path, like=source.settings).groups is None
    with pytest.raises(InputError, match="no array 'patient'; its arrays are 'X', 'y', 'groups'"):
        open_samples(path, groups="patient")
    with pytest.raises(InputError, match=r"ignore=\['slide'\] needs a table"):
        open_samples(path, ignore=["slide"])
    np.savez(path, X=np.eye(2), y=np.array(["a", "b"], dtype=object))
    with pytest.raises(InputError, match=r"y contains Python objects.*Save y.astype\(str\)"):
        open_samples(path)
