"""Base kernels, with the derivatives that functionals need.

Every base kernel is a profile f of one number for each pair of rows: of the inner product
(``Linear``, ``Polynomial``) or of the squared distance (``RBF``). Values and derivatives along
given directions then need nothing but matrix products.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.utils import check_array

from invarlearn._readable import Readable
from invarlearn.transforms._checks import check_number

Rows = NDArray[np.floating]


class Kernel(Readable, gaussian_process.Kernel):
    """A similarity of rows.

    ``kernel(X, Y)`` gives the Gram matrix, (n, m), in the precision of the rows; ``Y=None`` means
    X. Kernels are scikit-learn objects with parameters, and kernels of scikit-learn: pass them as
    ``kernel`` to SVC, KernelRidge, KernelPCA or a Gaussian process. None of their parameters is
    fitted there.

    Attributes
    ----------
    is_definite : bool
        Whether every Gram matrix is positive semidefinite.
    """

    is_definite: bool = True

    # as a kernel of scikit-learn: no number that a Gaussian process may change, and two kernels
    # are one if they are the same object
    hyperparameters: Any = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def is_stationary(self) -> bool:
        """Tell scikit-learn that values depend on more than differences of rows."""
        return False

    def __call__(
        self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False
    ) -> Any:
        """Give the Gram matrix, (n, m).

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        Y : array-like of shape (m, n_features), optional
            None: X.
        eval_gradient : bool, default=False
            Asked for by Gaussian processes: give also the derivative by the parameters that they
            may fit, of which there are none, (n, n, 0).
        """
        values = self._values(X, Y)
        return (values, np.empty((*values.shape, 0))) if eval_gradient else values

    @abstractmethod
    def _values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        """Give the Gram matrix; subclasses provide this."""
        raise NotImplementedError

    @abstractmethod
    def diag(self, X: ArrayLike) -> Rows:
        """Give k(x, x) for each row, (n,)."""
        raise NotImplementedError


class ProfileKernel(Kernel):
    """Kernels that are a profile of one number for each pair of rows.

    Subclasses give ``profile``: f and its first two derivatives at an array of numbers.
    """

    @abstractmethod
    def profile(self, s: Rows, order: int) -> Rows:
        """Give the derivative of this order (0, 1 or 2) of the profile at every entry of s."""
        raise NotImplementedError

    @abstractmethod
    def gradient(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike) -> Rows:
        """Give the derivative of k(x, y) as x moves along its direction v.

        Parameters
        ----------
        X, V : arrays of shape (n, d)
            Rows, and a direction for each.
        Y : array of shape (m, d)

        Returns
        -------
        array of shape (n, m)
            The value of the derivative functional of (x, v) on k(y, .).
        """
        raise NotImplementedError

    @abstractmethod
    def mixed(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike, W: ArrayLike) -> Rows:
        """Give the second derivative of k(x, y) as x moves along v and y along w.

        Parameters
        ----------
        X, V : arrays of shape (n, d)
        Y, W : arrays of shape (m, d)

        Returns
        -------
        array of shape (n, m)
            The inner product of the representers of both derivative functionals.
        """
        raise NotImplementedError


class DotKernel(ProfileKernel):
    """k(x, y) = f(<x, y>).

    Subclasses give ``profile(s, order)``: f, or its first or second derivative, at an array of
    inner products.
    """

    def _values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        X, Y = check_pair(X, Y)
        return check_finite(self.profile(X @ Y.T, 0))

    def diag(self, X: ArrayLike) -> Rows:
        X, _ = check_pair(X, None)
        return self.profile(np.einsum("nd,nd->n", X, X), 0)

    def gradient(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike) -> Rows:
        X, Y = check_pair(X, Y)
        V = check_directions(V, X)
        return self.profile(X @ Y.T, 1) * (V @ Y.T)

    def mixed(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike, W: ArrayLike) -> Rows:
        X, Y = check_pair(X, Y)
        V, W = check_directions(V, X), check_directions(W, Y)
        s = X @ Y.T
        return self.profile(s, 2) * (V @ Y.T) * (X @ W.T) + self.profile(s, 1) * (V @ W.T)


class Linear(DotKernel):
    """The inner product, times ``gamma``.

    Parameters
    ----------
    gamma : float, default=1.0
        ``1 / n_features`` gives the normalised linear kernel of paper 003.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma

    def profile(self, s: Rows, order: int) -> Rows:
        gamma = s.dtype.type(check_number(self.gamma, "gamma", low=0))
        return gamma * s if order == 0 else np.full_like(s, gamma if order == 1 else 0.0)


