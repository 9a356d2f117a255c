"""Gram blocks of the representers of two terms: values and derivatives of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from invarlearn._utils.parallel import slices
from invarlearn.functionals.base import (
    FunctionalTerm,
    Gradients,
    HigherSlopes,
    Rows,
    Slopes,
    Values,
)
from invarlearn.kernels.base import Kernel

# Gram blocks with values are computed for about this many pairs of points at a time.
PAIRS = 2**19


def smoothed(kernel: Any, variance: float, n_features: int) -> tuple[float, Any]:
    """Return the average of a kernel over a Gaussian, as a factor and a kernel."""
    return kernel.blurred(variance, n_features) if variance else (1.0, kernel)


def check_blur(kernel: Kernel) -> None:
    """Raise an error if averages cannot be combined with derivatives."""
    if not kernel.supports_blur:
        raise TypeError(
            f"local averages and derivatives cannot be combined for {kernel!r}: choose a kernel "
            "with supports_blur, such as RBF"
        )


def gram_block(kernel: Kernel, left: FunctionalTerm, right: FunctionalTerm) -> Rows:
    """Compute the inner products of the representers of two terms: (len(left), len(right))."""
    compute = BLOCKS.get((left.kind, right.kind))
    if compute is None:
        if (right.kind, left.kind) not in BLOCKS:
            raise TypeError(
                f"inner products of {type(left).__name__} and {type(right).__name__} are not "
                "implemented: build functionals from Values, Slopes, Gradients and HigherSlopes"
            )
        return gram_block(kernel, right, left).T
    if (left.blur or right.blur) and (left.order or right.order):
        check_blur(kernel)
    if (left.blur or right.blur) and not kernel.supports_blur:
        return compute(_Averages(kernel, left.blur, right.blur), left, right)
    scale, smoothed_kernel = smoothed(kernel, left.blur + right.blur, left.points.shape[1])
    return scale * compute(smoothed_kernel, left, right)


def block_product(
    kernel: Kernel, left: FunctionalTerm, right: FunctionalTerm, coefficients: Rows
) -> Rows:
    """Apply the functionals of a term to a sum of representers, by blocks of the Gram matrix.

    Parameters
    ----------
    kernel : Kernel
    left, right : FunctionalTerm
    coefficients : array of shape (len(right),)

    Returns
    -------
    array of shape (len(left),)
    """
    out = np.empty(len(left))
    for rows in slices(len(left), PAIRS // max(1, len(right))):
        part = left.subset(np.arange(len(left))[rows])
        out[rows] = gram_block(kernel, part, right) @ coefficients
    return out


@dataclass(frozen=True)
class _Averages:
    """Averages of a kernel over Gaussians around its first and its second argument."""

    kernel: Any
    variance: float
    other_variance: float

    def __call__(self, X: Rows, Y: Rows) -> Rows:
        return np.asarray(self.kernel.averages(X, Y, self.variance, self.other_variance))


def _values_block(evaluate: Callable[[Any, Rows, Any], Rows]) -> Callable[[Any, Values, Any], Rows]:
    """Return the function for Gram blocks with Values on the left.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(kernel, points, right)`` returns the inner products of values at points, (p, d),
        with the representers of another term: (p, len(right)).
    """

    def compute(kernel: Any, left: Values, right: Any) -> Rows:
        out = np.zeros((len(left), len(right)))
        for rows in slices(len(left.points), PAIRS // max(1, len(right.points))):
            out += left.weights[:, rows] @ evaluate(kernel, left.points[rows], right)
        return out

    return compute


def _values_at(kernel: Any, points: Rows, right: Values) -> Rows:
    return np.asarray(kernel(points, right.points) @ right.weights.T)


def _slopes_at(kernel: Any, points: Rows, right: Slopes) -> Rows:
    return kernel.gradient(right.points[right.at], points, right.directions).T


def _gradients_at(kernel: Any, points: Rows, right: Gradients) -> Rows:
    return right.weighted(kernel.partials(right.points, points)).T


def _higher_at(kernel: Any, points: Rows, right: HigherSlopes) -> Rows:
    return higher_block(kernel, points, np.zeros_like(points), 0, right)


def _slopes_higher(kernel: Any, left: Slopes, right: HigherSlopes) -> Rows:
    return higher_block(kernel, left.points[left.at], left.directions, 1, right)


def _gradients_higher(kernel: Any, left: Gradients, right: HigherSlopes) -> Rows:
    d = left.points.shape[1]
    axes = np.tile(np.eye(d), (len(left.points), 1))
    block = higher_block(kernel, np.repeat(left.points, d, axis=0), axes, 1, right)
    return left.weighted(block)


def _higher_higher(kernel: Any, left: HigherSlopes, right: HigherSlopes) -> Rows:
    points = left.points[left.at]
    block = higher_block(kernel, points, left.directions, left.order, right)
    return left.factors[:, None] * block


def higher_block(kernel: Any, X: Rows, V: Rows, order: int, right: HigherSlopes) -> Rows:
    """Compute inner products with derivatives of any order.

    Parameters
    ----------
    kernel : Kernel
    X, V : arrays of shape (n, d)
        Rows, and a direction for each.
    order : int
        Order of the derivatives along V.
    right : HigherSlopes

    Returns
    -------
    array of shape (n, len(right))
    """
    Y, W = right.points[right.at], right.directions
    return kernel.directional(X, Y, V, W, order, right.order) * right.factors


def _slopes_slopes(kernel: Any, left: Slopes, right: Slopes) -> Rows:
    points, others = left.points[left.at], right.points[right.at]
    return kernel.mixed(points, others, left.directions, right.directions)


def _slopes_gradients(kernel: Any, left: Slopes, right: Gradients) -> Rows:
    points = left.points[left.at]
    return right.weighted(kernel.mixed_partials(right.points, points, left.directions)).T


def _gradients_gradients(kernel: Any, left: Gradients, right: Gradients) -> Rows:
    n, d = left.points.shape
    out = np.empty((n * d, len(right)))
    unit = np.eye(d)
    for i, point in enumerate(left.points):
        # the partial derivatives at one point are slopes along the axes
        repeated = np.broadcast_to(point, (d, d))
        partials = kernel.mixed_partials(right.points, repeated, unit)
        out[i * d : (i + 1) * d] = right.weighted(partials).T
    return left.weighted(out)


# Gram blocks by the kinds of both terms; the others are transposes of these.
BLOCKS: dict[tuple[str, str], Callable[[Any, Any, Any], Rows]] = {
    ("values", "values"): _values_block(_values_at),
    ("values", "slopes"): _values_block(_slopes_at),
    ("values", "gradients"): _values_block(_gradients_at),
    ("slopes", "slopes"): _slopes_slopes,
    ("slopes", "gradients"): _slopes_gradients,
    ("gradients", "gradients"): _gradients_gradients,
    ("values", "higher_slopes"): _values_block(_higher_at),
    ("slopes", "higher_slopes"): _slopes_higher,
    ("gradients", "higher_slopes"): _gradients_higher,
    ("higher_slopes", "higher_slopes"): _higher_higher,
}
