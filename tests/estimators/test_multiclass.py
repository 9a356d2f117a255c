"""Classes as indices and as targets of +1 and -1, and predictions back."""

import numpy as np
import pytest

from invarlearn.estimators._multiclass import (
    check_classes,
    check_classes_of_batch,
    class_indices,
    decision_values,
    one_vs_rest_targets,
    winning_classes,
)


def test_targets_lead_back_to_the_classes():
    y = np.array(["b", "a", "c", "b"])
    classes = check_classes(y)
    indices = class_indices(y, classes)
    targets = one_vs_rest_targets(indices, 3)
    np.testing.assert_array_equal(targets[0], [-1, 1, -1])
    assert (targets.sum(axis=1) == -1).all()
    np.testing.assert_array_equal(classes[winning_classes(targets)], y)


def test_two_classes_have_one_column():
    indices = np.array([0, 1, 1])
    one = one_vs_rest_targets(indices, 2)
    np.testing.assert_array_equal(one, [[-1], [1], [1]])
    np.testing.assert_array_equal(winning_classes(one), indices)
    np.testing.assert_array_equal(winning_classes(decision_values(one)), indices)
    both = one_vs_rest_targets(indices, 2, collapse_two=False)
    np.testing.assert_array_equal(both, [[1, -1], [-1, 1], [-1, 1]])
    assert decision_values(one).shape == (3,)
    assert decision_values(both) is both


def test_ties_go_to_the_first_class():
    np.testing.assert_array_equal(winning_classes(np.zeros((2, 3))), [0, 0])
    np.testing.assert_array_equal(winning_classes(np.zeros(2)), [0, 0])
    np.testing.assert_array_equal(winning_classes(np.array([[0.0, 2, 2]])), [1])


def test_classes_of_batches_are_those_of_the_first():
    first = check_classes_of_batch(["b", "a"], None)
    np.testing.assert_array_equal(first, ["a", "b"])
    assert check_classes_of_batch(None, first) is first
    assert check_classes_of_batch(["a", "b", "b"], first) is first
    with pytest.raises(ValueError, match="not those of the first call"):
        check_classes_of_batch(["a", "c"], first)
    with pytest.raises(ValueError, match="must be given at the first call"):
        check_classes_of_batch(None, None)
    with pytest.raises(ValueError, match="one class only"):
        check_classes_of_batch(["a"], None)
    with pytest.raises(ValueError, match=r"classes \[2\] that are not among"):
        class_indices(np.array([0, 2]), np.array([0, 1]))
