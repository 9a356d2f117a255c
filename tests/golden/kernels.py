"""Kernels: values, diagonals, derivatives, orbits pooled in every way, repair of spectra."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from golden.declare import Cases
from golden.rows import digits, normal, uniform
from invarlearn.features import OrientedGradients
from invarlearn.kernels import (
    RBF,
    AbsoluteExponential,
    Exponential,
    HaarKernel,
    Linear,
    LocalPolynomial,
    Matern,
    OrbitKernel,
    Polynomial,
    RationalQuadratic,
    RBFMixture,
    TangentDistance,
    definite_bound,
    definite_up_to,
    resolve_kernel,
    spectrum_of,
)
from invarlearn.transforms import (
    CyclicShift,
    Permutation,
    Reflection,
    Rotation,
    Scaling,
    Shear,
    Translation,
)

CASES = Cases("kernels")

BASES = {
    "linear": Linear(0.5),
    "polynomial": Polynomial(3, 0.5, 1.0),
    "polynomial_homogeneous": Polynomial(2, 1.0, 0.0),
    "rbf": RBF(0.7),
    "local": LocalPolynomial((3,), (2, 2)),
}
PROFILES = {
    "rational_quadratic": RationalQuadratic(0.7, 1.5),
    "matern_3_2": Matern(0.3, 1.5),
    "matern_5_2": Matern(0.3, 2.5),
    "exponential": Exponential(0.2),
    "absolute_exponential": AbsoluteExponential(0.3),
    "rbf_mixture": RBFMixture([0.2, 1.5], [0.3, 0.7]),
}
FAMILIES = {
    "listed": Rotation(20) * Scaling(1.2),
    "shifts": Translation(1),
    "all_shifts": Translation(None, wrap=True),
    "shifts_of_turns": Translation(1) * Rotation(20),
    "union": Reflection(1) | Translation(1, wrap=True),
}


def base_values(name: str) -> dict[str, Any]:
    """Return values and derivatives of a kernel of rows."""
    kernel, X, Y = (BASES | PROFILES)[name], normal(5, 4), normal(4, 4, 1)
    V, W = normal(5, 4, 2), normal(4, 4, 3)
    single = kernel(X.astype(np.float32), Y.astype(np.float32))
    values = {
        "values": kernel(X, Y),
        "own": kernel(X),
        "diag": kernel.diag(X),
        "single": single,
        "is_definite": bool(kernel.is_definite),
        "gradient": kernel.gradient(X, Y, V),
        "mixed": kernel.mixed(X, Y, V, W),
    }
    s = np.linspace(0.1, 2, 5)
    return values | {f"profile_{order}": kernel.profile(s, order) for order in range(3)}


for _name in ("linear", "polynomial", "polynomial_homogeneous", "rbf", *PROFILES):
    CASES.add(_name, partial(base_values, _name))


@CASES.case()
def local_polynomials() -> dict[str, Any]:
    """Return local kernels of one and of two layers, with every padding."""
    X, Y = uniform(4, 63), uniform(3, 63, 1)
    values = {}
    for padding, average in product(("zero", "valid", "wrap"), (True, False)):
        kernel = LocalPolynomial((3,), (2, 3), padding, average, shape=(7, 9))
        values[f"{padding}_{average}"] = kernel(X, Y)
        values[f"{padding}_{average}_diag"] = kernel.diag(X)
    values["two_layers"] = LocalPolynomial((5, 3), (2, 2, 2), shape=(7, 9))(X, Y)
    values["two_layers_diag"] = LocalPolynomial((5, 3), (2, 2, 2), shape=(7, 9)).diag(X)
    values["image_scale"] = LocalPolynomial((3,), (2, 3), image_scale=1 / 7, shape=(7, 9))(X, Y)
    pixels = digits()[0][:6]
    values["digits"] = LocalPolynomial((7,), (2, 4))(pixels)
    values["digits_two_layers"] = LocalPolynomial((7, 3), (2, 2, 2))(pixels[:2], pixels[2:])
    return values


def pooled_values(base: str, family: str) -> dict[str, Any]:
    """Return an orbit kernel with every pooling, normalised and not."""
    X, Y = uniform(4, 25), uniform(3, 25, 1)
    values = {}
    for pooling, normalize in product(("max", "mean", "softmax"), (False, True)):
        kernel = OrbitKernel(
            (BASES | PROFILES)[base], FAMILIES[family], pooling, normalize, sharpness=7.0
        )
        name = f"{pooling}_{'normalized' if normalize else 'raw'}"
        values[name] = kernel(X, Y)
        values[f"{name}_own"] = kernel(X)
        values[f"{name}_diag"] = kernel.diag(X)
        values[f"{name}_to_orbits"] = kernel.to_orbits(X, Y)
    return values


for _base, _family in product(BASES, FAMILIES):
    CASES.add(f"orbit_{_base}_{_family}", partial(pooled_values, _base, _family))
for _base in PROFILES:
    CASES.add(f"orbit_{_base}_all_shifts", partial(pooled_values, _base, "all_shifts"))


@CASES.case()
def kernels_by_name() -> dict[str, Any]:
    """Return the kernels that estimators build from a name and their parameters."""
    X = normal(8, 3)
    values: dict[str, Any] = {}
    for name in ("rbf", "poly", "linear", "rational_quadratic", "matern", "exponential"):
        for gamma in (0.5, "scale", "median"):
            kernel = resolve_kernel(name, X, gamma=gamma, degree=2, coef0=0.5)
            values[f"{name}_{gamma}"] = kernel(X)
    return values


@CASES.case()
def cyclic_shifts() -> dict[str, Any]:
    """Return similarities over all cyclic shifts of sequences, and over permutations."""
    X, Y = normal(5, 24), normal(4, 24, 1)
    values = {}
    for name, family in (
        ("all", CyclicShift()),
        ("near", CyclicShift(3, 2)),
        ("groups", CyclicShift(shape=(6, 4))),
        ("permutations", Permutation(block=6)),
    ):
        for base in ("linear", "polynomial", "rbf"):
            kernel = OrbitKernel(BASES[base], family, "max", normalize=True)
            values[f"{name}_{base}"] = kernel(X, Y)
            for pooling in ("mean", "softmax"):
                kernel = OrbitKernel(BASES[base], family, pooling)
                values[f"{name}_{base}_{pooling}"] = kernel(X, Y)
    return values


@CASES.case()
def haar_integration() -> dict[str, Any]:
    """Return Haar-integration kernels, which average over both orbits."""
    X, Y = uniform(4, 36), uniform(3, 36, 1)
    values = {}
    for name, family in (
        ("group", Translation(None, wrap=True)),
        ("no_group", Rotation(20)),
        ("turns", Rotation(180, n_steps=4)),
    ):
        kernel = HaarKernel(RBF(0.5), family, normalize=name == "turns")
        values[name], values[f"{name}_diag"] = kernel(X, Y), kernel.diag(X)
    return values


@CASES.case()
def tangent_distances() -> dict[str, Any]:
    """Return tangent-distance kernels of digits, one-sided and two-sided."""
    X = digits()[0][:10].astype(float)
    family = Translation(1) * Rotation(10)
    return {
        "two_sides": TangentDistance(family)(X[:6], X[6:]),
        "two_sides_own": TangentDistance(family)(X[:6]),
        "one_side": TangentDistance(family, gamma=0.01, sides=1, smoothing=0)(X[:6], X[6:]),
        "default_family": TangentDistance()(X[:3], X[3:]),
    }


@CASES.case()
def digits_in_single_precision() -> dict[str, Any]:
    """Return kernels of digits over families that are listed, and that are shifts."""
    X = digits()[0][:12]
    values = {}
    for name, family in (
        ("shifts", Translation(3)),
        ("all_shifts", Translation(None, wrap=True)),
        ("listed", Rotation(15, n_steps=3) * Shear(0.3, n_steps=3)),
        ("both", Translation(1) * Rotation(15) * Scaling(1.1)),
    ):
        for pooling in ("max", "mean"):
            kernel = OrbitKernel(RBF(4.0), family, pooling, normalize=True)
            values[f"{name}_{pooling}"] = kernel(X[:8], X[8:])
    local = OrbitKernel(LocalPolynomial((7,), (2, 4)), Translation(2), "max")
    values["local"] = local(X[:4], X[4:8])
    edges = OrbitKernel(RBF(2.0), Translation(1), "max", True, features=OrientedGradients())
    values["edges"] = edges(X[:8], X[8:])
    return values


@CASES.case()
def repaired_spectra() -> dict[str, Any]:
    """Return properties of an indefinite Gram matrix, and its repairs."""
    X = np.random.RandomState(0).rand(14, 25)
    gram = OrbitKernel(RBF(4.0), Translation(1) * Rotation(30), "max", normalize=True)(X)
    rng = np.random.RandomState(1)
    noise = rng.standard_normal(gram.shape)
    gram = gram + 0.1 * (noise + noise.T)
    rows = rng.rand(3, 14)
    values: dict[str, Any] = {
        "definite_bound": definite_bound(np.linalg.eigvalsh(gram @ gram), 0.1)
    }
    for psd in ("clip", "flip", "shift", None):
        spectrum = spectrum_of(gram, psd)
        values |= {
            f"{psd}_smallest": spectrum.smallest,
            f"{psd}_negative_share": spectrum.negative_share,
            f"{psd}_gershgorin": bool(spectrum.gershgorin),
            f"{psd}_shift": spectrum.shift,
            f"{psd}_gram": spectrum.repaired_gram(gram),
            f"{psd}_rows": spectrum.repaired_rows(rows),
        }
    kernel = OrbitKernel(Linear(), Reflection(1), "max")
    values["definite_up_to"] = definite_up_to(kernel, uniform(10, 9) - 0.5)
    return values
