"""Default families and features, by the domain of the family."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from invarlearn.features import InvariantFeatures
from invarlearn.features.defaults import (
    EDGES,
    FEATURES,
    InvariantFeatureSettings,
    default_family,
    default_features,
    edge_settings,
    missing_default_message,
)
from invarlearn.transforms import (
    CyclicShift,
    FeatureScaling,
    PitchShift,
    Rotation,
    Translation,
    format_family,
)
from invarlearn.transforms.domains import DOMAINS, IMAGE, Domain


def test_the_default_family_of_images_is_small_affine_maps():
    family = default_family((28, 42), 28 * 42, "here")
    assert format_family(family) == "rotation:15 scaling:1.15 shear:0.25 translation:2"
    assert family.shape == (28, 42)
    assert format_family(default_family(None, 64 * 64, "here")).endswith("translation:4.57143")


def test_the_limits_of_the_default_family_are_parameters():
    family = default_family((28, 42), 28 * 42, "here", 30, 1.3, 0.1, shift_divisor=7)
    assert format_family(family) == "rotation:30 scaling:1.3 shear:0.1 translation:4"
    line = default_family((1, 140), 140, "here", shift_divisor=20)
    assert format_family(line) == "translation:7"
    assert default_family(None, 36, "here", smallest_image=6).size(36) > 1


def test_small_or_oblong_rows_are_not_images():
    assert default_family(None, 36, "here").size(36) == 1
    assert default_family(None, 65, "here").size(65) == 1


def test_one_line_is_shifted():
    family = default_family((1, 140), 140, "here")
    assert repr(family) == "Translation(radius=10.0, shape=(1, 140))"
    assert repr(default_family((140, 1), 140, "here")) == "Translation(radius=10.0, shape=(140, 1))"


@pytest.mark.parametrize(
    ("family", "n_landmarks", "expected"),
    [
        (Rotation(15, shape=(28, 28)), None, (256, 3, 1.5)),
        (PitchShift(400, shape=(63, 24)), None, (512, 4, 2.5)),
        (PitchShift(400, shape=(63, 24)), 100, (100, 4, 2.5)),
        (PitchShift(400, shape=(250, 24)), None, (512, 11, 6.875)),
    ],
)
def test_spectrograms_have_more_landmarks_and_wider_windows(family, n_landmarks, expected):
    local = default_features(family, int(np.prod(family.shape)), n_landmarks, 0)[-1]
    assert (local.n_landmarks, local.step, local.blur) == expected


@pytest.mark.parametrize(("side", "n_windows"), [(28, 5), (128, 11), (256, 12)])
def test_the_number_of_windows_of_large_images_is_limited(side, n_windows):
    family = Rotation(15, shape=(side, side))
    features = default_features(family, side * side, 16, 0)
    X = np.random.RandomState(0).rand(3, side * side)
    assert features.fit(X).transform(X).shape == (3, n_windows**2 * 16)


def test_options_add_steps_before_the_edges():
    family = Rotation(15, shape=(28, 28))
    plain = default_features(family, 784, 16, 0)
    both = default_features(family, 784, 16, 0, noisy=True, centred=True)
    assert [name for name, _ in plain.steps] == ["orientedgradients", "localkernelfeatures"]
    assert [name for name, _ in both.steps] == ["centred", *(name for name, _ in plain.steps)]
    assert both["orientedgradients"].despike
    assert not plain["orientedgradients"].despike


@pytest.mark.parametrize("family", [CyclicShift(), Translation(3, shape=(1, 300))])
def test_sequences_and_images_of_one_line_get_invariant_features(family):
    features = default_features(family, 300, None, 0)
    assert isinstance(features[0], InvariantFeatures)
    assert edge_settings(family, 300) is None


def test_large_families_are_sampled_by_invariant_features():
    assert default_features(CyclicShift(), 300, None, 0)[0].n_elements == 256
    assert default_features(CyclicShift(), 200, None, 0)[0].n_elements is None
    settings = InvariantFeatureSettings(n_templates=20, n_bins=4, max_elements=10)
    features = default_features(CyclicShift(), 200, None, 0, invariant=settings)[0]
    assert (features.n_templates, features.n_bins, features.n_elements) == (20, 4, 10)


def test_the_settings_of_edges_are_parameters():
    family = Rotation(15, shape=(28, 28))
    edges = {**EDGES, IMAGE: replace(EDGES[IMAGE], n_landmarks=32, step=4)}
    local = default_features(family, 784, None, 0, edges=edges)[-1]
    assert (local.n_landmarks, local.step) == (32, 4)
    noisy = default_features(family, 784, None, 0, noisy=True, noisy_gradients={"smooth": 2.0})
    assert noisy[0].smooth == 2.0
    assert not noisy[0].despike
    # without settings of its domain, an image gets invariant features
    assert edge_settings(family, 784, {}) is None
    assert isinstance(default_features(family, 784, None, 0, edges={})[0], InvariantFeatures)


def test_other_rows_are_standardised():
    features = default_features(FeatureScaling(0.5, 2, budget=2), 30, None, 0)
    assert [type(step) for _, step in features.steps] == [StandardScaler]


def test_every_domain_of_the_package_has_default_features():
    assert set(FEATURES) == set(DOMAINS)
    family = CyclicShift()
    assert missing_default_message(family) is None
    family.domain = Domain("sentence", ("words",), "none")
    message = missing_default_message(family)
    assert "no default features for the domain 'sentence'" in message
    assert "one of the domains image, " in message
