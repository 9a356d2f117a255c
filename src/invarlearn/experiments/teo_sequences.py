"""Teo et al. (2007), Convex learning with invariances: sequences of letters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from invarlearn.estimators.structured import Chain, fit_structured
from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import image_data
from invarlearn.transforms import Translation

_TEXT = (
    "the and you that was for are with his they this have from one had word but not what all "
    "were when your can said there use each which she how their will other about out many "
    "then them these some her would make like him into time has look two more write see "
    "number way could people than first water been call who oil its now find long down day "
    "did get come made may part over new sound take only little work know place year live "
    "back give most very after thing our just name good sentence man think say great where "
    "help through much before line right too mean old any same tell boy follow came want show "
    "also around form three small set put end does another well large must big even such "
    "because turn here why ask went men read need land different home move try kind hand "
    "picture again change off play spell air away animal house point page letter mother "
    "answer found study still learn should world "
)
WORDS = _TEXT.split()


def _word_images(words: list[str], X: NDArray, y: NDArray, rng: np.random.RandomState) -> Any:
    """Return a random image of each letter of each word, and the labels of the letters."""
    images = [np.flatnonzero(y == letter) for letter in range(26)]
    labels = [np.array([ord(c) - ord("a") for c in word]) for word in words]
    rows = [np.array([rng.choice(images[letter]) for letter in word]) for word in labels]
    return [normalize(X[word]) for word in rows], labels


def _single_letters(sequences: list[NDArray]) -> list[NDArray]:
    """Return each item of the sequences as a sequence of length one."""
    return [item[None] for sequence in sequences for item in sequence]


def run_sequences(method: str, n_words: int, n_test: int, seed: int) -> dict[str, float]:
    """Train on ``n_words`` words; return the error on the letters of other words, in percent."""
    data = image_data("letters")
    rng = np.random.RandomState(seed)
    order = rng.permutation(len(WORDS))
    train_words = [WORDS[k] for k in order[:n_words]]
    test_words = [WORDS[k] for k in rng.choice(order[n_words:], n_test)]
    X, Y = _word_images(train_words, data.X_train, data.y_train, rng)
    X_test, Y_test = _word_images(test_words, data.X_test, data.y_test, rng)
    family = Translation(1).with_shape((28, 28)) if "worst" in method else None
    if method.startswith("letters"):
        # without the chain
        X, Y = _single_letters(X), _single_letters(Y)
        X_test, Y_test = _single_letters(X_test), _single_letters(Y_test)
    # the loss of a word is a sum over its letters, so that lam grows with the mean length
    lam = 2e-4 * float(np.mean([len(y) for y in Y]))
    problem = Chain(26, 784, family)
    model = fit_structured(problem, X, Y, lam=lam, solver="columns", tol=0.05, max_iter=200)
    wrong = np.concatenate([p != y for p, y in zip(model.predict(X_test), Y_test, strict=True)])
    return {"error": 100 * wrong.mean()}


SEQUENCES = Experiment(
    id="004-sequences",
    paper="Teo et al. (2007), section 2 (structured outputs); no figure of the paper",
    title="Words written with images of letters",
    varies={
        "method": ["letters", "letters, worst shift", "chain", "chain, worst shift"],
        "n_words": [25, 50, 100],
    },
    quick={"n_words": [25]},
    run=run_sequences,
    metric="error",
    x="n_words",
    lines="method",
    seeds={"quick": 1, "full": 4},
    settings={"quick": {"n_test": 50}, "full": {"n_test": 200}},
    note="Common English words; each letter is a random image of NIST. The test set has other "
    "words and other images than the training set. Linear in pixels (rows of norm one), "
    "lam = 0.0002 for each letter. A chain also has weights of pairs of adjacent letters. Worst "
    "shift: the training loss is that at the worst shift of each letter by up to one pixel.",
)


EXPERIMENTS = [SEQUENCES]
