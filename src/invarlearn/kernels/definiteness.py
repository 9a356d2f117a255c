"""What to do about kernels that are not positive semidefinite."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from invarlearn.kernels.base import Kernel
from invarlearn.transforms._checks import check_number

REPAIRS = ("clip", "flip", "shift", "warn", None)


@dataclass(frozen=True)
class Spectrum:
    """The spectrum of a Gram matrix, and the repair that was chosen.

    Attributes
    ----------
    smallest : float
        The smallest eigenvalue.
    negative_share : float
        The sum of the sizes of the negative eigenvalues over that of all.
    gershgorin : bool
        Whether every diagonal entry exceeds the rest of its row, which proves definiteness.
    repair : array of shape (n, n) or None
        What Gram matrix and test rows are multiplied with from the right; None: nothing.
    shift : float
        What is added to the diagonal of the Gram matrix.
    """

    smallest: float
    negative_share: float
    gershgorin: bool
    repair: NDArray[np.float64] | None = None
    shift: float = 0.0

    def repaired_gram(self, gram: ArrayLike) -> NDArray[np.float64]:
        """Give the Gram matrix to train on."""
        gram = np.asarray(gram, dtype=float)
        if self.repair is not None:
            gram = gram @ self.repair
            gram = (gram + gram.T) / 2
        return gram + self.shift * np.eye(len(gram))

    def repaired_rows(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Give test rows, (m, n), repaired as the Gram matrix was."""
        rows = np.asarray(rows, dtype=float)
        return rows if self.repair is None else rows @ self.repair


def spectrum_of(gram: ArrayLike, psd: str | None = "clip") -> Spectrum:
    """Look at the spectrum of a symmetric Gram matrix and choose its repair.

    What OrbitSVC does with its Gram matrix; for use with other learners.

    Parameters
    ----------
    gram : array-like of shape (n, n)
    psd : {"clip", "flip", "shift", "warn", None}, default="clip"
        Negative eigenvalues are set to zero, change their sign, are lifted by a constant on the
        diagonal, are told of, or are left.

    Returns
    -------
    Spectrum

    Examples
    --------
    >>> spectrum = spectrum_of([[0.0, 1.0], [1.0, 0.0]])
    >>> spectrum.smallest, spectrum.negative_share
    (-1.0, 0.5)
    >>> spectrum.repaired_gram([[0.0, 1.0], [1.0, 0.0]]).round(6)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    >>> spectrum.repaired_rows([[1.0, 0.0]]).round(6)
    array([[0.5, 0.5]])
    """
    if psd not in REPAIRS:
        raise ValueError(f"psd={psd!r} is unknown: choose one of {REPAIRS}")
    gram = check_array(gram, dtype=float, input_name="gram")
    if gram.shape[0] != gram.shape[1] or not np.allclose(gram, gram.T, atol=1e-5 * abs(gram).max()):
        raise ValueError(f"gram, of shape {gram.shape}, must be square and symmetric")
    values, vectors = np.linalg.eigh(gram)
    sizes = np.abs(values)
    facts: dict[str, Any] = {
        "smallest": float(values[0]),
        "negative_share": float(sizes[values < 0].sum() / max(sizes.sum(), np.finfo(float).tiny)),
        "gershgorin": bool(np.all(2 * np.diag(gram) > np.abs(gram).sum(axis=1))),
    }
    # rounding makes tiny negative eigenvalues of singular matrices; they are no cause for repair
    negative = values < -1e-6 * sizes.max(initial=0)
    if not negative.any() or psd is None:
        return Spectrum(**facts)
    if psd == "warn":
        warnings.warn(
            f"the Gram matrix is indefinite: smallest eigenvalue {facts['smallest']:.2e}, "
            f"{facts['negative_share']:.1%} of the spectrum negative; psd='clip' repairs it",
            stacklevel=3,
        )
        return Spectrum(**facts)
    if psd == "shift":
        return Spectrum(**facts, shift=-facts["smallest"])
    signs = np.where(negative, 0.0 if psd == "clip" else -1.0, 1.0)
    return Spectrum(**facts, repair=(vectors * signs) @ vectors.T)


def definite_up_to(kernel: Kernel, X: ArrayLike, tol: float = 1e-10) -> int:
    """Give the largest n for which the Gram matrix of the first n rows is positive definite.

    The smallest eigenvalue never rises as rows are added, so the number is found by bisection
    (paper 003, Table 1).

    Parameters
    ----------
    kernel : Kernel
    X : array-like of shape (n_samples, n_features)
        In the order in which they are added: shuffle them first.
    tol : float, default=1e-10
        Eigenvalues up to this share of the largest count as zero.

    Returns
    -------
    int
        ``len(X)`` if all of it is definite.

    Examples
    --------
    >>> from invarlearn.kernels import Linear
    >>> definite_up_to(Linear(), [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    2
    """
    gram = np.asarray(kernel(X), dtype=float)

    def definite(n: int) -> bool:
        values = np.linalg.eigvalsh(gram[:n, :n])
        return bool(values[0] > tol * values[-1])

    low, high = 0, len(gram)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if definite(middle) else (low, middle - 1)
    return low


def definite_bound(eigenvalues: ArrayLike, epsilon: float = 0.0) -> float:
    """Give the number of rows up to which the best-fit linear kernel is definite in theory.

    For normal rows with a covariance of these eigenvalues (paper 003, Theorem 1); far below what
    is found in practice.

    Parameters
    ----------
    eigenvalues : array-like of shape (m,)
        Of the covariance of the features.
    epsilon : float, default=0.0
        Between 0 and 1; the limit 0 gives the largest bound.

    Returns
    -------
    float
        0.0 where the theorem's assumption on the spectrum does not hold.

    Examples
    --------
    >>> round(definite_bound(np.ones(784)), 1)
    5.4
    """
    values = check_array(eigenvalues, ensure_2d=False, dtype=float, input_name="eigenvalues")
    if values.ndim != 1 or len(values) < 2 or (values < 0).any() or not values.any():
        raise ValueError("eigenvalues must be two or more numbers, none negative, not all zero")
    check_number(epsilon, "epsilon", low=0, high=1)
    factor = np.log(len(values)) ** ((1 + epsilon) / 2)
    norm = np.linalg.norm(values)
    if norm / values.max() < factor / 2:
        return 0.0
    return float(values.sum() / (2 * norm * factor))
