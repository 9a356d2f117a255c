"""Polynomial trajectories: smooth curves through a row, with an exact worst case."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from invarlearn._utils.validation import Shape, check_memory, check_number, check_score
from invarlearn.transforms.actions import Action, Functions, Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.domains import Domain
from invarlearn.transforms.images import Rotation


class PointOfTrajectory:
    """A function of rows that moves them to one point of one of their trajectories.

    Parameters
    ----------
    trajectory : PolynomialTrajectory
    direction : int
    t : float
    """

    def __init__(self, trajectory: PolynomialTrajectory, direction: int, t: float):
        self.trajectory = trajectory
        self.direction = direction
        self.t = t

    def __call__(self, X: Rows) -> Rows:
        coefficients = self.trajectory.coefficients(X)[:, self.direction]
        powers = self.t ** np.arange(1, coefficients.shape[1] + 1)
        return np.asarray(X + np.einsum("nkd,k->nd", coefficients, powers), dtype=X.dtype)


class PolynomialTrajectory(Family):
    r"""Polynomials in one parameter that follow a family (Graepel and Herbrich, 2004).

    The elements map x to :math:`x + \sum_{k=1}^r c_k(x) t^k` for any t from ``-extent`` to
    ``extent``; there is one such trajectory for each tangent direction of a family. Its
    coefficients are those of the polynomial that agrees best with ``family.flow`` at equally spaced
    points, exactly for even degrees. The elements cannot be listed. A linear score is a polynomial
    in t, whose minimum is at an end or at a root of its derivative: the worst case over all t is
    exact. :class:`~invarlearn.WorstCaseLinearSVC` with this family is therefore the semidefinite
    program of Graepel and Herbrich, a special case of Teo et al. (2007, section 4). The family is
    neither unitary nor a group.

    Parameters
    ----------
    family : Family
        A family with tangent directions.
    degree : int, default=2
        Degree r of the polynomials.
    extent : float, default=0.2
        Largest absolute value of t, in the units of ``family.flow``: pixels, radians, or logarithms
        of factors.

    References
    ----------
    Graepel and Herbrich, Invariant pattern recognition by semidefinite programming machines (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn.transforms import Custom
    >>> family = PolynomialTrajectory(Custom([np.square]), degree=1, extent=0.5)
    >>> # from (2, 1) to (2, 1) + t (2, 0), with t = -0.5
    >>> family.worst_case([[2.0, 1.0]], w=[1.0, 0.0])
    (array([[1., 1.]]), array([1.]))
    """

    # without a name in specifications, which cannot contain another family
    spec_name = ""
    ranges_about_zero = ("extent",)

    def __init__(self, family: Family, degree: int = 2, extent: float = 0.2):
        self.family = family
        self.degree = degree
        self.extent = extent

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(Rotation(15)), cls(Rotation(15), degree=3, extent=0.3)]

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return self._followed.domain

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """Shape of a row, which is that of ``family``."""
        return self._followed.shape

    @property
    def n_directions(self) -> int:
        return self._followed.n_directions

    def resolve_shape(self, n_features: int) -> tuple[int, ...]:
        return self._followed.resolve_shape(n_features)

    def with_shape(self, shape: int | tuple[int, ...]) -> Family:
        return type(self)(self._followed.with_shape(shape), self.degree, self.extent)

    def with_shape_of(self, n_features: int) -> Family:
        return type(self)(self._followed.with_shape_of(n_features), self.degree, self.extent)

    @property
    def _followed(self) -> Family:
        """The validated ``family``."""
        if not isinstance(self.family, Family):
            raise TypeError(
                f"family={self.family!r} is not a Family: build one from invarlearn.transforms"
            )
        return self.family

    def _range(self) -> tuple[int, float]:
        """Return the validated degree and extent."""
        extent = check_number(self.extent, "extent", low=np.finfo(float).tiny)
        return int(check_number(self.degree, "degree", low=1, whole=True)), extent

    def coefficients(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        """Return the coefficients of t, t^2, ..., t^degree.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        smoothing : float, optional
            Standard deviation, in pixels, of the Gaussian that smooths images before ``family``
            moves them. None: 0, no smoothing.

        Returns
        -------
        array of shape (n_samples, n_directions, degree, n_features)
        """
        X = self.validate_rows(X)
        degree, extent = self._range()
        n_sides = -(-degree // 2)
        nodes = np.arange(1, n_sides + 1) / n_sides
        nodes = np.concatenate([-nodes[::-1], nodes])
        fit = np.linalg.pinv(nodes[:, None] ** np.arange(1, degree + 1))
        fit /= extent ** np.arange(1, degree + 1)[:, None]
        bound = self._followed.with_shape_of(X.shape[1])
        shape = (len(X), bound.n_directions, degree, X.shape[1])
        if not shape[1]:
            raise ValueError(f"{self.family!r} has no tangent directions to follow")
        check_memory(shape, X.dtype, "the trajectories", "use fewer rows at a time")
        out = np.zeros(shape, dtype=X.dtype)
        sigma = _resolved(smoothing)
        origin = bound.flow(X, 0.0, sigma) if sigma else X[:, None]
        for node, column in zip(nodes, fit.T, strict=True):
            change = bound.flow(X, float(node * extent), sigma) - origin
            out += change[:, :, None] * column.astype(X.dtype)[:, None]
        return out

    def draw(self, k: int, rng: np.random.RandomState, n_features: int) -> Action:
        _, extent = self._range()
        n_directions = self._followed.with_shape_of(n_features).n_directions
        directions = rng.randint(n_directions, size=k)
        points = rng.uniform(-extent, extent, size=k)
        return Functions(
            [PointOfTrajectory(self, j, t) for j, t in zip(directions, points, strict=True)]
        )

    def flow(self, X: ArrayLike, t: float, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        coefficients = self.coefficients(X, smoothing)
        powers = (t ** np.arange(1, coefficients.shape[2] + 1)).astype(X.dtype)
        origin = self.smooth(X, smoothing)[:, None]
        return origin + np.einsum("njkd,k->njd", coefficients, powers)

    def tangents(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        return self.coefficients(X, smoothing)[:, :, 0]

    def smooth(self, X: ArrayLike, smoothing: float | None = None) -> Rows:
        X = self.validate_rows(X)
        sigma = _resolved(smoothing)
        return self._followed.with_shape_of(X.shape[1]).smooth(X, sigma) if sigma else X

    def worst_case(
        self, X: ArrayLike, w: ArrayLike, sign: ArrayLike | None = None
    ) -> tuple[Any, Rows]:
        """Return, for each row, the point of its trajectories with the least linear score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        w : array-like of shape (n_features,)
            The score of a row is ``row @ w``.
        sign : array-like of shape (n_samples,), optional
            The score is multiplied by it: labels in {-1, 1} make it a margin.

        Returns
        -------
        rows : array of shape (n_samples, n_features)
        scores : array of shape (n_samples,)
            ``sign * (rows @ w)``.
        """
        X = self.validate_rows(X)
        return self._worst_points(X, self.coefficients(X), slice(None), w, sign)

    def prepare_worst_case(self, X: Any) -> Callable[..., tuple[Any, Rows]]:
        """Return :meth:`worst_case` as a function of indices of rows, for many scores.

        The coefficients of the trajectories are computed once, if they fit into scikit-learn's
        ``working_memory``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        callable
            ``search(indices, w, sign)`` returns ``worst_case(X[indices], w, sign)``.
        """
        X = self.validate_rows(X)
        try:
            coefficients = self.coefficients(X)
        except MemoryError:
            return super().prepare_worst_case(X)
        return partial(self._worst_points, X, coefficients)

    def _worst_points(
        self,
        X: Rows,
        coefficients: Rows,
        indices: Any,
        w: ArrayLike,
        sign: ArrayLike | None = None,
    ) -> tuple[Rows, Rows]:
        """Return the worst cases of some of the rows X, whose coefficients are known."""
        X, coefficients = X[indices], coefficients[indices]
        w, signs = check_score(X, w, sign)
        degree, extent = self._range()
        # polynomials of the change of the score, in t / extent: (n, n_directions, degree)
        changes = (coefficients @ w).astype(float) * signs[:, None, None]
        changes *= extent ** np.arange(1, degree + 1)
        places = least_on_interval(changes.reshape(-1, degree)).reshape(changes.shape[:2])
        powers = places[..., None] ** np.arange(1, degree + 1)
        direction = (changes * powers).sum(axis=2).argmin(axis=1)
        each = np.arange(len(X))
        scale = (powers[each, direction] * extent ** np.arange(1, degree + 1)).astype(X.dtype)
        rows = X + np.einsum("nkd,nk->nd", coefficients[each, direction], scale)
        return rows, signs * (rows @ w)


def _resolved(smoothing: float | None) -> float:
    """Return the validated smoothing in pixels, by default 0."""
    return 0.0 if smoothing is None else check_number(smoothing, "smoothing", low=0)


def least_on_interval(coefficients: Rows) -> Rows:
    """Return where polynomials without a constant are smallest on [-1, 1].

    Parameters
    ----------
    coefficients : array of shape (n, degree)
        Those of t, t^2, ..., t^degree.

    Returns
    -------
    array of shape (n,)
    """
    n, degree = coefficients.shape
    candidates = np.zeros((n, degree + 2))
    candidates[:, :2] = -1.0, 1.0
    derivatives = coefficients * np.arange(1, degree + 1)
    if degree == 2:
        slope, curvature = derivatives.T
        # elsewhere the minimum is at an end
        inside = np.abs(slope) < np.abs(curvature)
        candidates[inside, 2] = -slope[inside] / curvature[inside]
    elif degree > 2:
        for i, derivative in enumerate(derivatives):
            roots = np.roots(derivative[::-1])
            # the real part of any root is a valid candidate, since every t is an element
            candidates[i, 2 : 2 + len(roots)] = np.clip(roots.real, -1, 1)
    powers = candidates[..., None] ** np.arange(1, degree + 1)
    values = np.einsum("nck,nk->nc", powers, coefficients)
    return candidates[np.arange(n), values.argmin(axis=1)]
