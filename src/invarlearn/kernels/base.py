"""The base class of kernels, and how estimators resolve their ``kernel`` parameter."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.utils import check_array

from invarlearn._utils.repr import ReprMixin
from invarlearn.kernels.channels import ChannelProducts

Rows = NDArray[np.floating]

_BY_NAME: dict[str, type[Kernel]] = {}
# Parameters of estimators that a kernel given by name can receive.
_NAME_PARAMETERS = {"gamma", "degree", "coef0"}


class Kernel(ReprMixin, gaussian_process.Kernel):
    """Base class of kernels ``k(x, y)``, the similarity of two rows.

    ``kernel(X, Y)`` returns the Gram matrix, of shape (n, m), in the precision of the rows;
    ``Y=None`` means X. Kernels have ``get_params`` and ``set_params``, and can be passed as
    ``kernel`` to scikit-learn's SVC, KernelRidge, KernelPCA and Gaussian processes. Gaussian
    processes do not optimise their parameters.

    Subclasses implement ``values`` and ``diag``. For a function of the inner product or of the
    distance of two rows, subclass :class:`~invarlearn.kernels.DotKernel` or
    :class:`~invarlearn.kernels.RadialKernel` instead, which derive derivatives and fast products
    from the function. Test your kernel with :func:`invarlearn.testing.check_kernel`.

    Attributes
    ----------
    name : str or None
        Name by which estimators accept the kernel, as in ``kernel="rbf"``. Set it in the body of a
        subclass; it is not inherited.
    name_parameters : tuple of str
        Subset of "gamma", "degree" and "coef0" that the estimator passes to a kernel given by name.
    is_definite : bool
        Whether every Gram matrix is positive semidefinite.
    is_orthogonally_invariant : bool
        Whether ``k(Ux, Uy) = k(x, y)`` for every orthogonal matrix U.
    best_at_largest_inner_product : bool
        Whether the best fit over an orbit is taken at the largest inner product, among rows of
        equal norm. ``k(x, y)`` must then not decrease with ``<x, y>`` while ``<x, y>`` is positive.
        Its largest value may be elsewhere in the orbit, at a negative inner product, as for
        polynomials of even degree.
    has_derivatives : bool
        Whether functions in the kernel's space have derivatives, and the kernel has the methods of
        :class:`~invarlearn.kernels.ProfileKernel` that compute them.
    has_expansion : bool
        Whether the kernel has the method ``expansion`` of
        :class:`~invarlearn.kernels.ProfileKernel`, which functionals need.
    profile_orders : float
        Highest order of derivative that ``profile`` computes. Derivatives of order r as functionals
        need 2 r.
    supports_blur : bool
        Whether averages over Gaussians are a factor times another kernel (``blurred``).
    supports_averages : bool
        Whether averages over Gaussians have another closed form (``averages``).
    """

    name: ClassVar[str | None] = None
    name_parameters: ClassVar[tuple[str, ...]] = ("gamma",)
    is_definite: bool = True
    is_orthogonally_invariant: bool = False
    best_at_largest_inner_product: bool = False
    has_derivatives: bool = False
    has_expansion: bool = False
    profile_orders: float = 0
    supports_averages: bool = False
    supports_blur: bool = False

    # the interface of scikit-learn's kernels: no hyperparameters that Gaussian processes optimise,
    # and equality by identity
    hyperparameters: Any = ()
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        name = cls.__dict__.get("name")
        if name is None:
            return
        registered = _BY_NAME.get(name)
        # a class that is defined again, as in notebooks, replaces the registered one
        if registered is not None and registered.__qualname__ != cls.__qualname__:
            raise ValueError(
                f"{cls.__qualname__} has the name {name!r} of {registered.__qualname__}: choose "
                "another name"
            )
        unknown = set(cls.name_parameters) - _NAME_PARAMETERS
        if unknown:
            raise ValueError(
                f"name_parameters of {cls.__qualname__} has {sorted(unknown)}: it may contain "
                f"{sorted(_NAME_PARAMETERS)} only"
            )
        _BY_NAME[name] = cls

    def is_stationary(self) -> bool:
        """Return False: scikit-learn must not assume that the kernel is stationary."""
        return False

    def __call__(
        self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False
    ) -> Any:
        """Compute the Gram matrix.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        Y : array-like of shape (m, n_features), optional
            None: X.
        eval_gradient : bool, default=False
            Whether to return the gradient with respect to the hyperparameters as well, for Gaussian
            processes. There are no hyperparameters, so that its shape is (n, m, 0).

        Returns
        -------
        array of shape (n, m), or a pair of the array and its gradient
        """
        values = self.values(X, Y)
        return (values, np.empty((*values.shape, 0))) if eval_gradient else values

    @abstractmethod
    def values(self, X: ArrayLike, Y: ArrayLike | None) -> Rows:
        """Compute the Gram matrix, of shape (n, m); implemented by subclasses, used by calls."""
        raise NotImplementedError

    @abstractmethod
    def diag(self, X: ArrayLike) -> Rows:
        """Return k(x, x) for each row: (n,)."""
        raise NotImplementedError

    def channel_products(self, grid: tuple[int, int, int]) -> ChannelProducts | None:
        """Return the kernel of images as a function of an inner product of channels.

        The similarities to all shifts of an image are then correlations, which are computed at once
        by Fourier transforms.

        Parameters
        ----------
        grid : tuple (height, width, channels)
            Shape of the images.

        Returns
        -------
        ChannelProducts or None
            None if the kernel is not such a function.
        """
        return None


def is_kernel(value: Any) -> bool:
    """Return whether a value is an instance of :class:`Kernel`."""
    return isinstance(value, Kernel)


def kernel_names() -> list[str]:
    """Return the names that ``kernel`` parameters accept."""
    return list(_BY_NAME)


def resolve_kernel(
    kernel: Any, X: NDArray, *, gamma: Any = "scale", degree: int = 3, coef0: float = 1.0
) -> Kernel:
    """Return the kernel object that the parameters of an estimator describe.

    Parameters
    ----------
    kernel : str or Kernel
        Name of a kernel, such as "rbf", "poly" or "linear", or a kernel, which is cloned.
    X : array of shape (n_samples, n_features)
        Training rows, from which ``gamma="scale"`` and ``gamma="median"`` are computed.
    gamma : float, "scale" or "median"
        As in :func:`resolve_gamma`.
    degree : int
    coef0 : float
        Kernels given by name receive those of gamma, degree and coef0 that are in their
        ``name_parameters``.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import numpy as np
    >>> resolve_kernel("rbf", np.eye(2), gamma=0.5)
    RBF(gamma=0.5)
    """
    if is_kernel(kernel):
        return clone(kernel)
    if not isinstance(kernel, str) or kernel not in _BY_NAME:
        raise ValueError(
            f"kernel={kernel!r} is unknown: pass a Kernel object, or one of "
            f"{', '.join(kernel_names())}"
        )
    kernel_class = _BY_NAME[kernel]
    options: dict[str, Any] = {"gamma": gamma, "degree": degree, "coef0": coef0}
    options = {name: options[name] for name in kernel_class.name_parameters}
    if "gamma" in options:
        options["gamma"] = resolve_gamma(gamma, X)
    return kernel_class(**options)


def resolve_gamma(gamma: Any, X: NDArray) -> Any:
    """Return gamma as a number.

    Parameters
    ----------
    gamma : float, "scale" or "median"
        "scale": ``1 / (n_features * variance of X)``, as in scikit-learn. "median":
        ``1 / (2 * sigma ** 2)``, where sigma is the median distance of two rows.
    X : array of shape (n_samples, n_features)

    Returns
    -------
    float
    """
    if gamma == "scale":
        variance = float(X.var(dtype=float))
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    if gamma == "median":
        return median_gamma(X)
    if isinstance(gamma, str):
        raise ValueError(f"gamma={gamma!r} is unknown: pass a number, 'scale' or 'median'")
    return gamma


def median_gamma(X: NDArray, max_rows: int = 5000) -> float:
    """Return ``1 / (2 sigma^2)``, where sigma is the median distance of two rows.

    If X has more than ``max_rows`` rows, ``max_rows`` evenly spaced rows are used.
    """
    rows = X if len(X) <= max_rows else X[np.linspace(0, len(X) - 1, max_rows).astype(int)]
    median = float(np.median(pdist(rows))) if len(rows) > 1 else 0.0
    return 1 / (2 * median**2) if median > 0 else 1.0


def check_pair(X: ArrayLike, Y: ArrayLike | None) -> tuple[Any, Any]:
    """Return validated rows X and Y of the same precision; ``Y=None`` means X."""
    rows = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    if Y is None or Y is X:
        return rows, rows
    X = rows
    Y = check_array(Y, dtype=[np.float64, np.float32], input_name="Y")
    if X.shape[1] != Y.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features and Y has {Y.shape[1]}: they must agree")
    precision = np.result_type(X, Y)
    return X.astype(precision, copy=False), Y.astype(precision, copy=False)


def check_finite(values: Rows) -> Rows:
    """Return kernel values; raise ValueError if they overflow their precision."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"kernel values are too large for {values.dtype}: scale the rows or gamma down, lower "
            "the degree, or pass float64"
        )
    return values
