"""Functionals: values, Gram matrices, cross values; kernels with eliminated functionals."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from golden.declare import Cases, Tolerance
from golden.rows import normal, uniform
from invarlearn.functionals import (
    Change,
    Constant,
    Coordinates,
    Derivative,
    Difference,
    Gradients,
    HigherDerivative,
    HigherSlopes,
    Laplacian,
    LocalAverage,
    RepresenterKernel,
    Representers,
    Secant,
    Slopes,
    Tangent,
    Value,
    Values,
    Weighted,
)
from invarlearn.kernels import (
    RBF,
    AbsoluteExponential,
    Exponential,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    RBFMixture,
)
from invarlearn.transforms import CyclicShift, Reflection, Rotation, Scaling, Translation

CASES = Cases("functionals")

KERNELS = {"rbf": RBF(0.4), "polynomial": Polynomial(3, 0.5), "linear": Linear(2.0)}
PROFILES = {
    "rational_quadratic": RationalQuadratic(0.4, 1.5),
    "matern_3_2": Matern(0.3, 1.5),
    "matern_5_2": Matern(0.3, 2.5),
    "exponential": Exponential(0.2),
}
EDGES = np.array([[0, 1], [1, 2], [3, 5]])
# Of rows of nine numbers, images of 3 x 3.
KINDS = {
    "value": [Value()],
    "derivative": [Derivative()],
    "tangent": [Tangent(Translation(1) * Rotation(10) * Scaling(1.1))],
    "tangent_raw": [Tangent(Translation(1), smoothing=0.0, normalize=False)],
    "change": [Change(Translation(1))],
    "change_mirrored": [Change(Reflection(1)), Change(CyclicShift(2))],
    "difference": [Difference(2)],
    "difference_edges": [Difference(edges=EDGES, weights=np.array([1.0, 2.0, 0.5]))],
    "laplacian": [Laplacian(2)],
    "laplacian_power": [Laplacian(2, weights="binary", normalize=False, power=2)],
    "local_average": [LocalAverage(0.3)],
    "secant": [Secant(Translation(1) | Rotation(10))],
    "second_derivative": [HigherDerivative(isotropic=False)],
    "third_derivative": [HigherDerivative(3, mixed=False)],
    "weighted": [Weighted(Derivative(), np.arange(6.0))],
    "all": [Value(), Derivative(), Difference(2)],
}


def representer_values(kinds: str, kernel: str) -> dict[str, Any]:
    """Return all values of representers of functionals."""
    X, Z = uniform(6, 9), uniform(4, 9, 1)
    base = (KERNELS | PROFILES)[kernel]
    ours = Representers(base, KINDS[kinds], X)
    theirs = Representers(base, [Value()], Z)
    c = np.random.RandomState(0).standard_normal(len(ours))
    a = np.random.RandomState(1).standard_normal(len(Z))
    return {
        "count": len(ours),
        "gram": ours.gram(),
        "cross": ours.gram(theirs),
        "dot": ours.dot(c),
        "dot_other": ours.dot(a, theirs),
        "columns": ours.columns(np.array([0, len(ours) - 1])),
        "at": ours.at(Z),
        "function": ours.function(c, Z),
        "joined": theirs.joined(ours).dot(np.concatenate([a, c])),
        "of_constant": ours.of_basis(Constant()),
        "of_coordinates": ours.of_basis(Coordinates()),
    }


for _kinds in KINDS:
    for _kernel in KERNELS:
        if _kinds != "local_average" or _kernel == "rbf":
            CASES.add(f"{_kinds}_{_kernel}", partial(representer_values, _kinds, _kernel))

for _kernel in PROFILES:
    CASES.add(f"all_{_kernel}", partial(representer_values, "all", _kernel))


@CASES.case()
def terms() -> dict[str, Any]:
    """Return the terms that functionals are sums of."""
    X, rng = normal(4, 3), np.random.RandomState(0)
    values, gradients = rng.randn(4), rng.randn(4, 3)
    results: dict[str, Any] = {}
    for name, term in (
        ("values", Values(X, rng.randn(5, 4))),
        ("slopes", Slopes(X, np.array([0, 2, 2]), rng.randn(3, 3))),
        ("gradients", Gradients(X)),
    ):
        results[f"{name}_read"] = term.read(values, gradients)
        spread = term.spread(rng.randn(len(term)))
        results |= {f"{name}_spread_{i}": one for i, one in enumerate(spread) if one is not None}
        results[f"{name}_basis"] = term.of_basis(Coordinates())
        results[f"{name}_some"] = term.subset(np.array([1])).of_basis(Coordinates())
    results["laplacian_matrix"] = Laplacian(2).matrix(X)
    return results


@CASES.case()
def higher_slopes() -> dict[str, Any]:
    """Return derivatives along directions applied to basis functions."""
    X, rng = normal(4, 3), np.random.RandomState(0)
    directions, factors = rng.randn(3, 3), rng.randn(3)
    terms = [HigherSlopes(X, np.array([0, 2, 2]), directions, factors, order) for order in (1, 2)]
    return {
        **{f"basis_{term.order}": term.of_basis(Coordinates()) for term in terms},
        "some": terms[0].subset(np.array([1])).scaled(np.array([2.0])).of_basis(Coordinates()),
    }


@CASES.case()
def averages() -> dict[str, Any]:
    """Return local averages with kernels that are not Gaussian."""
    X, Z = normal(5, 3), normal(4, 3, 1)
    values: dict[str, Any] = {}
    for name, kernel in {
        "polynomial": Polynomial(4, 0.3),
        "linear": Linear(2.0),
        "exponential": Exponential(0.2),
        "absolute_exponential": AbsoluteExponential(0.4),
        "rbf_mixture": RBFMixture([0.2, 1.5], [0.3, 0.7]),
    }.items():
        z = Representers(kernel, [LocalAverage(0.3), Value()], X)
        values[name] = z.gram()
        values[f"{name}_at"] = z.at(Z)
    return values


@CASES.case(Tolerance(1e-7, "a linear system with Gram matrices, solved to 1e-8"))
def kernels_with_functionals() -> dict[str, Any]:
    """Return kernels with eliminated functionals."""
    at, X, Y = normal(12, 3), normal(5, 3, 1), normal(4, 3, 2)
    values: dict[str, Any] = {}
    for name, base in (("rbf", RBF(0.4)), ("polynomial", Polynomial(2))):
        for nu in (0.01, 0.3):
            kernel = RepresenterKernel(base, [Derivative(), Difference(2)], nu, at=at)
            values[f"{name}_{nu}"] = kernel(X, Y)
            values[f"{name}_{nu}_own"] = kernel(X)
            values[f"{name}_{nu}_diag"] = kernel.diag(X)
    return values
