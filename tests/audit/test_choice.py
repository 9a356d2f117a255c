"""The choice of a family, on samples for which the right choice is known."""

import warnings
from inspect import signature

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from invarlearn import InvariantClassifier, VirtualSVC
from invarlearn.audit import FamilyChoice, NestedCV, Proportion, choose_family
from invarlearn.transforms import CyclicShift, FeatureScaling, Identity, Reflection


def waves(n, shifted, seed=0):
    """Return rising and falling ramps, mirror images of each other, shifted at random if asked."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % 2
    t = np.arange(16)
    saw = np.where(t < 6, t / 5, 0)
    X = np.stack([saw, saw[::-1]])[y] + 0.3 * rng.randn(n, 16)
    if shifted:
        X = np.stack([np.roll(row, k) for row, k in zip(X, rng.randint(16, size=n), strict=True)])
    return X, y


def test_a_helpful_family_is_chosen_and_others_are_not():
    X, y = waves(80, shifted=True)
    candidates = {"shift": CyclicShift(), "mirror": Reflection(shape=(1, 16))}
    choice = choose_family(VirtualSVC(C=10), X, y, candidates, ranges=(1.0,))
    assert choice.helps
    assert choice.family is choice.best
    assert choice.family.get_params() == CyclicShift().get_params()
    assert choice.accuracy.value > choice.baseline_accuracy.value + 0.1
    assert choice.p_value < 0.05
    assert choice.summary().startswith("Recommended family: ")
    assert "CyclicShift" in choice.summary()
    rows = choice.table()
    assert rows[0]["family"] == "none"
    assert not rows[0]["chosen"]
    assert sum(row["chosen"] for row in rows) >= 1


def test_no_family_is_recommended_when_none_helps():
    # the class depends on the order of the outer columns, which a reflection reverses
    rng = np.random.RandomState(0)
    X = rng.randn(60, 9)
    y = (X[:, 0] > X[:, 8]).astype(int)
    choice = choose_family(VirtualSVC(C=10), X, y, Reflection(shape=(1, 9)), ranges=(1.0,))
    assert not choice.helps
    assert isinstance(choice.family, Identity)
    assert isinstance(choice.best, Identity)
    assert "none" in choice.summary()
    assert choice.p_value == 1
    assert choice.accuracy == choice.baseline_accuracy
    assert [row["chosen"] for row in choice.table()] == [True, False]


def test_random_labels_rarely_make_a_family_help():
    helps = 0
    for seed in range(8):
        rng = np.random.RandomState(seed)
        X, y = rng.randn(40, 6), np.arange(40) % 2
        choice = choose_family(
            VirtualSVC(C=1), X, y, [CyclicShift(), Reflection(shape=(1, 6))], cv=3
        )
        helps += choice.helps
        # labels are random, so accuracy on held-out samples is that of chance
        assert choice.accuracy.low < 0.5
    assert helps <= 1


def test_the_estimate_is_nested_cross_validation():
    """Against nested cross-validation with scikit-learn: a choice in each training part."""
    X, y = waves(60, shifted=True, seed=1)
    families = [Identity(), CyclicShift()]
    cv = NestedCV(outer=4, inner=3, random_state=5)
    choice = choose_family(VirtualSVC(C=10), X, y, families[1], ranges=(1.0,), cv=cv)
    correct = np.empty(60, dtype=bool)
    for train, test in StratifiedKFold(4, shuffle=True, random_state=5).split(X, y):
        inner = StratifiedKFold(3, shuffle=True, random_state=5)
        inner_correct = [
            cross_val_predict(VirtualSVC(family, C=10), X[train], y[train], cv=inner) == y[train]
            for family in families
        ]
        gain = inner_correct[1].astype(float) - inner_correct[0]
        chosen = families[int(gain.mean() > gain.std() / np.sqrt(len(gain)))]
        correct[test] = VirtualSVC(chosen, C=10).fit(X[train], y[train]).predict(X[test]) == y[test]
    assert choice.accuracy.value == pytest.approx(correct.mean())


def test_n_jobs_does_not_change_the_result():
    X, y = waves(40, shifted=True)
    seen = []
    results = [
        choose_family(
            VirtualSVC(C=10),
            X,
            y,
            CyclicShift(),
            ranges=(0.5, 1.0),
            cv=3,
            n_jobs=n_jobs,
            progress=lambda done, total, left: seen.append((done, total)),
        )
        for n_jobs in (1, 2)
    ]
    assert results[0].table() == results[1].table()
    assert results[0].accuracy == results[1].accuracy
    assert seen[-1][0] == seen[-1][1] > 0


def test_groups_are_held_out_together():
    X, y = waves(48, shifted=True)
    groups = np.repeat(np.arange(12), 4)
    seen = []

    class Spy(VirtualSVC):
        def fit(self, X_part, y_part):
            seen.append(
                {g for g, row in zip(groups, X, strict=True) if (row == X_part).all(1).any()}
            )
            return super().fit(X_part, y_part)

        def predict(self, X_part):
            out = {g for g, row in zip(groups, X, strict=True) if (row == X_part).all(1).any()}
            assert not out & seen[-1]
            return super().predict(X_part)

    choose_family(Spy(C=10), X, y, CyclicShift(), ranges=(1.0,), cv=3, groups=groups)
    assert len(seen) > 6


def test_the_family_may_be_a_parameter_of_a_pipeline():
    X, y = waves(40, shifted=True)
    pipe = make_pipeline(FunctionTransformer(), VirtualSVC(C=10))
    options = {"ranges": (1.0,), "cv": 3}
    choice = choose_family(pipe, X, y, CyclicShift(), param="virtualsvc__family", **options)
    assert choice.table() == choose_family(VirtualSVC(C=10), X, y, CyclicShift(), **options).table()


def test_bad_input_gets_clear_errors():
    X, y = waves(20, shifted=False)
    with pytest.raises(ValueError, match="no parameter 'family'"):
        choose_family(LogisticRegression(), X, y, CyclicShift())
    with pytest.raises(TypeError, match="must be a family"):
        choose_family(VirtualSVC(), X, y, ["rotation"])
    with pytest.raises(TypeError, match="must be a family"):
        choose_family(VirtualSVC(), X, y, [])
    with pytest.raises(ValueError, match="one class only"):
        choose_family(VirtualSVC(), X, np.zeros(20), CyclicShift())
    with pytest.raises(ValueError, match="pass fewer folds, such as cv=NestedCV"):
        choose_family(VirtualSVC(), X[:4], y[:4], CyclicShift())
    with pytest.raises(ValueError, match="ranges"):
        choose_family(VirtualSVC(), X, y, CyclicShift(), ranges=())
    with pytest.raises(ValueError, match="cv=1 "):
        choose_family(VirtualSVC(), X, y, CyclicShift(), cv=1)
    with pytest.raises(ValueError, match="inner=1 "):
        NestedCV(inner=1)
    # house rule: parameters that belong together are one object
    assert len(signature(choose_family).parameters) <= 12


def test_groups_are_passed_to_estimators_that_accept_them():
    X, y = waves(48, shifted=True)
    groups, seen = np.repeat(np.arange(12), 4), []

    class Spy(VirtualSVC):
        def fit(self, X, y, groups=None):
            seen.append(groups)
            return super().fit(X, y)

    choose_family(Spy(C=10), X, y, CyclicShift(), ranges=(1.0,), cv=3, groups=groups)
    assert len(seen) > 6
    assert all(passed is not None and 1 < len(np.unique(passed)) < 12 for passed in seen)


def test_too_few_samples_are_an_error_before_any_fit():
    X = waves(20, shifted=False)[0]
    calls = []

    class Spy(VirtualSVC):
        def fit(self, X, y):
            calls.append(1)
            return super().fit(X, y)

    with pytest.raises(ValueError, match="fewer than two classes"):
        choose_family(Spy(), X, np.r_[1, np.zeros(19)], CyclicShift())
    assert not calls


def test_ranges_that_change_nothing_are_tried_once():
    X, y = waves(40, shifted=True)
    choice = choose_family(VirtualSVC(C=10), X, y, [CyclicShift(), CyclicShift(radius=2)], cv=3)
    tried = [row["family"] for row in choice.table() if "*" not in row["family"]]
    assert len(tried) == len(set(tried))
    assert tried.count("CyclicShift()") == 1


@pytest.mark.parametrize("accuracy", [0.6, 0.3])
def test_the_summary_of_a_choice_that_is_not_significant_gives_advice(accuracy):
    choice = FamilyChoice(
        family=Identity(),
        best=CyclicShift(),
        accuracy=Proportion(accuracy, accuracy - 0.1, accuracy + 0.1),
        baseline_accuracy=Proportion(0.5, 0.4, 0.6),
        p_value=0.3,
        evidence=[],
    )
    text = choice.summary()
    assert text.startswith("Recommended family: none. The best family, CyclicShift(), changes")
    assert "from 50.0 % (40.0 to 60.0) to " in text
    assert "p = 0.3" in text
    advice = "check that labels do not depend" if accuracy < 0.5 else "more samples may show"
    assert advice in text


def test_alpha_sets_the_level_of_significance():
    X, y = waves(80, shifted=True)
    args = VirtualSVC(C=10), X, y, CyclicShift()
    strict = choose_family(*args, ranges=(1.0,), cv=3, alpha=0.0)
    assert not strict.helps
    assert not isinstance(strict.best, Identity)
    assert choose_family(*args, ranges=(1.0,), cv=3, alpha=1.0).helps
    with pytest.raises(ValueError, match="alpha=2"):
        choose_family(*args, alpha=2)


def test_only_warnings_of_a_specific_category_are_shown():
    class Noisy(VirtualSVC):
        def fit(self, X, y):
            warnings.warn("of this part", stacklevel=2)
            warnings.warn("no convergence", ConvergenceWarning, stacklevel=2)
            return super().fit(X, y)

    X, y = waves(20, shifted=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        choose_family(Noisy(), X, y, CyclicShift(), ranges=(1.0,), cv=NestedCV(2, 2))
    assert {str(one.message) for one in caught} == {"no convergence"}


def test_fits_of_folds_do_not_warn_about_their_estimates():
    """A class of three samples has one or two of them in a training part."""
    rng = np.random.RandomState(0)
    y = np.r_[np.zeros(15, dtype=int), np.ones(15, dtype=int), [2, 2, 2]]
    X = rng.randn(len(y), 4) + 3 * y[:, None]
    family = FeatureScaling(0.9, 1.1, budget=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choice = choose_family(InvariantClassifier(n_copies=2), X, y, family, ranges=(1.0,), cv=3)
    assert 0 <= choice.accuracy.value <= 1
