"""Invariant features: projections on the orbits of random templates, pooled (papers 000, 001)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._dask import is_dask, sampled, transformed
from invarlearn._readable import Readable
from invarlearn.features._projections import TemplateOrbits, pooled
from invarlearn.features.templates import (
    data_templates,
    gaussian_templates,
    local_templates,
    normalized,
    sphere_templates,
)
from invarlearn.transforms import Family, Identity
from invarlearn.transforms._checks import check_generator, check_number
from invarlearn.transforms._threads import slices
from invarlearn.transforms.grid import Grid, as_grid

# Quantiles are taken of about so many projections of each template.
SAMPLE = 20_000

_TEMPLATES = ("auto", "gaussian", "sphere", "local", "data")
_POOLINGS = ("cdf", "histogram", "moments", "max")
_THRESHOLDS = ("quantile", "uniform", "midpoint")
_DTYPES = ("float16", "float32", "float64")


class InvariantFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Readable):
    """How the projections of a row on transformed templates are distributed.

    For each random template t, a row x is projected on every transformation gt of the family; the
    features are the shares of these projections up to each of several thresholds, that is, the
    cumulative distribution of <x, gt> over g. If the family is a group that keeps norms, they do
    not change when x is transformed; otherwise they change little.

    Parameters
    ----------
    family : Family, optional
        What should not matter. It acts on the templates only, never on the data. None: nothing.
    n_templates : int, default=500
    n_bins : int, default=20
        Thresholds of each template; with uniform thresholds there are ``2 n_bins + 1``. For
        ``pooling="moments"``, how many moments.
    templates : {"auto", "gaussian", "sphere", "local", "data"} or array, default="auto"
        "gaussian": N(0, I/d), drawn again if the squared norm is ``1 + epsilon`` or more.
        "sphere": uniform on the unit sphere. "local": smooth noise under a Gaussian window at a
        random place of the image. "data": training rows less their mean, or pieces of them if
        ``envelope`` is given. An array has a template in each row. "auto": local for images and
        spectrograms, Gaussian otherwise.
    thresholds : {"quantile", "uniform", "midpoint"}, default="quantile"
        "quantile": of the projections of the training rows on each template. "uniform": the
        paper's, ``s k / n_bins`` for k from ``-n_bins`` to ``n_bins``. "midpoint": halfway between
        those, which removes a bias of s / (2 n_bins) from inner products.
    pooling : {"cdf", "histogram", "moments", "max"}, default="cdf"
        "histogram": shares between thresholds. "moments": the mean and the roots of central
        moments. "max": the largest projection.
    n_elements : int, optional
        Draw so many random elements of the family; None: all that it lists.
    s : float, optional
        Uniform thresholds lie between -s and s. None: ``1 + epsilon`` times the largest norm of a
        training row.
    epsilon : float, default=0.1
    envelope : float or pair of floats, optional
        Standard deviation of the window of local templates, in pixels. None: an eighth of each
        side for "local".
    blur : float, default=0.8
        Of the noise in local templates, in pixels.
    normalize : bool, default=False
        Whether rows are divided by their norms first.
    dtype : {"float32", "float64", "float16"}, default="float32"
        Of the result. Computed in double precision for "float64", in single otherwise.
    random_state : int, RandomState or None

    Attributes
    ----------
    templates_ : array of shape (n_templates, n_features)
    thresholds_ : array of shape (n_templates, thresholds)
    scale_ : float
        What shares are multiplied with, so that inner products approximate a kernel: with
        Gaussian templates and uniform thresholds exactly the feature map of paper 000.
    s_ : float
        Of uniform thresholds.
    n_features_in_ : int

    See Also
    --------
    invarlearn.features.theory : the kernel that inner products of features tend to.

    References
    ----------
    Mroueh, Voinea and Poggio, Learning with group invariant features: a kernel perspective (2015).

    Examples
    --------
    >>> from invarlearn.transforms import CyclicShift
    >>> X = np.random.RandomState(0).rand(20, 8)
    >>> features = InvariantFeatures(CyclicShift(), n_templates=5, n_bins=4, random_state=0).fit(X)
    >>> features.transform(X).shape
    (20, 20)
    >>> bool(np.allclose(features.transform(X), features.transform(np.roll(X, 3, axis=1))))
    True
    """

    def __init__(
        self,
        family: Family | None = None,
        n_templates: int = 500,
        n_bins: int = 20,
        templates: Any = "auto",
        thresholds: str = "quantile",
        pooling: str = "cdf",
        n_elements: int | None = None,
        s: float | None = None,
        epsilon: float = 0.1,
        envelope: float | Sequence[float] | None = None,
        blur: float = 0.8,
        normalize: bool = False,
        dtype: DTypeLike = "float32",
        random_state: Any = None,
    ):
        self.family = family
        self.n_templates = n_templates
        self.n_bins = n_bins
        self.templates = templates
        self.thresholds = thresholds
        self.pooling = pooling
        self.n_elements = n_elements
        self.s = s
        self.epsilon = epsilon
        self.envelope = envelope
        self.blur = blur
        self.normalize = normalize
        self.dtype = dtype
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> InvariantFeatures:
        """Draw the templates, and place the thresholds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            A sample of the rows is enough; of a Dask array one is drawn from up to 16 blocks.
        y : ignored
        """
        if is_dask(X):
            X = sampled(X, 1000)
        self._check_parameters()
        X = validate_data(self, X, accept_sparse="csr", dtype=self._accepted())
        rng = check_generator(self.random_state)
        d = X.shape[1]
        family = self._family()
        family.resolve_shape(d)
        self._pooling, self._placed = self.pooling, self.thresholds
        self._normalize, self._kind = bool(self.normalize), self._template_kind()
        self.templates_ = self._drawn_templates(X, rng)
        if not self.templates_.any():
            raise ValueError("all templates are zero: templates='data' needs rows that differ")
        self._orbits = TemplateOrbits(self.templates_, self._action(d, rng))
        self.s_ = self._range(X)
        thresholds = self._placed_thresholds(X, rng)
        self.thresholds_ = np.asarray(thresholds, dtype=self._precision())
        self._width = self._n_values()
        self.scale_ = self._scale()
        return self

    def transform(self, X: ArrayLike, out: NDArray | None = None) -> NDArray:
        """Give the features of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Or a Dask array or dataframe, which gives a Dask array.
        out : array of shape (n_samples, n_features_out), optional
            Where to put them, such as a memory map, in any floating precision.

        Returns
        -------
        array of shape (n_samples, n_features_out)
            Features of the first template, then of the second; ``out`` if it was given.
        """
        check_is_fitted(self)
        if is_dask(X):
            return transformed(X, self, self._n_features_out, self.dtype)
        X = validate_data(self, X, accept_sparse="csr", dtype=self._accepted(), reset=False)
        shape = (X.shape[0], self._n_features_out)
        if out is None:
            out = np.empty(shape, dtype=self.dtype)
        elif out.shape != shape or not out.flags.c_contiguous or out.dtype.kind != "f":
            raise ValueError(
                f"out must be a contiguous array of shape {shape} and floating numbers, not "
                f"{out.dtype} of shape {out.shape}"
            )
        m = len(self.templates_)
        pooled(
            X,
            self._orbits,
            self.thresholds_,
            self._pool(),
            out.reshape(len(out), m, self._width),
            self.thresholds_.dtype.type(self.scale_),
            self._prepared,
        )
        return out

    @property
    def _n_features_out(self) -> int:
        return len(self.templates_) * self._width

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    # -- fitting -------------------------------------------------------------------------------

    def _family(self) -> Family:
        return Identity() if self.family is None else clone(self.family)

    def _action(self, d: int, rng: np.random.RandomState) -> Any:
        family = self._family()
        if self.n_elements is not None:
            return family._drawn(int(self.n_elements), rng, d)
        if not np.isfinite(family._size(d)):
            raise ValueError(
                f"the elements of {family!r} cannot be listed: set n_elements, to draw some"
            )
        return family._listed(d)

    def _template_kind(self) -> str:
        """Say which templates are meant; "given" for an array."""
        if not isinstance(self.templates, str):
            return "given"
        if self.templates != "auto":
            return self.templates
        return "local" if self._family().domain in ("image", "spectrogram") else "gaussian"

    def _accepted(self) -> list[Any]:
        """Give the precisions that rows are taken in; others become the first."""
        single = self._precision() == np.float32
        return [np.float32, np.float64] if single else [np.float64, np.float32]

    def _drawn_templates(self, X: Any, rng: np.random.RandomState) -> NDArray:
        d, m, precision = X.shape[1], int(self.n_templates), self._precision()
        if not isinstance(self.templates, str):
            templates = check_array(
                self.templates, dtype=precision, copy=True, input_name="templates"
            )
            if templates.shape[1] != d:
                raise ValueError(
                    f"templates have {templates.shape[1]} features, but X has {d}: they must agree"
                )
            return templates
        kind = self._template_kind()
        if kind == "gaussian":
            templates = gaussian_templates(m, d, float(self.epsilon), rng)
        elif kind == "sphere":
            templates = sphere_templates(m, d, rng)
        elif kind == "local":
            grid = self._grid(d)
            blur = check_number(self.blur, "blur", low=0)
            templates = local_templates(m, grid, self._envelope(grid), blur, rng)
        else:
            most = max(m, 1000)
            rows = X[np.sort(rng.permutation(X.shape[0])[:most])]
            rows = rows.toarray() if issparse(rows) else rows
            grid = self._grid(d) if self.envelope is not None else None
            envelope = None if grid is None else self._envelope(grid)
            templates = data_templates(m, rows, grid, envelope, rng)
        return templates.astype(precision)

    def _grid(self, d: int) -> Grid:
        shape = self._family().resolve_shape(d)
        return (1, shape[0], 1) if len(shape) == 1 else as_grid(shape)

    def _envelope(self, grid: Grid) -> tuple[float, float]:
        if self.envelope is None:
            return (grid[0] / 8, grid[1] / 8)
        sigmas = np.broadcast_to(np.asarray(self.envelope, dtype=float), 2)
        return (
            check_number(float(sigmas[0]), "envelope", low=np.finfo(float).tiny),
            check_number(float(sigmas[1]), "envelope", low=np.finfo(float).tiny),
        )

    def _range(self, X: Any) -> float:
        if self.s is not None:
            return check_number(self.s, "s", low=np.finfo(float).tiny)
        epsilon = check_number(self.epsilon, "epsilon", low=0)
        if self.normalize:
            return 1 + epsilon
        squares = X.multiply(X).sum(axis=1) if issparse(X) else np.einsum("nd,nd->n", X, X)
        largest = float(np.sqrt(np.max(squares)))
        return (1 + epsilon) * (largest if largest > 0 else 1.0)

    def _placed_thresholds(self, X: Any, rng: np.random.RandomState) -> NDArray:
        m, n = len(self.templates_), int(self.n_bins)
        if self.pooling in ("moments", "max"):
            return np.zeros((m, 0))
        if self.thresholds == "uniform":
            return np.tile(self.s_ * np.arange(-n, n + 1) / n, (m, 1))
        if self.thresholds == "midpoint":
            return np.tile(self.s_ * (np.arange(-n, n) + 0.5) / n, (m, 1))
        count = n if self.pooling == "cdf" else n - 1
        levels = (np.arange(count) + 1) / (count + 1)
        most = max(50, SAMPLE // len(self._orbits.action))
        most = min(most, 1000 if X.shape[1] > 1000 else most)
        chosen = rng.permutation(X.shape[0])[:most]
        rows = X[np.sort(chosen)]
        rows = rows.toarray() if issparse(rows) else rows
        rows = self._prepared(rows.astype(self._precision()))
        thresholds = np.empty((m, count))
        for some, orbits in self._orbits.blocks(self._precision()):
            k = len(orbits) // (some.stop - some.start)
            for few in slices(some.stop - some.start, 2**24 // (k * len(rows))):
                fits = orbits[few.start * k : few.stop * k] @ rows.T
                found = [quantiles(row.ravel(), levels) for row in np.split(fits, len(fits) // k)]
                thresholds[some.start + few.start : some.start + few.stop] = found
        return thresholds

    def _n_values(self) -> int:
        n_thresholds = self.thresholds_.shape[1]
        return {
            "cdf": n_thresholds,
            "histogram": n_thresholds + 1,
            "moments": int(self.n_bins),
            "max": 1,
        }[self.pooling]

    def _scale(self) -> float:
        m = len(self.templates_)
        if self.thresholds != "quantile" and self.pooling in ("cdf", "histogram"):
            return float(np.sqrt(self.s_ / (int(self.n_bins) * m)))
        return float(1 / np.sqrt(self._width * m))

    # -- transforming --------------------------------------------------------------------------

    def _precision(self) -> Any:
        return np.float64 if np.dtype(self.dtype) == np.float64 else np.float32

    def _prepared(self, rows: NDArray) -> NDArray:
        if not np.isfinite(rows).all():
            raise ValueError(
                f"rows are too large for {rows.dtype}: scale them, or choose dtype='float64'"
            )
        return normalized(rows) if self._normalize else rows

    def _pool(self) -> Any:
        from invarlearn.features import _pooling

        return getattr(_pooling, f"pool_{self._pooling}")

    def _check_parameters(self) -> None:
        if self.family is not None and not isinstance(self.family, Family):
            raise TypeError(
                f"family={self.family!r} is not a Family: build one from invarlearn.transforms "
                "(a * b does both, a | b one or the other)"
            )
        check_number(self.n_templates, "n_templates", low=1, whole=True)
        check_number(self.n_bins, "n_bins", low=1, whole=True)
        if self.n_elements is not None:
            check_number(self.n_elements, "n_elements", low=1, whole=True)
        choices = (
            ("templates", _TEMPLATES),
            ("pooling", _POOLINGS),
            ("thresholds", _THRESHOLDS),
        )
        for name, known in choices:
            value = getattr(self, name)
            given = name == "templates" and not isinstance(value, str)
            if not given and value not in known:
                raise ValueError(f"{name}={value!r} is unknown: choose one of {', '.join(known)}")
        try:
            known_dtype = np.dtype(self.dtype).name in _DTYPES
        except TypeError:
            known_dtype = False
        if not known_dtype:
            raise ValueError(f"dtype={self.dtype!r} must be one of {', '.join(_DTYPES)}")
        if self.pooling == "histogram" and self.thresholds == "quantile" and self.n_bins < 2:
            raise ValueError("n_bins=1 makes a histogram of one bin: choose 2 or more")


def quantiles(values: NDArray, levels: NDArray) -> NDArray:
    """Give quantiles that lie between two different values, so that rounding cannot cross them."""
    values = np.sort(values).astype(float)
    gap = 1e-5 * max(abs(values[0]), abs(values[-1]), np.finfo(float).tiny)
    below = values[np.ceil(levels * len(values)).astype(int) - 1]
    after = np.searchsorted(values, below + gap)
    above = np.where(after < len(values), values[np.minimum(after, len(values) - 1)], below + gap)
    return (below + above) / 2
