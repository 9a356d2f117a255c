"""The names of kernels next to those of scikit-learn."""

from sklearn.utils import all_estimators

from invarlearn import kernels


def test_no_kernel_has_the_name_of_an_estimator_of_scikit_learn():
    assert not {name for name, _ in all_estimators()} & set(kernels.__all__)
