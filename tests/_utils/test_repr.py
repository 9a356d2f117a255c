"""The repr of estimators and kernels evaluates to an equal object."""

import numpy as np
import pytest
from sklearn import config_context

from invarlearn import (
    InvariantClassifier,
    InvariantFeatures,
    InvSVC,
    OrbitSVC,
    RLSClassifier,
    WorstCaseSVC,
)
from invarlearn.kernels import RBF, OrbitKernel
from invarlearn.transforms import Rotation, Translation

FAMILY = Rotation(180) * Translation(3)


@pytest.mark.parametrize(
    "estimator", [InvariantClassifier, InvariantFeatures, InvSVC, OrbitSVC, WorstCaseSVC]
)
def test_repr_of_estimators_with_a_product_of_families_evaluates(estimator):
    model = estimator(FAMILY)
    again = eval(repr(model))
    assert repr(again) == repr(model)
    assert "=Rotation(degrees=180) * Translation(radius=3)" in repr(model)


def test_repr_of_kernels_and_sequences_evaluates():
    for model in (
        RLSClassifier(kernel=OrbitKernel(RBF(0.5), FAMILY)),
        InvariantClassifier(ranges=tuple(np.linspace(0.5, 1, 2))),
    ):
        assert repr(eval(repr(model))) == repr(model)
        assert "np." not in repr(model)
        assert "Product" not in repr(model)


def test_all_parameters_are_printed_on_request():
    with config_context(print_changed_only=False):
        assert "n_copies=None" in repr(InvariantClassifier())


def test_large_arrays_are_abbreviated():
    templates = np.zeros((400, 784))
    assert len(repr(InvariantFeatures(templates=templates))) < 1000
    assert "templates=[[1.0, 0.0]]" in repr(InvariantFeatures(templates=np.eye(2)[:1]))
