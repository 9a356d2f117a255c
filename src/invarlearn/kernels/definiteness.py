"""Spectra of Gram matrices, and repairs of kernels that are not positive semidefinite."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from invarlearn._utils.validation import check_choice, check_number
from invarlearn.kernels.base import Kernel

REPAIRS = ("clip", "flip", "shift", "warn", None)


@dataclass(frozen=True)
class Spectrum:
    """The spectrum of a Gram matrix, and its repair.

    Attributes
    ----------
    smallest : float
        Smallest eigenvalue.
    negative_share : float
        Sum of the absolute values of the negative eigenvalues, divided by that of all eigenvalues.
    gershgorin : bool
        Whether every diagonal entry exceeds the sum of the absolute values of the rest of its row,
        which proves definiteness.
    repair : array of shape (n, n) or None
        Matrix by which the Gram matrix and test rows are multiplied from the right. None: they are
        not multiplied.
    shift : float
        Number added to the diagonal of the Gram matrix.
    """

    smallest: float
    negative_share: float
    gershgorin: bool
    repair: NDArray[np.float64] | None = None
    shift: float = 0.0

    def repaired_gram(self, gram: ArrayLike) -> NDArray[np.float64]:
        """Return the repaired Gram matrix, of shape (n, n), for training."""
        gram = np.asarray(gram, dtype=float)
        if self.repair is not None:
            gram = gram @ self.repair
            gram = (gram + gram.T) / 2
        return gram + self.shift * np.eye(len(gram))

    def repaired_rows(self, rows: ArrayLike) -> NDArray[np.float64]:
        """Return test rows, of shape (m, n), after the same repair as the Gram matrix."""
        rows = np.asarray(rows, dtype=float)
        return rows if self.repair is None else rows @ self.repair


def spectrum_of(gram: ArrayLike, psd: str | None = "clip") -> Spectrum:
    """Compute the spectrum of a symmetric Gram matrix and its repair.

    OrbitSVC repairs its Gram matrix with it; use it with other kernel machines.

    Parameters
    ----------
    gram : array-like of shape (n, n)
    psd : {"clip", "flip", "shift", "warn", None}, default="clip"
        Repair of negative eigenvalues.

        - "clip": set them to zero.
        - "flip": replace them by their absolute values.
        - "shift": add a constant to the diagonal, so that the smallest eigenvalue is zero.
        - "warn": warn about them, without a repair.
        - None: no repair.

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
    check_choice(psd, REPAIRS, "psd")
    gram = check_array(gram, dtype=float, input_name="gram")
    if gram.shape[0] != gram.shape[1] or not np.allclose(gram, gram.T, atol=1e-5 * abs(gram).max()):
        raise ValueError(f"gram, of shape {gram.shape}, must be square and symmetric")
    values, vectors = np.linalg.eigh(gram)
    sizes = np.abs(values)
    summary: dict[str, Any] = {
        "smallest": float(values[0]),
        "negative_share": float(sizes[values < 0].sum() / max(sizes.sum(), np.finfo(float).tiny)),
        "gershgorin": bool(np.all(2 * np.diag(gram) > np.abs(gram).sum(axis=1))),
    }
    # tiny negative eigenvalues are rounding errors of singular matrices, and are not repaired
    negative = values < -1e-6 * sizes.max(initial=0)
    if not negative.any() or psd is None:
        return Spectrum(**summary)
    if psd == "warn":
        warnings.warn(
            f"the Gram matrix is indefinite: smallest eigenvalue {summary['smallest']:.2e}, "
            f"{summary['negative_share']:.1%} of the spectrum negative; psd='clip' repairs it",
            stacklevel=3,
        )
        return Spectrum(**summary)
    if psd == "shift":
        return Spectrum(**summary, shift=-summary["smallest"])
    signs = np.where(negative, 0.0 if psd == "clip" else -1.0, 1.0)
    return Spectrum(**summary, repair=(vectors * signs) @ vectors.T)


def definite_up_to(kernel: Kernel, X: ArrayLike, tol: float = 1e-10) -> int:
    """Return the largest n for which the Gram matrix of the first n rows is positive definite.

    The smallest eigenvalue never rises as rows are added, so that n is found by bisection
    (Liu et al., 2022, Table 1).

    Parameters
    ----------
    kernel : Kernel
    X : array-like of shape (n_samples, n_features)
        Rows in the order in which they are added; shuffle them first.
    tol : float, default=1e-10
        Eigenvalues up to this fraction of the largest one are treated as zero.

    Returns
    -------
    int
        ``len(X)`` if the whole Gram matrix is definite.

    Examples
    --------
    >>> from invarlearn.kernels import Linear
    >>> definite_up_to(Linear(), [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    2
    """
    gram = np.asarray(kernel(X), dtype=float)

    def is_definite(n: int) -> bool:
        values = np.linalg.eigvalsh(gram[:n, :n])
        return bool(values[0] > tol * values[-1])

    low, high = 0, len(gram)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_definite(middle) else (low, middle - 1)
    return low


def definite_bound(eigenvalues: ArrayLike, epsilon: float = 0.0) -> float:
    """Return the number of rows up to which the best-fit linear kernel is definite in theory.

    The bound holds for normally distributed rows (Liu et al., 2022, Theorem 1). It is far below the
    numbers that are observed in practice.

    Parameters
    ----------
    eigenvalues : array-like of shape (m,)
        Eigenvalues of the covariance of the features.
    epsilon : float, default=0.0
        Number between 0 and 1; 0 has the largest bound.

    Returns
    -------
    float
        The bound; 0.0 if the theorem's assumption on the spectrum does not hold.

    Examples
    --------
    >>> round(definite_bound(np.ones(784)), 1)
    5.4
    """
    values = check_array(eigenvalues, ensure_2d=False, dtype=float, input_name="eigenvalues")
    if values.ndim != 1 or len(values) < 2 or (values < 0).any() or not values.any():
        raise ValueError(
            "eigenvalues must be two or more numbers, none negative and not all zero, but have "
            f"shape {values.shape}, minimum {values.min():g} and maximum {values.max():g}"
        )
    check_number(epsilon, "epsilon", low=0, high=1)
    factor = np.log(len(values)) ** ((1 + epsilon) / 2)
    norm = np.linalg.norm(values)
    if norm / values.max() < factor / 2:
        return 0.0
    return float(values.sum() / (2 * norm * factor))
