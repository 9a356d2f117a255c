"""Experiments on Mroueh et al. (2015): orbits of words, counted features, TIDIGITS."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

from invarlearn import InvariantFeatures, RLSClassifier
from invarlearn.datasets import DataError, load_mnist_sample, load_tidigits
from invarlearn.experiments import EXPERIMENTS
from invarlearn.experiments.claims import ABSENT, FAILS, HOLDS
from invarlearn.experiments.counted import classify_by_gram, count_rows, validated_ridge
from invarlearn.experiments.mroueh_claims import PAPER
from invarlearn.experiments.mroueh_judges import (
    above_in_pairs,
    best_in_pairs,
    mean_at_least,
    means_within,
)
from invarlearn.experiments.mroueh_tidigits import (
    TIDIGITS,
    run_tidigits,
    split_tidigits,
    tidigits_folder,
)
from invarlearn.experiments.mroueh_words import (
    haar_coordinates,
    nearest_class,
    orbit_coordinates,
    run_words,
    split_words,
    word_features,
    word_orbits,
)
from invarlearn.kernels import RBF, HaarKernel
from invarlearn.transforms import Permutation, Translation


def test_an_orbit_contains_the_permutations_of_a_word():
    representatives, orbit = word_orbits()
    words, _, _ = split_words(10, 10, 0)
    assert len(representatives) == 792  # multisets of 5 letters out of 8
    rows = np.random.RandomState(0).choice(len(words.X), 20)
    for row in rows:
        permuted = Permutation(block=8, shape=40).orbit(words.X[row : row + 1])[0]
        assert (permuted == representatives[orbit[row]]).all(axis=1).any()


@pytest.mark.parametrize("features", ["CDF(25,10)", "CDF(5,3)"])
def test_least_squares_by_orbits_equals_least_squares_on_words(features):
    words, train, test = split_words(30, 500, 1)
    n_bins, n_templates = map(int, features[4:-1].split(","))
    cdf = word_features(n_templates, 1, n_bins).fit(words.X[train])
    model = RLSClassifier().fit(cdf.transform(words.X[train]), words.y[train])
    accuracy = 100 * model.score(cdf.transform(words.X[test]), words.y[test])
    assert run_words("RLS", features, 30, 500, 1)["accuracy"] == pytest.approx(accuracy)


def test_nearest_neighbours_by_orbits_are_those_of_the_haar_kernel():
    words, train, test = split_words(30, 60, 2)
    kernel = HaarKernel(RBF(0.5), Permutation(block=8, shape=40))
    X, Z = words.X[train].astype(float), words.X[test].astype(float)
    squares = np.diag(kernel(X))[None] + kernel.diag(Z)[:, None] - 2 * kernel(Z, X)
    nearest = words.y[train][squares.round(9).argmin(axis=1)]
    orbit = word_orbits()[1]
    of_orbit = nearest_class(haar_coordinates(), orbit[train], words.y[train])
    np.testing.assert_array_equal(of_orbit[orbit[test]], nearest)


def test_ties_of_nearest_neighbours_do_not_favour_a_class():
    # every test word is as far from both classes, so that the order of the training words decides
    words, train, _ = split_words(200, 10, 0)
    share = words.y[train][:200].mean()
    assert 0.35 < share < 0.65
    coordinates = np.zeros((3, 2))
    assert nearest_class(coordinates, np.array([0, 1, 2]), np.array([7, 8, 9])).tolist() == [7] * 3


def test_shorter_rows_keep_inner_products():
    words, train, _ = split_words(30, 10, 0)
    cdf = word_features(40, 0, 25).fit(words.X[train])
    whole = cdf.transform(word_orbits()[0]).astype(float)
    short = orbit_coordinates("CDF(25,40)", words.X[train], 0)
    assert whole.shape == (792, 1000)
    assert short.shape == (792, 792)
    np.testing.assert_allclose(short @ short.T, whole @ whole.T, atol=1e-10)


@pytest.fixture
def counted():
    digits = load_mnist_sample()
    features = InvariantFeatures(Translation(1), 20, 8, normalize=True, random_state=0)
    features.fit(digits.X_train[:100])
    return digits, features


def test_counts_are_the_features(counted):
    digits, features = counted
    counts = count_rows(features, digits.X_train[:50])
    assert counts.dtype == np.uint8
    assert counts.max() == 9
    expected = features.transform(digits.X_train[:50])
    np.testing.assert_allclose(counts * (features.scale_ / 9), expected, rtol=1e-5)


def test_more_elements_than_counts_hold_are_refused():
    rows = np.random.RandomState(0).rand(5, 400)
    features = InvariantFeatures(Translation(8), 2, 3, random_state=0).fit(rows)
    with pytest.raises(ValueError, match="289 elements are too many"):
        count_rows(features, rows)


def test_least_squares_on_counts_equals_the_classifier(counted):
    digits, features = counted
    rows, test = digits.X_train[:300], digits.X_test[:200]
    y = digits.y_train[:300]
    predicted = classify_by_gram(count_rows(features, rows), y, count_rows(features, test))
    model = RLSClassifier().fit(features.transform(rows), y)
    assert np.mean(predicted == model.predict(features.transform(test))) > 0.99


def test_validated_ridge_is_ridge_with_the_best_lam(counted):
    digits, features = counted
    y = digits.y_train[:200]
    Z = features.transform(digits.X_train[:200]).astype(float)
    Z = Z - Z.mean(axis=0)
    alpha, intercept, classes = validated_ridge(Z @ Z.T, y)
    # lam from the equation (K + lam) alpha = Y - mean
    targets = np.where(y[:, None] == classes, 1.0, -1.0)
    residual = targets - targets.mean(axis=0) - Z @ Z.T @ alpha
    lam = np.median(residual / alpha)
    np.testing.assert_allclose(residual, lam * alpha, atol=1e-8)
    np.testing.assert_allclose(intercept, targets.mean(axis=0))
    # another library's ridge has the same error on held-out rows, and other lams have larger ones
    from sklearn.linear_model import Ridge

    is_held_out = np.arange(200) % 5 == 4
    errors = [
        np.mean(
            (
                Ridge(alpha=factor * lam)
                .fit(Z[~is_held_out], targets[~is_held_out])
                .predict(Z[is_held_out])
                - targets[is_held_out]
            )
            ** 2
        )
        for factor in (0.05, 1.0, 20.0)
    ]
    assert np.argmin(errors) == 1


# -- claims ---------------------------------------------------------------------------------------


def test_claims_name_existing_code_tests_and_experiments():
    sources = [path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py")]
    for claim in PAPER.claims:
        module, _, name = claim.code.rpartition(".")
        assert hasattr(import_module(module), name), claim.code
        if not claim.evidence:
            assert claim.verdict == ABSENT
        elif claim.evidence.startswith("test_"):
            assert any(f"def {claim.evidence}(" in text for text in sources), claim.evidence
        else:
            assert claim.evidence in EXPERIMENTS
    places = " ".join(claim.place for claim in PAPER.claims)
    for kind, numbers in {"Theorem": 5, "Lemma": 7, "Remark": 4}.items():
        assert all(f"{kind} {number}" in places for number in range(1, numbers + 1))
    assert all(f"Figure {number}" in places for number in range(1, 7))


@pytest.mark.parametrize("claim", [c for c in PAPER.claims if c.judge], ids=lambda c: c.place)
def test_judges_name_cells_of_their_experiments(claim):
    """With results of every cell, a judge has a verdict; with none, it says so."""
    experiment = EXPERIMENTS[claim.evidence]
    rng = np.random.RandomState(0)
    metrics = ("accuracy", "error", "expected_hinge")
    records = [
        {"run": run, "result": {metric: rng.uniform(1, 99) for metric in metrics}}
        for run in experiment.runs("full")
    ]
    assert claim.judge(records).ours.endswith(".")
    assert claim.judge([]) is None


def record(value, seed, **cell):
    return {"run": {**cell, "seed": seed}, "result": {"accuracy": value}}


def test_verdicts_follow_the_draws():
    rng = np.random.RandomState(0)
    noise = rng.standard_normal(20)
    records = [
        record(base + noise[seed] + 0.1 * rng.standard_normal(), seed, kind=kind)
        for seed in range(20)
        for kind, base in {"low": 80.0, "same": 80.0, "high": 81.0}.items()
    ]

    def verdict(judge):
        return judge(records).verdict

    low, same, high = ({"kind": kind} for kind in ("low", "same", "high"))
    assert verdict(above_in_pairs(high, low, [{}])) == HOLDS
    assert verdict(above_in_pairs(same, low, [{}])) == FAILS
    assert verdict(above_in_pairs(low, high, [{}])) == FAILS
    assert verdict(means_within(0.5, low, same)) == HOLDS
    assert verdict(means_within(0.5, low, high)) == FAILS
    assert verdict(best_in_pairs(high, [low, same], [{}])) == HOLDS
    assert verdict(best_in_pairs(same, [low, high], [{}])) == FAILS
    assert verdict(mean_at_least(80.5, kind="high")) == HOLDS
    assert verdict(mean_at_least(83.0, kind="high")) == FAILS


# -- TIDIGITS -----------------------------------------------------------------------------------

# Fundamental frequencies of the groups, and loud harmonics of three digits.
PITCH = {"man": 150, "woman": 180, "boy": 190, "girl": 200}
HARMONICS = {"1": (1, 2), "2": (3, 4), "z": (6, 7)}


def write_corpus(folder, n_speakers=3):
    """Write clips in the layout of the corpus: digits are harmonics, groups are pitches."""
    rng = np.random.RandomState(0)
    time = np.arange(6000) / 20000
    for group, pitch in PITCH.items():
        for speaker in range(n_speakers):
            for digit, harmonics in HARMONICS.items():
                for take in "ab":
                    f = pitch * 2 ** rng.uniform(-0.1, 0.1)
                    sound = sum(np.sin(2 * np.pi * f * h * time) for h in harmonics)
                    sound = sound + 0.01 * rng.standard_normal(len(time))
                    path = folder / "train" / group / f"s{speaker}" / f"{digit}{take}.wav"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    wavfile.write(path, 20000, (8000 * sound).astype(np.int16))


def test_tidigits_runs_on_files_of_its_layout(tmp_path, monkeypatch):
    write_corpus(tmp_path / "tidigits")
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    for split in TIDIGITS.varies["split"]:
        accuracy = run_tidigits(split, 5, 30, 40, 0)["accuracy"]
        # three digits: chance is 33 %
        assert 60 < accuracy <= 100, split
        assert run_tidigits(split, 5, 30, 40, 0)["accuracy"] == accuracy


def test_splits_of_tidigits_are_disjoint(tmp_path):
    write_corpus(tmp_path, n_speakers=2)
    sound = load_tidigits(tmp_path)
    speaker = np.array([f"{g}/{s}" for g, s in zip(sound.group, sound.speaker, strict=True)])
    for split in TIDIGITS.varies["split"]:
        train, test = split_tidigits(sound, split, 0)
        assert train.any()
        assert test.any()
        assert not (train & test).any()
        if split == "utterances":
            assert set(speaker[train]) == set(speaker[test])
        else:
            assert not set(speaker[train]) & set(speaker[test])
    children = split_tidigits(sound, "men to children", 0)[1]
    assert set(sound.group[children]) == {"boy", "girl"}
    train, _ = split_tidigits(sound, "speakers", 0)
    assert set(sound.group[train]) == set(PITCH), "all groups are trained on"


def test_without_tidigits_the_message_says_where_to_put_it(tmp_path, monkeypatch):
    monkeypatch.setenv("INVARLEARN_DATA", str(tmp_path))
    with pytest.raises(DataError, match="folder named tidigits"):
        tidigits_folder()
