"""What estimators with a worst-case loss share (paper 004)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight

from invarlearn.estimators._targets import check_family, two_classes_of
from invarlearn.oracles import Costs
from invarlearn.transforms import Family, Identity
from invarlearn.transforms._checks import check_number


def class_numbers(y: NDArray) -> tuple[NDArray, NDArray]:
    """Give the classes, and of each sample the number of its class."""
    classes = two_classes_of(y)
    return classes, np.searchsorted(classes, y)


def family_of(estimator: Any) -> Family:
    """Give the family; None means that nothing may change."""
    check_family(estimator.family)
    return Identity() if estimator.family is None else estimator.family


def costs_of(estimator: Any, n_elements: float) -> Costs:
    """Validate the costs of an estimator that knows its classes."""
    n_classes = len(estimator.classes_)
    return Costs.check(estimator.cost, estimator.margin_scale, n_classes, n_elements)


def weights_of(
    estimator: Any, X: Any, y: NDArray, sample_weight: ArrayLike | None
) -> NDArray[np.float64]:
    """Give the weights of samples: those given, times those of their classes."""
    weights = _check_sample_weight(sample_weight, X, dtype=float, ensure_non_negative=True)
    weights = weights * compute_sample_weight(estimator.class_weight, y)
    for one in np.unique(y):
        if not weights[y == one].any():
            raise ValueError(
                f"all samples of class {one} have weight 0: leave them out, or give them weight"
            )
    return weights


def batch_weights(
    estimator: Any, X: Any, y: NDArray, sample_weight: ArrayLike | None
) -> NDArray[np.float64]:
    """Give the weights of the samples of a batch, which may lack some of the classes."""
    weights = _check_sample_weight(sample_weight, X, dtype=float, ensure_non_negative=True)
    if estimator.class_weight is None:
        return weights
    return weights * [estimator.class_weight.get(one, 1.0) for one in y.tolist()]


def lam_of(estimator: Any, total: float) -> float:
    """Give lambda: ``lam``, or that of C for samples of so much weight in all."""
    if estimator.lam is None:
        C = check_number(estimator.C, "C", low=0)
        if C == 0:
            raise ValueError("C=0 must be above 0: samples would not count")
        return 1.0 / (C * total)
    lam = check_number(estimator.lam, "lam", low=0)
    if lam == 0:
        raise ValueError("lam=0 must be above 0: give it, or C, a positive value")
    return lam


def check_solver(solver: Any, known: tuple[str, ...]) -> None:
    """Refuse a solver that there is not."""
    if solver not in known:
        raise ValueError(f"solver={solver!r} is unknown: choose one of {', '.join(known)}")


def progress_of(verbose: bool, unit: float = 1.0) -> Any:
    """Give a function that tells how far a solver is, in such units, or None."""
    if not verbose:
        return None

    def tell(n_iter: int, objective: float, gap: float) -> None:
        print(f"round {n_iter}: objective {objective * unit:.6g}, gap {gap * unit:.2g}", flush=True)

    return tell


def warn_of_gap(estimator: Any, why: str) -> None:
    """Say by how much a solver fell short."""
    warnings.warn(
        f"solver {estimator.solver!r} stopped after {estimator.n_iter_} rounds with a duality gap "
        f"of {estimator.gap_:.1e} at an objective of {estimator.objective_:.4g}, above "
        f"tol={estimator.tol:g}: {why}",
        ConvergenceWarning,
        stacklevel=3,
    )
