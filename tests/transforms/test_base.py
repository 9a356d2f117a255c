"""Properties of all families: blocks, memory, parameters, combinations."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import chisquare, kstest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from invarlearn import VirtualSVC, WorstCaseLinearSVC
from invarlearn.transforms import (
    Custom,
    CyclicShift,
    Elastic,
    Family,
    FeatureScaling,
    Functions,
    Hyperbolic,
    Identity,
    Permutation,
    PitchShift,
    PolarRotation,
    Product,
    Reflection,
    Rotation,
    Scaling,
    Shear,
    Thickness,
    TimeStretch,
    Translation,
    format_family,
)


def test_an_orbit_beyond_working_memory_is_refused():
    X = np.zeros((100, 784), dtype=np.float32)
    with (
        config_context(working_memory=1),
        pytest.raises(MemoryError, match="or iter_orbit"),
    ):
        Translation(2).orbit(X)
    with config_context(working_memory=8):
        assert Translation(2).orbit(X).nbytes < 8 * 2**20


def test_streaming_needs_memory_for_a_block_only():
    import tracemalloc

    X = np.random.RandomState(0).rand(400, 784).astype(np.float32)
    family = Translation(3) * Rotation(15, n_steps=5)
    whole = 400 * family.n_elements * 784 * 4
    tracemalloc.start()
    total = 0.0
    for _, _, block in family.iter_orbit(X, max_bytes=2**22):
        total += float(block.sum())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total > 0
    assert peak < 2**26 < whole / 4


def test_long_reprs_evaluate():
    family = Identity() * Translation(2, shape=(28, 28))
    for degrees in range(1, 80):
        family = family * Rotation(degrees, n_steps=5) | Shear(0.1, axis=0)
    assert len(repr(family)) > 1500
    assert repr(eval(repr(family))) == repr(family)


def test_identity_is_neutral():
    family = Translation(1)
    assert Identity() * family is family
    assert (family | Identity()) is family
    assert repr(Identity() * Identity()) == "Identity()"


def test_parts_are_named_as_in_a_pipeline():
    family = Rotation(10) * Translation(1) * Rotation(20)
    assert list(family.named_parts()) == ["rotation-1", "translation", "rotation-2"]
    family.set_params(translation__radius=3, **{"rotation-2": Shear(0.1)})
    assert repr(family) == "Rotation(degrees=10) * Translation(radius=3) * Shear(amount=0.1)"
    copy = clone(family).set_params(translation__radius=1)
    assert family.named_parts()["translation"].radius == 3
    assert copy.named_parts()["translation"].radius == 1
    with pytest.raises(ValueError, match="Invalid parameter"):
        family.set_params(colour=3)


def test_parts_take_the_shape_of_the_family_and_other_families_are_their_only_part():
    rotation = Rotation(10)
    assert rotation.bound_parts() == [rotation]
    assert rotation.named_parts() == {"rotation": rotation}
    family = Translation(1, shape=(4, 6)) | rotation
    assert [part.shape for part in family.bound_parts()] == [(4, 6), (4, 6)]
    assert family.named_parts()["rotation"].shape == (4, 6)


def test_a_family_of_ones_own_can_be_neutral():
    class Nothing(Family):
        is_identity = True

        def __init__(self, shape=None):
            self.shape = shape

        def elements(self, n_features):
            return Functions([np.copy])

    rotation = Rotation(10)
    assert (rotation * Nothing()) is rotation
    assert format_family(Nothing()) == "nothing"
    X, y = np.random.RandomState(0).rand(20, 16), np.arange(20) % 2
    # sparse rows are accepted where nothing is transformed
    WorstCaseLinearSVC(Nothing()).fit(csr_matrix(X), y)


def test_grid_search_reaches_into_families():
    rng = np.random.RandomState(0)
    X, y = rng.rand(30, 16), np.arange(30) % 2
    single = GridSearchCV(VirtualSVC(Translation(1)), {"family__radius": [0, 1]}, cv=2).fit(X, y)
    assert single.best_params_["family__radius"] in (0, 1)
    product = Translation(1) * Rotation(10)
    grid = {"family__translation__radius": [0, 1], "family__rotation__degrees": [0, 10]}
    search = GridSearchCV(VirtualSVC(product), grid, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert repr(product) == "Translation() * Rotation(degrees=10)"


def test_a_part_without_a_shape_takes_that_of_the_others():
    family = Translation(1, shape=(4, 6)) * Reflection(1)
    X = np.arange(24.0).reshape(1, 24)
    orbit = family.orbit(X)
    assert family.shape == (4, 6)
    assert np.array_equal(orbit[0, 1].reshape(4, 6), X.reshape(4, 6)[:, ::-1])
    with pytest.raises(ValueError, match="different shapes"):
        (Translation(1, shape=(4, 6)) * Rotation(10, shape=(5, 5))).orbit(X)


def test_properties_that_depend_on_the_shape_ask_for_it():
    with pytest.raises(ValueError, match="pass shape="):
        _ = Permutation(8).n_elements
    with pytest.raises(ValueError, match="pass shape="):
        _ = CyclicShift().n_elements
    assert Permutation(8).with_shape(40).n_elements == 120
    assert Permutation(8, shape=40).is_group
    assert CyclicShift(shape=(5, 2)).n_elements == 5
    assert not CyclicShift(step=2, shape=5).is_group
    assert CyclicShift(step=2, shape=6).is_group


def test_random_elements_lie_in_the_range():
    point = np.zeros((1, 21 * 21))
    point[0, 10 * 21 + 14] = 1  # four pixels right of the centre
    moved = Rotation(30).sample(200, random_state=0)(point)[0].reshape(200, 21, 21)
    row = (moved.sum(axis=2) @ np.arange(21)) / moved.sum(axis=(1, 2)) - 10
    column = (moved.sum(axis=1) @ np.arange(21)) / moved.sum(axis=(1, 2)) - 10
    angles = np.degrees(np.arctan2(-row, column))
    assert -31 < angles.min() < -20
    assert 20 < angles.max() < 31


def test_worst_case_by_enumeration_agrees_with_brute_force():
    rng = np.random.RandomState(1)
    X, w, sign = rng.randn(20, 36), rng.randn(36), rng.choice([-1, 1], 20)
    family = Translation(1) * Reflection(0)
    rows, scores = family.worst_case(X, w, sign)
    orbit = family.orbit(X)
    brute = (sign[:, None] * (orbit @ w)).min(axis=1)
    np.testing.assert_allclose(scores, brute)
    np.testing.assert_allclose(sign * (rows @ w), brute)


def test_functions_that_change_the_shape_are_named():
    def halve(X):
        return X[:, ::2]

    with pytest.raises(ValueError, match=r"transformation 1 \(halve\)"):
        Custom([halve]).orbit(np.ones((2, 4)))
    with pytest.raises(TypeError, match="callables"):
        Custom([3]).orbit(np.ones((2, 4)))


def test_random_elements_can_form_a_family():
    X = np.random.RandomState(0).rand(3, 16)
    elements = Rotation(30).sample(4, random_state=1)
    orbit = Custom(elements).orbit(X)
    np.testing.assert_allclose(orbit[:, 1:], elements(X))


def test_unlistable_families_get_an_error_with_a_hint():
    with pytest.raises(ValueError, match=r"family.sample\(k\), or use Sampled"):
        FeatureScaling().orbit(np.ones((1, 3)))
    assert (FeatureScaling(shape=16) * Translation(1)).n_elements == np.inf
    with pytest.raises(ValueError, match="k=0 must be a whole number, at least 1"):
        Translation(1).sample(0)


def test_families_combine_with_families_only():
    with pytest.raises(TypeError):
        Translation(1) * 3


def generator_coordinates(family, k, n_features=441):
    """The coordinates of random elements of a one-parameter affine family, from its matrices."""
    from scipy.linalg import logm

    matrices = family.draw(k, np.random.RandomState(0), n_features).matrices
    field = family.generators((21, 21, 1))[0]
    return np.array([np.sum(np.real(logm(m)) * field) / np.sum(field**2) for m in matrices])


@pytest.mark.parametrize(
    ("family", "limit"),
    [
        (Rotation(30), np.radians(30)),
        (Rotation(30, n_steps=1), np.radians(30)),
        (Scaling(1.5), np.log(1.5)),
        (Scaling(1.5, n_steps=1), np.log(1.5)),
        (Shear(0.4, axis=0), 0.4),
        (Hyperbolic(0.3, diagonal=True), 0.3),
        (PitchShift(300), 3.0),
    ],
    ids=repr,
)
def test_parameters_are_drawn_uniformly_from_their_range(family, limit):
    drawn = generator_coordinates(family, 400)
    assert np.abs(drawn).max() <= limit * (1 + 1e-6)
    # Kolmogorov-Smirnov against the uniform distribution on the whole range
    assert kstest(drawn, "uniform", args=(-limit, 2 * limit)).pvalue > 0.001


def test_shifts_stretches_and_thickness_are_drawn_uniformly():
    shifts = Translation(2).draw(400, np.random.RandomState(0), 441).matrices[:, :2, 2]
    for axis in (0, 1):
        assert kstest(shifts[:, axis], "uniform", args=(-2, 4)).pvalue > 0.001
    assert abs(np.corrcoef(shifts.T)[0, 1]) < 0.2
    stretch = TimeStretch((0.8, 1.25)).draw(400, np.random.RandomState(0), 441).matrices[:, 1, 1]
    low = np.log(0.8)
    assert kstest(np.log(stretch), "uniform", args=(low, np.log(1.25) - low)).pvalue > 0.001
    X = np.random.RandomState(0).rand(1, 441)
    family = Thickness(0.5)
    amounts = (family.sample(400, 0)(X)[0] - X) @ family.tangents(X)[0, 0]
    amounts /= (family.tangents(X)[0, 0] ** 2).sum()
    assert kstest(amounts, "uniform", args=(-0.5, 1)).pvalue > 0.001


@pytest.mark.parametrize(
    "family",
    [
        CyclicShift(),
        Permutation(block=4),
        Translation(None, wrap=True),
        Reflection(0),
        Rotation(180, n_steps=4),
        PolarRotation(),
    ],
    ids=repr,
)
def test_elements_of_groups_are_drawn_uniformly(family):
    X = np.random.RandomState(0).rand(1, 16)
    orbit = {row.tobytes(): i for i, row in enumerate(family.orbit(X)[0])}
    drawn = family.sample(2000, random_state=0)(X)[0]
    counts = np.bincount([orbit[row.tobytes()] for row in drawn], minlength=len(orbit))
    assert chisquare(counts).pvalue > 0.001


def test_random_elements_do_not_use_the_global_random_state():
    X = np.random.RandomState(0).rand(1, 16)
    before = np.random.get_state()[1].copy()
    first, second = (Rotation(30).sample(3)(X) for _ in range(2))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_elements_can_be_sliced():
    X = np.random.RandomState(0).rand(2, 16)
    elements = Rotation(30).sample(5, random_state=0)
    np.testing.assert_allclose(elements[1:3][1](X), elements(X)[:, 2])
    np.testing.assert_allclose(elements[-1](X), elements(X)[:, 4])


def test_a_very_large_orbit_is_refused_before_it_is_listed():
    X = np.zeros((1, 784))
    with pytest.raises(MemoryError, match="iter_orbit"):
        Translation(27, step=0.03).orbit(X)
    assert Translation(5000).n_elements == 10001**2
    with pytest.raises(MemoryError, match="iter_orbit"):
        Permutation(max_elements=10**7).orbit(X)
    with pytest.raises(MemoryError, match="support_only"):
        VirtualSVC(Translation(27, step=0.1)).fit(np.zeros((2, 784)), [0, 1])


def test_equal_parts_can_be_replaced_one_by_one():
    rotation = Rotation(10)
    family = (rotation * rotation).set_params(**{"rotation-1": Shear(0.1)})
    assert repr(family) == "Shear(amount=0.1) * Rotation(degrees=10)"


def test_parts_of_one_domain_must_have_one_shape():
    with pytest.raises(ValueError, match="different shapes"):
        (Translation(1, shape=(4, 16)) * Rotation(10, shape=(8, 8))).orbit(np.ones((1, 64)))


def test_a_mistyped_parameter_names_the_parts():
    with pytest.raises(ValueError, match=r"its parts are translation, rotation"):
        (Translation(1) * Rotation(10)).set_params(radius=3)


def test_reprs_with_numpy_numbers_evaluate():
    family = Translation(np.int64(2)) * TimeStretch(np.array([0.5, 2.0]))
    assert repr(family) == "Translation(radius=2) * TimeStretch(factors=[0.5, 2.0])"


unseeded = Permutation(max_elements=2, random_state=None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Translation("1").n_elements, "radius='1' must be a number"),
        (lambda: Rotation("a").n_elements, "degrees='a' must be a number"),
        (lambda: Rotation(15, n_steps="3").n_elements, "n_steps='3' must be a whole number"),
        (lambda: Scaling(None).n_elements, "factor=None"),
        (lambda: Permutation(block="a", shape=4).n_elements, "block='a'"),
        (lambda: unseeded.orbit(np.ones((1, 4))), "random_state=None"),
        (lambda: Translation(1, shape="8x8").n_elements, "shape='8x8'"),
        (lambda: Translation(1, shape=(-8, -8)).n_elements, "positive whole number"),
        (lambda: Translation(0.5).n_elements, "only the identity is left"),
        (lambda: Custom(np.fliplr).orbit(np.ones((1, 4))), "must be a list of callables"),
        (lambda: Product([]).orbit(np.ones((1, 4))), "must be a list of families"),
        (lambda: Rotation(1).tangents(np.ones((1, 4)), smoothing=-1), "smoothing=-1"),
    ],
)
def test_wrong_types_are_named(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_must_be_finite(bad):
    for family in (Translation(1), FeatureScaling()):
        with pytest.raises(ValueError, match="w contains"):
            family.worst_case(np.ones((1, 4)), [bad, 1, 1, 1])
        with pytest.raises(ValueError, match="sign contains"):
            family.worst_case(np.ones((1, 4)), np.ones(4), [bad])


@pytest.mark.parametrize(
    ("family", "half"),
    [
        (Rotation(20), Rotation(10.0)),
        (Rotation(180, n_steps=4), Rotation(90.0, n_steps=5)),
        (Scaling(1.21), Scaling(1.1)),
        (Shear(0.3), Shear(0.15)),
        (Translation(2), Translation(1.0, step=0.5)),
        (Translation(2, wrap=True), Translation(2, wrap=True)),
        (PitchShift(200), PitchShift(100.0)),
        (Reflection(), Reflection()),
        (CyclicShift(4), CyclicShift(2)),
        (CyclicShift(), CyclicShift()),
        (FeatureScaling(0.5, 3), FeatureScaling(0.75, 2.0)),
        (Elastic(8.0), Elastic(4.0)),
        (Rotation(20) * Reflection() | Shear(0.2), Rotation(10.0) * Reflection() | Shear(0.1)),
    ],
    ids=repr,
)
def test_ranges_can_be_scaled(family, half):
    assert repr(family.scaled(0.5)) == repr(half)
    assert repr(family.scaled(1)) == repr(family)


def test_families_scaled_to_nearly_zero_are_nearly_the_identity():
    X = np.random.RandomState(0).rand(3, 64)
    family = Rotation(180) * Scaling(2) * Shear(0.5) * Translation(2)
    moved = family.scaled(1e-6).sample(2, random_state=0)(X)
    # pixels outside the border are zero, also just outside
    inside = np.s_[:, 1:-1, 1:-1]
    for copy in moved.transpose(1, 0, 2).reshape(2, 3, 8, 8):
        np.testing.assert_allclose(copy[inside], X.reshape(3, 8, 8)[inside], atol=1e-4)
    np.testing.assert_allclose(TimeStretch((0.25, 4)).scaled(0.5).factors, (0.5, 2))
    assert Rotation(120).scaled(2).degrees == 180
    with pytest.raises(ValueError, match="factor=0"):
        family.scaled(0)


def test_cloned_random_elements_are_drawn_once():
    calls = []

    class Counted(Rotation):
        def draw(self, k, rng, n_features):
            calls.append(k)
            return super().draw(k, rng, n_features)

    X = np.random.RandomState(0).rand(2, 64)
    family = Custom(list(Counted(20).sample(6, random_state=0)))
    np.testing.assert_array_equal(clone(family).orbit(X), family.orbit(X))
    assert calls == [6]


def test_the_hint_for_a_parameter_without_its_part_works():
    family = Translation(1) * Rotation(15)
    with pytest.raises(ValueError, match=r"set rotation__degrees$"):
        family.set_params(degrees=5)
    family.set_params(rotation__degrees=5)
    with pytest.raises(ValueError, match=r"its parts are translation, rotation$"):
        family.set_params(nothing=5)


def test_a_family_without_elements_and_draw_says_what_is_missing():
    class Nothing(Family):
        def __init__(self, shape=None):
            self.shape = shape

    with pytest.raises(NotImplementedError, match="Nothing must define elements or draw"):
        Nothing().sample(2, random_state=0)(np.ones((1, 3)))


@pytest.mark.parametrize(
    ("function", "message"),
    [(np.log, "returns numbers that are not finite"), (np.transpose, "must keep the shape")],
)
def test_single_elements_are_checked_like_lists(function, message):
    action = Custom([function]).elements(3)
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match=message):
        action.one(np.zeros((2, 3)), 1)
