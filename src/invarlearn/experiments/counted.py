"""Invariant features as counts of 8 bits, and least squares on many of them.

A feature is the number of elements whose projection is at most a threshold. Counts of 8 bits are
exact and take a quarter of the memory of features in single precision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context

from invarlearn import InvariantFeatures, RLSClassifier
from invarlearn._utils.parallel import slices
from invarlearn.solvers.ridge import ridge

Counts = NDArray[np.uint8]

# Values of lam that are validated, relative to the mean squared norm of a centred row.
RELATIVE_LAMS = tuple(np.logspace(1, -2.5, 8))


def count_rows(features: InvariantFeatures, X: NDArray) -> Counts:
    """Return the features of rows as counts: (n, n_features_out).

    Parameters
    ----------
    features : InvariantFeatures
        Fitted, with ``pooling="cdf"`` and at most 255 elements.
    X : array of shape (n, n_features)
    """
    n_elements = len(features.projections_.orbits.action)
    if n_elements > 255:
        raise ValueError(f"{n_elements} elements are too many for counts of 8 bits: use up to 255")
    counts = np.empty((len(X), features.projections_.n_features_out), dtype=np.uint8)
    # all orbits of the templates stay in memory
    with config_context(working_memory=4096):
        for block in slices(len(X), 2048):
            values = features.transform(X[block])
            values *= n_elements / features.scale_
            counts[block] = np.rint(values, out=values)
    return counts


def classify_by_gram(rows: Counts, y: NDArray, test: Counts, n_validated: int = 5000) -> NDArray:
    """Return the predicted classes of test rows, by regularised least squares.

    Parameters
    ----------
    rows, test : arrays of shape (n, n_features) and (n_test, n_features)
    y : array of shape (n,)
    n_validated : int, default=5000
        From this number of rows on, lam is validated on every fifth row. Below, it is chosen by
        leave-one-out, which needs an eigendecomposition.

    Returns
    -------
    array of shape (n_test,)
    """
    centred = rows.astype(np.float32)
    mean = centred.mean(axis=0, dtype=float).astype(np.float32)
    centred -= mean
    gram = centred @ centred.T
    if len(rows) < n_validated:
        # in a unit in which rows have norms of about one
        unit = float(np.trace(gram)) / len(gram)
        model = RLSClassifier(kernel="precomputed").fit(gram / unit, y)
        alpha, intercept, classes = model.dual_coef_ / unit, model.intercept_, model.classes_
    else:
        alpha, intercept, classes = validated_ridge(gram, y)
    beta = centred.T @ alpha.astype(np.float32)
    values = np.empty((len(test), alpha.shape[1]))
    for block in slices(len(test), 1024):
        values[block] = test[block].astype(np.float32) @ beta
    return classes[np.argmax(values + (intercept - mean @ beta), axis=1)]


def validated_ridge(gram: NDArray, y: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Fit ridge regression on all rows, with the lam that is best on every fifth row.

    Parameters
    ----------
    gram : array of shape (n, n)
        Inner products of centred rows.
    y : array of shape (n,)

    Returns
    -------
    alpha : array of shape (n, n_classes)
    intercept : array of shape (n_classes,)
    classes : array of shape (n_classes,)
    """
    classes = np.unique(y)
    Y = np.where(y[:, None] == classes, 1.0, -1.0)
    lams = np.array(RELATIVE_LAMS) * float(np.trace(gram)) / len(gram)
    is_held_out = np.arange(len(y)) % 5 == 4
    fitted = np.flatnonzero(~is_held_out)
    inner, cross = gram[np.ix_(fitted, fitted)], gram[np.ix_(is_held_out, ~is_held_out)]
    mean = Y[fitted].mean(axis=0)
    errors = []
    for lam in lams:
        alpha = ridge(inner, Y[fitted] - mean, lam).alpha
        errors.append(np.mean((cross @ alpha + mean - Y[is_held_out]) ** 2))
    mean = Y.mean(axis=0)
    return ridge(gram, Y - mean, lams[int(np.argmin(errors))]).alpha, mean, classes
