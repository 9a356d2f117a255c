"""Weights of samples and classes against scikit-learn."""

import numpy as np
import pytest
from sklearn.utils import compute_sample_weight

from invarlearn.estimators._weights import (
    check_any_weight,
    check_classes_have_weight,
    check_sample_weight,
    check_weights_of_batches,
    class_weights,
    training_weights,
)

Y = np.array(["a", "c", "a", "b", "a", "c"])
CLASSES = np.array(["a", "b", "c"])


@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 2.0, "b": 0.5}])
def test_weights_are_those_of_scikit_learn(class_weight):
    expected = compute_sample_weight(class_weight, Y)
    np.testing.assert_allclose(training_weights(class_weight, Y, CLASSES), expected)
    own = np.arange(6.0)
    both = training_weights(class_weight, Y, CLASSES, own)
    np.testing.assert_allclose(both, expected * own)


def test_classes_without_a_sample_do_not_count_in_balance():
    weights = class_weights("balanced", Y, np.array(["a", "b", "c", "d"]))
    np.testing.assert_allclose(weights[:3], class_weights("balanced", Y, CLASSES))
    assert weights[3] == 1
    np.testing.assert_array_equal(class_weights({"b": 3.0}, Y[:1], CLASSES), [1, 3, 1])


def test_invalid_weights_are_refused():
    X = np.zeros((6, 2))
    assert check_sample_weight(None, X).tolist() == [1] * 6
    with pytest.raises(ValueError, match="Negative"):
        check_sample_weight(-np.ones(6), X)
    with pytest.raises(ValueError, match="not in class_weight"):
        class_weights({"z": 1.0}, Y, CLASSES)
    with pytest.raises(ValueError, match="class_weight is 0 for every sample"):
        check_any_weight(np.zeros(6))
    with pytest.raises(ValueError, match="all samples of class b have weight 0"):
        check_classes_have_weight(np.array([1.0, 1, 1, 0, 1, 1]), Y)
    with pytest.raises(ValueError, match="pass a dict"):
        check_weights_of_batches("balanced")
    assert check_weights_of_batches({"a": 1}) is None
    ones = np.ones(6)
    assert check_any_weight(ones) is check_classes_have_weight(ones, Y) is ones
