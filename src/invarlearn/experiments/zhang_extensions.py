"""What Zhang et al. (2013) mention without an experiment: higher derivatives, averages, variation.

All data are drawn at random, so that these experiments need no files.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from invarlearn import InvSVC, InvSVR
from invarlearn.datasets import make_two_moons
from invarlearn.experiments.base import Experiment
from invarlearn.functionals import (
    Derivative,
    Functional,
    HigherDerivative,
    LocalAverage,
    Representers,
    Value,
    Weighted,
)
from invarlearn.kernels import (
    RBF,
    AbsoluteExponential,
    Exponential,
    Kernel,
    Polynomial,
)
from invarlearn.losses import Logistic, Squared
from invarlearn.solvers import LBFGS, RepresenterProblem
from invarlearn.solvers.representer import Term


def run_orders(order: int, nu: float, n_labels: int, seed: int) -> dict[str, float]:
    """Fit a line plus a wave to noisy labels; return the root mean squared error, times 100."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(0, 10, (n_labels, 1))
    y = wave(X) + 0.3 * rng.standard_normal(n_labels)
    rows = np.linspace(0, 10, 101)[:, None]
    model = InvSVR(
        HigherDerivative(order), gamma=0.5, loss="squared", lam=100.0, nu=nu, tol=1e-6
    ).fit(X, y, X_unlabeled=rows)
    return {"error": 100 * root_mean_square(model.predict(rows) - wave(rows))}


def wave(X: NDArray) -> NDArray:
    """Return a line plus a wave at rows of one number: (n,)."""
    return X[:, 0] + np.sin(X[:, 0])


def root_mean_square(values: NDArray) -> float:
    """Return the root of the mean of the squares."""
    return float(np.sqrt((values**2).mean()))


ORDERS = Experiment(
    id="002-orders",
    paper="Zhang et al. (2013), text after Theorem 4",
    title="Penalties on derivatives of the first, second and third order",
    varies={"order": [1, 2, 3], "nu": [0.0, 0.01, 0.1, 1.0, 10.0]},
    run=run_orders,
    metric="error",
    unit="0.01",
    x="nu",
    lines="order",
    seeds={"quick": 5, "full": 50},
    settings={size: {"n_labels": 15} for size in ("quick", "full")},
    note="x + sin(x) on [0, 10] from 15 labels with noise of standard deviation 0.3. Derivatives "
    "are penalised at 101 points. A penalty on the first derivative flattens the line; those of "
    "higher order do not. Error: root mean squared error in hundredths.",
)

_KERNELS: dict[str, Kernel] = {
    "Gaussian": RBF(8.0),
    "exponential of the distance": AbsoluteExponential(2.0),
    "polynomial": Polynomial(7),
    "exponential of the product": Exponential(2.0),
}


def run_averages(kernel: str, nu: float, n_samples: int, seed: int) -> dict[str, float]:
    """Train on two moons with six labels and a penalty on local averages; return the error."""
    moons = make_two_moons(n_samples, 6, noise=0.05, random_state=seed)
    model = InvSVC(
        LocalAverage(0.4), kernel=_KERNELS[kernel], lam=100.0, nu=nu, max_iter=5000, tol=1e-4
    ).fit(moons.X, moons.y_partial)
    return {"error": 100 * float((model.predict(moons.X) != moons.y).mean())}


AVERAGES = Experiment(
    id="002-averages",
    paper="Zhang et al. (2013), section 4.3",
    title="Local averages with Gaussian, exponential and polynomial kernels",
    varies={"kernel": list(_KERNELS), "nu": [0.0, 1.0, 10.0, 100.0, 1000.0]},
    run=run_averages,
    metric="error",
    x="nu",
    lines="kernel",
    seeds={"quick": 3, "full": 20},
    settings={"quick": {"n_samples": 80}, "full": {"n_samples": 150}},
    note="Two moons with three labels each. The average of f over a Gaussian of standard deviation "
    "0.4 around each point, minus f at the point, has a squared penalty of weight nu. Logistic "
    "loss, lambda = 100.",
)

