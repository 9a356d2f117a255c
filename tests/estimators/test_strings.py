"""Edited strings against all edits of a string, and against an SVM on all of them."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from invarlearn.estimators.strings import EditedStrings
from invarlearn.estimators.structured import fit_structured

LEET = {"a": "@4", "i": "1", "b": "a"}


def all_edits(problem, x):
    """Apply edits one after the other to any character that is not the result of an edit."""
    found = {tuple((c, False) for c in x)}
    for _ in range(problem.budget):
        more = set()
        for text in found:
            for k, (character, is_edited) in enumerate(text):
                if not is_edited:
                    others = problem.substitutions.get(character, "")
                    more |= {(*text[:k], (c, True), *text[k + 1 :]) for c in others}
                    if character in problem.deletions:
                        more.add((*text[:k], *text[k + 1 :]))
            for k, c in product(range(len(text) + 1), problem.insertions):
                more.add((*text[:k], (c, True), *text[k:]))
        found |= more
    return {"".join(c for c, _ in text) for text in found}


PROBLEMS = {
    "substitutions": EditedStrings(2, LEET, budget=2, n_buckets=64),
    "insertions": EditedStrings(2, insertions=".-", budget=2, n_buckets=64),
    "deletions": EditedStrings(2, deletions="ab", budget=3, n_buckets=64),
    "all": EditedStrings(2, LEET, ".a", "bi", budget=2, n_buckets=64),
    "single characters": EditedStrings(2, LEET, ".", "b", budget=2, width=1, n_buckets=64),
    "long": EditedStrings(2, LEET, ".", "b", budget=2, width=5, n_buckets=64),
    "none": EditedStrings(2, LEET, ".", "b", budget=0, n_buckets=64),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("x", ["", "a", "abi", "bbaab"])
def test_dynamic_programming_finds_the_worst_of_all_edits(name, x):
    problem = PROBLEMS[name]
    every = all_edits(problem, x)
    assert problem.edited(x) == every
    for seed in range(5):
        weights = np.random.RandomState(seed).randn(64)
        truth = max(weights @ problem.counts(text) for text in every)
        text, score = problem.highest(weights, x)
        assert text in every
        assert score == pytest.approx(truth)
        assert score == pytest.approx(weights @ problem.counts(text))


def test_counts_are_those_of_n_grams_with_markers():
    problem = EditedStrings(2, width=2, n_buckets=2**16)
    # four different 2-grams, one of them twice: start-a, ab, ba, b-end
    counts = problem.counts("abab")
    assert sorted(counts[counts > 0]) == [1, 1, 1, 2]
    assert counts.sum() == 5
    assert (problem.features("abab", 1) == np.append(np.zeros(2**16), counts)).all()


def test_the_objective_is_that_of_an_svm_on_all_edits():
    problem = EditedStrings(3, LEET, ".", budget=1, width=2, n_buckets=8)
    X, Y, lam = ["abi", "iia", "bb", "bib", "aab"], [0, 1, 2, 0, 1], 0.1
    model = fit_structured(problem, X, Y, lam=lam, tol=1e-7, max_iter=2000)
    psi, example = [np.zeros(24)], [-1]
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        for text in all_edits(problem, x):
            for rival in set(range(3)) - {y}:
                psi.append(problem.features(text, rival) - problem.features(text, y))
                example.append(i)
    psi, example = np.array(psi)[1:], np.array(example)[1:]

    # variables: weights, and a slack for each sample
    def objective(v):
        return lam * v[:24] @ v[:24] / 2 + v[24:].mean()

    members = (example[:, None] == np.arange(5)).astype(float)
    solution = minimize(
        objective,
        np.append(np.zeros(24), np.ones(5)),
        jac=lambda v: np.append(lam * v[:24], np.full(5, 0.2)),
        bounds=[(None, None)] * 24 + [(0, None)] * 5,
        constraints={
            "type": "ineq",
            "fun": lambda v: v[24:][example] - psi @ v[:24] - 1,
            "jac": lambda v: np.hstack([-psi, members]),
        },
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert solution.success
    assert model.objective == pytest.approx(solution.fun, rel=1e-5)


@pytest.mark.parametrize("solver", ["columns", "bundle"])
def test_disguised_words_are_recognised(solver):
    bad = ["viagra", "casino", "lottery", "winner"]
    good = ["vinegar", "cabin", "letter", "dinner"]
    disguises = {"i": "1!", "a": "@4", "o": "0", "e": "3"}
    X, Y = bad + good, [1] * 4 + [0] * 4
    problem = EditedStrings(2, disguises, insertions=".", budget=2)
    plain = EditedStrings(2, budget=0)
    worst_case = fit_structured(problem, X, Y, lam=0.01, solver=solver, tol=0.01)
    hinge = fit_structured(plain, X, Y, lam=0.01, solver=solver, tol=0.01)
    edits = [(text, y) for x, y in zip(X, Y, strict=True) for text in problem.edited(x)]

    def accuracy(model):
        found = model.predict([text for text, _ in edits])
        return np.mean(np.array(found) == [y for _, y in edits])

    assert hinge.predict(X) == worst_case.predict(X) == Y
    assert accuracy(worst_case) == 1 > accuracy(hinge)


def test_bad_parameters_get_clear_errors():
    with pytest.raises(ValueError, match=r"substitutions must contain single .* not 'ab'"):
        EditedStrings(2, {"ab": "c"})
    with pytest.raises(ValueError, match=r"substitutions\['a'\] must .* not 'xyz'"):
        EditedStrings(2, {"a": ["xyz"]})
    with pytest.raises(ValueError, match=r"insertions must contain single .* not '--'"):
        EditedStrings(2, insertions=["--"])
    with pytest.raises(ValueError, match=r"deletions must contain single .* not ''"):
        EditedStrings(2, deletions=["a", ""])
    with pytest.raises(ValueError, match="n_classes=1"):
        EditedStrings(1)
    with pytest.raises(TypeError, match=r"inputs must be strings, not 3\.5"):
        EditedStrings(2).counts(3.5)
    with pytest.raises(ValueError, match="numbers from 0 to 1, not 2"):
        EditedStrings(2).features("a", 2)