class Polynomial(DotKernel):
    """A power of the inner product, ``(gamma <x, y> + coef0) ** degree``.

    Parameters
    ----------
    degree : int, default=3
    gamma : float, default=1.0
    coef0 : float, default=1.0
        Zero or more, so that the kernel is positive semidefinite.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    def __init__(self, degree: int = 3, gamma: float = 1.0, coef0: float = 1.0):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def profile(self, s: Rows, order: int) -> Rows:
        degree = int(check_number(self.degree, "degree", low=1, whole=True))
        gamma = check_number(self.gamma, "gamma", low=0)
        coef0 = check_number(self.coef0, "coef0", low=0)
        if order > degree:
            return np.zeros_like(s)
        base = s * s.dtype.type(gamma) + s.dtype.type(coef0)
        factor = np.prod([degree - i for i in range(order)]) * gamma**order
        return s.dtype.type(factor) * base ** (degree - order)


class RBF(ProfileKernel):
    """The Gaussian ``exp(-gamma |x - y|^2)``, where gamma is 1 / (2 sigma^2).

    Parameters
    ----------
    gamma : float, default=1.0

    Examples
    --------
    >>> RBF(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma

    def profile(self, s: Rows, order: int) -> Rows:
        gamma = check_number(self.gamma, "gamma", low=0)
        return s.dtype.type((-gamma) ** order) * np.exp(s.dtype.type(-gamma) * s)

    def _values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        X, other = check_pair(X, Y)
        values = self.profile(squared_distances(X, other), 0)
        if X is other:
            np.fill_diagonal(values, 1.0)
        return values

    def diag(self, X: ArrayLike) -> Rows:
        X, _ = check_pair(X, None)
        return self.profile(np.zeros(len(X), dtype=X.dtype), 0)

    def gradient(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike) -> Rows:
        X, Y = check_pair(X, Y)
        V = check_directions(V, X)
        return 2 * self.profile(squared_distances(X, Y), 1) * along(V, X, Y)

    def mixed(self, X: ArrayLike, Y: ArrayLike, V: ArrayLike, W: ArrayLike) -> Rows:
        X, Y = check_pair(X, Y)
        V, W = check_directions(V, X), check_directions(W, Y)
        s = squared_distances(X, Y)
        # d/dx of s is 2 (x - y) and d/dy its negative
        both = along(V, X, Y) * along(W, Y, X).T
        return 4 * self.profile(s, 2) * both - 2 * self.profile(s, 1) * (V @ W.T)


def squared_distances(X: Rows, Y: Rows) -> Rows:
    """Give |x - y|^2 for all pairs, computed about the mean of Y and in double precision."""
    origin = Y.mean(axis=0, dtype=float)
    x, y = X - origin, Y - origin
    squared = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * (x @ y.T)
    return np.maximum(squared, 0).astype(X.dtype)


def along(V: Rows, X: Rows, Y: Rows) -> Rows:
    """Give v . (x - y) for all pairs: (n, m)."""
    return np.einsum("nd,nd->n", V, X)[:, None] - V @ Y.T


def check_pair(X: ArrayLike, Y: ArrayLike | None) -> tuple[Any, Any]:
    """Validate rows on both sides, and bring them to one precision."""
    rows = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    if Y is None or Y is X:
        return rows, rows
    X = rows
    Y = check_array(Y, dtype=[np.float64, np.float32], input_name="Y")
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features and Y has {Y.shape[1]}: they must agree")
    precision = np.result_type(X, Y)
    return X.astype(precision, copy=False), Y.astype(precision, copy=False)


def check_directions(V: ArrayLike, X: Rows) -> Any:
    """Validate a direction for each row."""
    V = check_array(V, dtype=X.dtype, input_name="directions")
    if V.shape != X.shape:
        raise ValueError(f"directions have shape {V.shape}; for these rows it must be {X.shape}")
    return V


def check_finite(values: Rows) -> Rows:
    """Refuse kernel values that left the range of their precision."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"kernel values are too large for {values.dtype}: scale the rows or gamma down, lower "
            "the degree, or pass float64"
        )
    return values
