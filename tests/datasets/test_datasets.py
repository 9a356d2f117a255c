"""Contents of the data sets."""

from importlib.resources import files

import numpy as np
import pytest
from scipy import sparse

from invarlearn import datasets


def test_the_sample_is_small_and_balanced():
    digits = datasets.load_mnist_sample()
    packaged = files("invarlearn.datasets") / "data" / "mnist_sample.npz"
    assert len(packaged.read_bytes()) < 2**20
    for part in ("train", "test"):
        X, y = digits[f"X_{part}"], digits[f"y_{part}"]
        assert X.shape == (2000, 784)
        assert X.dtype == np.float32
        assert X.min() == 0
        assert X.max() == 1
        assert (np.bincount(y) == 200).all()
        assert len(set(y[:20])) > 5


def test_the_sample_is_drawn_from_mnist(real_data):
    digits, mnist = datasets.load_mnist_sample(), datasets.fetch_mnist()
    for part in ("train", "test"):
        where = {
            row.tobytes(): y for row, y in zip(mnist[f"X_{part}"], mnist[f"y_{part}"], strict=True)
        }
        for row, y in zip(digits[f"X_{part}"], digits[f"y_{part}"], strict=True):
            assert where[row.tobytes()] == y


def test_mnist_and_letters(real_data):
    mnist = datasets.fetch_mnist()
    assert mnist.X_train.shape == (60000, 784)
    assert mnist.X_test.shape == (10000, 784)
    assert np.bincount(mnist.y_test)[:3].tolist() == [980, 1135, 1032]
    letters = datasets.fetch_letters()
    assert letters.X_train.shape == (3997, 784)
    assert letters.X_test.shape == (997, 784)
    assert letters.target_names[letters.y_train.max()] == "z"
    assert letters.X_train.dtype == np.float32


def test_spoken_digits(real_data):
    sound = datasets.fetch_spoken_digits()
    assert len(sound.X) == len(sound.y) == len(sound.speaker) == 6000
    seconds = np.array([len(x) for x in sound.X]) / sound.sample_rate
    assert 0.33 < seconds.min() < seconds.max() <= 1.0
    assert (sound.gender == "f").sum() == 1200
    assert np.unique(sound.speaker).tolist() == list(range(1, 61))
    assert np.abs(sound.X[0]).max() <= 1


def test_spam(real_data):
    a = datasets.fetch_spam("task_a")
    assert list(a.users) == ["u00", "u01", "u02"]
    assert a.train is None
    assert list(a.tune_users) == ["u00"]
    widths = {user.X.shape for user in a.users.values()}
    assert len(widths) == 1
    assert sparse.issparse(a.users["u00"].X)
    assert np.bincount(a.users["u01"].y + 1).tolist() == [1250, 0, 1250]
    b = datasets.fetch_spam("task_b")
    assert len(b.users) == 15
    assert b.train.X.shape[0] == b.tune_train.X.shape[0] == 100
    assert b.train.X.shape[1] == b.users["u14"].X.shape[1]
    assert len(b.tune_users) == 2


def test_ssl_and_uci(real_data):
    digit1 = datasets.fetch_ssl("digit1")
    assert digit1.X.shape == (1500, 241)
    assert digit1.labeled10.shape == (12, 10)
    assert set(digit1.y) == {-1, 1}
    text = datasets.fetch_ssl("text")
    assert text.X.shape == (1500, 11960)
    assert text.labeled100.max() < 1500
    heart = datasets.fetch_uci("heart")
    assert heart.X.shape == (270, 13)
    assert np.bincount(heart.y).tolist() == [150, 120]
    assert len(heart.feature_names) == 13
    assert datasets.fetch_uci("sonar").target_names.tolist() == ["M", "R"]


def test_xperm_labels_do_not_depend_on_the_order():
    words = datasets.make_xperm(random_state=3)
    for word, label in zip(words.words[::97], words.y[::97], strict=True):
        assert label == set(words.targets).issubset(word)
    assert np.array_equal(words.X.reshape(-1, 5, 8).argmax(2), words.words)
    assert np.array_equal(datasets.make_xperm(random_state=3).targets, words.targets)
    with pytest.raises(ValueError, match="n_targets=9"):
        datasets.make_xperm(n_targets=9)


def test_two_moons_label_both_moons():
    moons = datasets.make_two_moons(50, n_labeled=4, random_state=0)
    assert np.bincount(moons.y[moons.labeled]).tolist() == [2, 2]
    assert (moons.y_partial != -1).sum() == 4
    with pytest.raises(ValueError, match="n_labeled=3"):
        datasets.make_two_moons(n_labeled=3)


def test_translated_images_are_complete_and_displaced():
    X = datasets.load_mnist_sample().X_train[:20]
    clean = datasets.translated(X, noise=0, random_state=0)
    np.testing.assert_allclose(clean.sum(axis=1), X.sum(axis=1), rtol=1e-5)
    images = clean.reshape(-1, 64, 64)
    centres = np.stack([images.sum(axis=2) @ np.arange(64), images.sum(axis=1) @ np.arange(64)])
    assert (centres / clean.sum(axis=1)).std(axis=1).min() > 5
    noisy = datasets.translated(X, noise=0.1, random_state=0) - clean
    assert noisy.std() == pytest.approx(0.1, rel=0.02)
    with pytest.raises(ValueError, match="do not fit on a canvas of 20 x 20"):
        datasets.translated(X, canvas=20)


def test_rotated_images_keep_their_brightness_and_have_noise_outside():
    X = datasets.load_mnist_sample().X_train[:20]
    clean = datasets.rotated(X, noise=0, random_state=0)
    np.testing.assert_allclose(clean.sum(axis=1), X.sum(axis=1), rtol=0.03)
    assert np.abs(clean[0].reshape(40, 40)[6:34, 6:34] - X[0].reshape(28, 28)).max() > 0.2
    noisy = datasets.rotated(X, noise=0.1, random_state=0)
    added = np.abs(noisy - clean).reshape(-1, 40, 40)
    assert added[:, 0, 0].max() > 0.1
    assert added[:, 15:25, 15:25].max() == 0