# Squared weights of the functionals at rows of the minority and of the majority.
_WEIGHTS = {"equal": (1.0, 1.0), "minority": (10.0, 0.1), "majority": (0.1, 10.0)}


def run_imbalance(weights: str, nu: float, n_test: int, seed: int) -> dict[str, float]:
    """Train with 50 and 5 labels; return the mean error of both classes, in percent."""
    rng = np.random.RandomState(seed)
    X, y = two_blobs(50, 5, rng)
    X_test, y_test = two_blobs(n_test // 2, n_test // 2, rng)
    minority, majority = _WEIGHTS[weights]
    functional = Weighted(Derivative(), np.sqrt(np.where(y == 1, minority, majority)))
    model = InvSVC(functional, gamma=0.5, lam=10.0, nu=nu, class_weight="balanced", tol=1e-5).fit(
        X, y
    )
    wrong = model.predict(X_test) != y_test
    errors = [100 * float(wrong[y_test == label].mean()) for label in (0, 1)]
    return {"error": float(np.mean(errors)), "minority_error": errors[1]}


def two_blobs(n_first: int, n_second: int, rng: np.random.RandomState) -> tuple[NDArray, NDArray]:
    """Draw rows of two Gaussian classes, 0 and 1, whose means are 2 apart in two dimensions."""
    y = np.repeat([0, 1], [n_first, n_second])
    return rng.standard_normal((len(y), 2)) + 2.0 * y[:, None] * [1.0, 0.0], y


IMBALANCE = Experiment(
    id="002-imbalance",
    paper="Zhang et al. (2013), future work",
    title="Flatter functions at the rows of the smaller class",
    varies={"weights": list(_WEIGHTS), "nu": [0.0, 0.01, 0.1, 1.0]},
    run=run_imbalance,
    metric="error",
    x="nu",
    lines="weights",
    seeds={"quick": 5, "full": 50},
    settings={"quick": {"n_test": 1000}, "full": {"n_test": 4000}},
    note="Two Gaussian classes with 50 and 5 labels. Derivatives at the rows of the minority, of "
    "the majority, or of both have the larger weight. Error: mean of the errors of both classes. "
    "Logistic loss, normalised within each class, lambda = 10.",
)


def run_variation(penalty: str, nu: float, n_labels: int, seed: int) -> dict[str, float]:
    """Fit a step to noisy labels; return the root mean squared error, times 100."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(0, 1, (n_labels, 1))
    y = step(X) + 0.3 * rng.standard_normal(n_labels)
    grid = (np.arange(200)[:, None] + 0.5) / 200
    # sums over the grid approximate the integrals of |f'| and of f'^2
    weight = 1 / len(grid) if penalty == "absolute" else np.sqrt(1 / len(grid))
    weights = np.repeat([0.0, weight], [n_labels, len(grid)])
    model = InvSVR(
        Weighted(Derivative(), weights),
        gamma=400.0,
        loss="squared",
        penalty=penalty,
        lam=10.0,
        nu=nu,
        tol=1e-3,
        max_iter=5000,
    ).fit(X, y, X_unlabeled=grid)
    values = model.predict(grid)
    return {
        "error": 100 * root_mean_square(values - step(grid)),
        "variation": float(np.abs(np.diff(values)).sum()),
    }


def step(X: NDArray) -> NDArray:
    """Return a function with two steps at rows of one number: (n,)."""
    return np.where(X[:, 0] < 0.4, 0.0, np.where(X[:, 0] < 0.75, 1.0, 0.5))


VARIATION = Experiment(
    id="002-variation",
    paper="Zhang et al. (2013), future work",
    title="Total variation as a penalty",
    varies={"penalty": ["absolute", "squared"], "nu": [0.0, 1e-2, 1e-1, 1.0, 10.0, 100.0]},
    run=run_variation,
    metric="error",
    unit="0.01",
    x="nu",
    lines="penalty",
    seeds={"quick": 3, "full": 50},
    settings={size: {"n_labels": 40} for size in ("quick", "full")},
    note="A function with steps of height 1 and -0.5 on [0, 1], from 40 labels with noise of "
    "standard deviation 0.3. The derivative is penalised at 200 points: the integral of |f'|, the "
    "total variation, or that of f'^2. Squared loss, RBF kernel with gamma = 400. Error: root mean "
    "squared error in hundredths.",
)


def run_norms(coordinates: str, norm: float, seed: int) -> dict[str, float]:
    """Minimise the objective of Figure 1 with scaled functionals; return the number of steps.

    The functionals are multiplied by ``norm``, and nu is divided by its square, so that the
    minimum is the same for all norms.
    """
    moons = make_two_moons(60, 6, noise=0.05, random_state=seed)
    functional: Functional = Weighted(Derivative(), np.full(60, norm))
    labelled = np.flatnonzero(moons.y_partial >= 0)
    z = Representers(RBF(8.0), [Value(), functional], [moons.X[labelled], moons.X])
    gram, n = z.gram(), len(labelled)
    signs = np.where(moons.y[labelled] == 1, 1.0, -1.0)
    basis = np.zeros((len(gram), 1))
    basis[:n] = 1.0
    terms = [
        Term(slice(0, n), Logistic(), signs, 1.0),
        Term(slice(n, len(gram)), Squared(), 0.0, 1.0 / norm**2),
    ]
    problem = RepresenterProblem.dense(gram, basis, terms)
    best = LBFGS().solve(problem, 1e-8, 10_000)
    if coordinates == "function":
        return {"steps": float(LBFGS().solve(problem, 1e-4, 10_000).n_iter)}
    target = best.objective + 1e-4 * max(1.0, best.objective)
    return {"steps": float(coefficient_steps(problem, target))}


def coefficient_steps(problem: RepresenterProblem, target: float, max_iter: int = 5000) -> int:
    """Return the number of steps of L-BFGS on the coefficients until the objective is reached."""
    gram, n = problem.gram.matrix(), len(problem)
    n_steps = 0

    def value_and_slope(theta: NDArray) -> tuple[float, NDArray]:
        c, w = theta[:n], theta[n:]
        values = gram @ c
        u = values + problem.basis @ w
        slopes = problem.slopes(u)
        objective = 0.5 * float(c @ values) + problem.loss(u)
        return objective, np.concatenate([gram @ (c + slopes), problem.basis.T @ slopes])

    def count(theta: NDArray) -> None:
        nonlocal n_steps
        n_steps += 1
        if value_and_slope(theta)[0] <= target:
            raise StopIteration

    options = {"maxiter": max_iter, "maxfun": 10 * max_iter, "ftol": 0.0, "gtol": 0.0}
    start = np.zeros(n + problem.basis.shape[1])
    minimize(value_and_slope, start, jac=True, method="L-BFGS-B", callback=count, options=options)
    return n_steps


NORMS = Experiment(
    id="002-norms",
    paper="Zhang et al. (2013), future work",
    title="Steps of L-BFGS by the norm of the functionals",
    varies={"coordinates": ["function", "coefficients"], "norm": [0.01, 0.1, 1.0, 10.0, 100.0]},
    run=run_norms,
    metric="steps",
    unit="steps",
    x="norm",
    lines="coordinates",
    seeds={"quick": 3, "full": 20},
    note="Two moons with three labels each and derivatives at 60 points, logistic loss. The "
    "functionals are multiplied by a norm, and nu divided by its square: the minimum is the same. "
    "L-BFGS stops at 1e-4 of the objective above the minimum. 'Coefficients': steps in the "
    "coefficients of (4), as in the paper, at most 5,000. 'Function': steps in the metric of the "
    "RKHS, the solver of this library.",
)

EXPERIMENTS = [ORDERS, AVERAGES, IMBALANCE, VARIATION, NORMS]
