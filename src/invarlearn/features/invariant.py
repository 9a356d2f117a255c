"""Invariant features: pooled projections on the orbits of random templates."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._utils.dask import is_dask, sampled, transformed
from invarlearn._utils.repr import ReprMixin
from invarlearn._utils.validation import check_choice, check_generator, check_number
from invarlearn.features.pooling import PROJECTION_POOLINGS
from invarlearn.features.projections import PooledProjections, TemplateOrbits, prepare_rows
from invarlearn.features.templates import TEMPLATES_OF_DOMAIN, TemplateSampler
from invarlearn.features.thresholds import (
    midpoint_thresholds,
    quantile_thresholds,
    uniform_thresholds,
)
from invarlearn.transforms import Family, Identity
from invarlearn.transforms.grid import Grid, as_grid

_TEMPLATES = ("auto", "gaussian", "sphere", "local", "data")
_THRESHOLDS = ("quantile", "uniform", "midpoint")
_DTYPES = ("float16", "float32", "float64")


class InvariantFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ReprMixin):
    r"""Distributions of the projections of a row on transformed templates.

    With m random templates :math:`t_j`, k elements :math:`g_i` of the family and thresholds
    :math:`\tau_{jb}`, the features of a row x are the empirical distribution functions of its
    projections,

    .. math:: z_{jb}(x) = c \, \frac{1}{k} \, \#\{i : \langle x, g_i t_j \rangle \le \tau_{jb}\},

    or another pooling of the k projections on each template. The family acts on the templates only,
    never on the data. If it is a group that preserves norms, then z(gx) = z(x) for each of its
    elements; otherwise z is approximately invariant.

    Parameters
    ----------
    family : Family, optional
        Transformations to which features are invariant. None: only the identity.
    n_templates : int, default=500
        Number m of templates.
    n_bins : int, default=20
        Number of quantile thresholds of each template. There are ``2 n_bins + 1`` uniform
        thresholds and ``2 n_bins`` midpoints. With ``pooling="moments"``, the number of moments.
    templates : {"auto", "gaussian", "sphere", "local", "data"} or array, default="auto"
        - "gaussian": N(0, I/d), drawn again if the squared norm is ``1 + epsilon`` or more.
        - "sphere": uniform on the unit sphere.
        - "local": smooth noise under a Gaussian window at a random position of the image.
        - "data": centred training rows; with ``envelope``, under windows as in "local".
        - array of shape (n_templates, n_features): these templates.
        - "auto": "local" for images and spectrograms, "gaussian" for all other domains.
    thresholds : {"quantile", "uniform", "midpoint"}, default="quantile"
        - "quantile": of the projections of training rows on each template.
        - "uniform": ``s k / n_bins`` for k from ``-n_bins`` to ``n_bins``, as in Mroueh et al.
        - "midpoint": halfway between uniform thresholds, which removes a bias of
          ``s / (2 n_bins)`` from inner products.
    pooling : {"cdf", "histogram", "moments", "max"}, default="cdf"
        - "cdf": the proportion of projections up to each threshold.
        - "histogram": the proportion between neighbouring thresholds, and beyond both ends.
        - "moments": the mean, and roots of the central moments from the second on.
        - "max": the largest projection.
    n_elements : int, optional
        Number of random elements of the family to use. None: use all elements that it lists.
    s : float, optional
        Range of uniform thresholds, from -s to s. None: ``1 + epsilon`` times the largest norm of a
        training row.
    epsilon : float, default=0.1
        Squared norms of Gaussian templates are less than ``1 + epsilon``. It also determines the
        default of ``s``.
    envelope : float or pair of floats, optional
        Standard deviation of the windows of templates, in pixels. None: an eighth of each side for
        "local", no windows for "data".
    blur : float, default=0.8
        Standard deviation, in pixels, of the Gaussian that smooths the noise of local templates.
    normalize : bool, default=False
        Whether to divide rows by their norms first.
    dtype : {"float32", "float64", "float16"}, default="float32"
        Dtype of the result. "float64" is computed in double precision, the others in single
        precision.
    n_projections : int, default=20000
        Approximate number of projections on each template from which quantile thresholds are
        computed. At least 50 training rows are used.
    random_state : int, RandomState or None
        Seed of templates, random elements and the rows for quantiles.

    Attributes
    ----------
    templates_ : array of shape (n_templates, n_features)
        Templates.
    thresholds_ : array of shape (n_templates, n_thresholds)
        Thresholds; the poolings "moments" and "max" have none.
    scale_ : float
        Constant c. With uniform thresholds it is the square root of ``s / (n_bins m)``, so that
        inner products of features approximate a kernel. Otherwise it is the inverse square root of
        the number of features.
    s_ : float
        Range of uniform thresholds.
    family_ : Family
        Clone of the family; the identity without a family.
    sampler_ : TemplateSampler or None
        Distribution of the templates; None if they were passed as an array.
    projections_ : PooledProjections
        Fitted map: orbits of templates, thresholds and pooling.
    n_features_in_ : int

    See Also
    --------
    invarlearn.features.theory : The kernel that inner products of features converge to.

    References
    ----------
    Mroueh, Voinea and Poggio, Learning with group invariant features: a kernel perspective (2015):
    with Gaussian templates and uniform thresholds, z is the feature map Phi of its section 2.

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
        n_projections: int = 20_000,
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
        self.n_projections = n_projections
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None) -> InvariantFeatures:
        """Draw the templates and compute the thresholds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows; a subset is enough. From a Dask array, about 1,000 rows in up to 16
            blocks are sampled.
        y : ignored

        Returns
        -------
        self
        """
        if is_dask(X):
            X = sampled(X, 1000)
        self._check_parameters()
        X = validate_data(self, X, accept_sparse="csr", dtype=self._input_dtypes())
        rng = check_generator(self.random_state)
        self.family_ = Identity() if self.family is None else clone(self.family)
        self.family_.resolve_shape(X.shape[1])
        self.sampler_ = self._template_sampler(X.shape[1])
        self.templates_ = self._draw_templates(X, rng)
        orbits = TemplateOrbits(self.templates_, self._action(X.shape[1], rng))
        self.s_ = self._range(X)
        self.thresholds_ = self._place_thresholds(X, orbits, rng).astype(self._precision())
        n_values = PROJECTION_POOLINGS[self.pooling].count(
            self.thresholds_.shape[1], int(self.n_bins)
        )
        self.scale_ = self._scale(n_values)
        self.projections_ = PooledProjections(
            orbits=orbits,
            thresholds=self.thresholds_,
            placement=self.thresholds,
            pooling=self.pooling,
            n_values=n_values,
            scale=self.scale_,
            normalize=bool(self.normalize),
        )
        return self

    def transform(self, X: ArrayLike, out: NDArray | None = None) -> NDArray:
        """Compute the features of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows. For a Dask array or dataframe, the result is a Dask array.
        out : array of shape (n_samples, n_features_out), optional
            Array that receives the features, of any floating-point dtype, such as a memory map.

        Returns
        -------
        array of shape (n_samples, n_features_out)
            The features of the first template, then those of the second; ``out`` if it was passed.
        """
        check_is_fitted(self)
        if is_dask(X):
            return transformed(X, self, self._n_features_out, self.dtype)
        X = validate_data(self, X, accept_sparse="csr", dtype=self._input_dtypes(), reset=False)
        shape = (X.shape[0], self._n_features_out)
        if out is None:
            out = np.empty(shape, dtype=self.dtype)
        elif out.shape != shape or not out.flags.c_contiguous or out.dtype.kind != "f":
            raise ValueError(
                f"out must be a C-contiguous array of shape {shape} and a floating-point dtype, "
                f"not an array of shape {out.shape} and dtype {out.dtype}"
            )
        self.projections_.transform(X, out)
        return out

    @property
    def _n_features_out(self) -> int:
        return self.projections_.n_features_out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _precision(self) -> Any:
        return np.float64 if np.dtype(self.dtype) == np.float64 else np.float32

    def _input_dtypes(self) -> list[Any]:
        """Return the allowed dtypes of rows; other dtypes are converted to the first."""
        single = self._precision() == np.float32
        return [np.float32, np.float64] if single else [np.float64, np.float32]

    def _action(self, d: int, rng: np.random.RandomState) -> Any:
        if self.n_elements is not None:
            return self.family_.draw(int(self.n_elements), rng, d)
        if not np.isfinite(self.family_.size(d)):
            raise ValueError(
                f"the elements of {self.family_!r} cannot be listed: set n_elements to the number "
                "of random elements to draw"
            )
        return self.family_.elements(d)

    def _template_sampler(self, d: int) -> TemplateSampler | None:
        if not isinstance(self.templates, str):
            return None
        kind = self.templates
        if kind == "auto":
            domain = self.family_.domain
            if domain not in TEMPLATES_OF_DOMAIN:
                warnings.warn(
                    f"templates='auto' has no default for the domain {str(domain)!r} of "
                    f"{self.family_!r}, so that Gaussian templates are used. Set templates, such "
                    "as 'local' for rows with the axes of an image",
                    stacklevel=3,
                )
            kind = TEMPLATES_OF_DOMAIN.get(domain, "gaussian")
        blur, epsilon = float(self.blur), float(self.epsilon)
        if kind == "local":
            check_number(self.blur, "blur", low=0)
        elif kind != "data" or self.envelope is None:
            return TemplateSampler(kind, epsilon, blur=blur)
        grid = self._grid(d)
        return TemplateSampler(kind, epsilon, grid, self._envelope(grid), blur)

    def _draw_templates(self, X: Any, rng: np.random.RandomState) -> NDArray:
        precision = self._precision()
        if self.sampler_ is None:
            templates = check_array(
                self.templates, dtype=precision, copy=True, input_name="templates"
            )
            if templates.shape[1] != X.shape[1]:
                raise ValueError(
                    f"templates have {templates.shape[1]} features, but X has {X.shape[1]}: they "
                    "must agree"
                )
        else:
            templates = self.sampler_.draw(int(self.n_templates), X, rng).astype(precision)
        if not templates.any():
            raise ValueError(
                "all templates are zero: pass training rows that differ, or choose other templates"
            )
        return templates

    def _grid(self, d: int) -> Grid:
        shape = self.family_.resolve_shape(d)
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

    def _place_thresholds(
        self, X: Any, orbits: TemplateOrbits, rng: np.random.RandomState
    ) -> NDArray:
        m, n_bins = len(self.templates_), int(self.n_bins)
        if not PROJECTION_POOLINGS[self.pooling].has_thresholds:
            return np.zeros((m, 0))
        if self.thresholds == "uniform":
            return uniform_thresholds(self.s_, n_bins, m)
        if self.thresholds == "midpoint":
            return midpoint_thresholds(self.s_, n_bins, m)
        n_rows = max(50, int(self.n_projections) // len(orbits.action))
        n_rows = min(n_rows, 1000) if X.shape[1] > 1000 else n_rows
        rows = X[np.sort(rng.permutation(X.shape[0])[:n_rows])]
        rows = (rows.toarray() if issparse(rows) else rows).astype(self._precision())
        # a histogram has one bin more than thresholds
        n_thresholds = n_bins if self.pooling == "cdf" else n_bins - 1
        return quantile_thresholds(prepare_rows(rows, bool(self.normalize)), orbits, n_thresholds)

    def _scale(self, n_values: int) -> float:
        m = len(self.templates_)
        if self.thresholds != "quantile" and PROJECTION_POOLINGS[self.pooling].has_thresholds:
            return float(np.sqrt(self.s_ / (int(self.n_bins) * m)))
        return float(1 / np.sqrt(n_values * m))

    def _check_parameters(self) -> None:
        if self.family is not None and not isinstance(self.family, Family):
            raise TypeError(
                f"family={self.family!r} is not a Family: pass one from invarlearn.transforms, or "
                "a product a * b or union a | b of families"
            )
        check_number(self.n_templates, "n_templates", low=1, whole=True)
        check_number(self.n_bins, "n_bins", low=1, whole=True)
        check_number(self.n_projections, "n_projections", low=1, whole=True)
        if self.n_elements is not None:
            check_number(self.n_elements, "n_elements", low=1, whole=True)
        choices: tuple[tuple[str, Sequence[str]], ...] = (
            ("templates", _TEMPLATES),
            ("pooling", tuple(PROJECTION_POOLINGS)),
            ("thresholds", _THRESHOLDS),
        )
        for name, allowed in choices:
            value = getattr(self, name)
            is_array = name == "templates" and not isinstance(value, str)
            if not is_array:
                check_choice(value, allowed, name)
        try:
            is_supported = np.dtype(self.dtype).name in _DTYPES
        except TypeError:
            is_supported = False
        if not is_supported:
            raise ValueError(f"dtype={self.dtype!r} must be one of {', '.join(_DTYPES)}")
        if self.pooling == "histogram" and self.thresholds == "quantile" and self.n_bins < 2:
            raise ValueError("n_bins=1 is a histogram of one bin: choose n_bins=2 or more")
