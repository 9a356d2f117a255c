"""Teo et al. (2007), Convex learning with invariances: the rates of convergence of the solvers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import linregress
from sklearn.preprocessing import normalize

from invarlearn.experiments.base import Experiment
from invarlearn.experiments.data import stratified_split
from invarlearn.oracles import Costs, ListedRisk, Worst
from invarlearn.solvers import Bundle, ColumnGeneration, Pegasos, Solver, WorstCaseProblem
from invarlearn.transforms import Translation

# Precisions of the risk, which is 1 for f = 0, at which searches are counted.
RATE_PRECISIONS = 10.0 ** -np.arange(1.0, 3.51, 0.25)


class CountedRisk(ListedRisk):
    """A risk that counts the searches for the worst case of a sample."""

    n_searches = 0

    def worst(self, w: NDArray, i: int) -> Worst:
        self.n_searches += 1
        return super().worst(w, i)

    def subgradient(self, w: NDArray) -> tuple[NDArray, NDArray]:
        self.n_searches += self.n_examples
        return super().subgradient(w)


SOLVERS: dict[str, tuple[Solver[WorstCaseProblem], int]] = {
    "Algorithm 1 (columns)": (ColumnGeneration(at_most=1), 400),
    "bundle": (Bundle(), 400),
    "Algorithm 2 (Pegasos)": (Pegasos(), 400),
}


@lru_cache(maxsize=4)
def _risk_and_minimum(lam: float, per_digit: int, seed: int) -> tuple[CountedRisk, float]:
    """Return the risk of a draw, and a lower bound of its regularised minimum."""
    X, y, _, _ = stratified_split("MNIST", per_digit, 10, seed)
    family = Translation(1).with_shape((28, 28))
    risk = CountedRisk(normalize(X.astype(float)), y, family, Costs.check(None, None, 10, 9))
    optimum = Bundle().solve(WorstCaseProblem(risk, lam), tol=1e-5, max_iter=2000)
    return risk, optimum.objective - optimum.gap


def run_rates(solver: str, lam: float, per_digit: int, seed: int) -> dict[str, float]:
    """Return the exponent p of searches ~ precision^-p, and the searches at each precision.

    A search is for the worst case of one sample. The exponent is that of a regression of the
    logarithm of the number of searches on the logarithm of 1 / precision.
    """
    risk, lowest = _risk_and_minimum(lam, per_digit, seed)
    problem = WorstCaseProblem(risk, lam)
    risk.n_searches = 0
    counts: list[int] = []

    def count(done: int, total: int, seconds_left: float | None = None, message: str = "") -> None:
        counts.append(risk.n_searches)

    kind, max_iter = SOLVERS[solver]
    tol = 0.5 * float(RATE_PRECISIONS[-1])
    rng = np.random.RandomState(seed)
    history = kind.solve(problem, tol, max_iter, rng=rng, progress=count).history
    excess = np.minimum.accumulate([objective for objective, _ in history]) - lowest
    first = [int(np.argmax(excess <= precision)) for precision in RATE_PRECISIONS]
    reached = [
        k for k, precision in zip(first, RATE_PRECISIONS, strict=True) if excess[k] <= precision
    ]
    searches = np.array(counts)[reached]
    fit = linregress(-np.log(RATE_PRECISIONS[: len(reached)]), np.log(searches))
    by_precision = {
        f"searches at {precision:.2g}": float(number)
        for precision, number in zip(RATE_PRECISIONS, searches, strict=False)
    }
    return {"exponent": float(fit.slope), "smallest": float(excess[-1]), **by_precision}


RATES = Experiment(
    id="004-rates",
    paper="Teo et al. (2007), section 3.1 and Theorem 3; no figure of the paper",
    title="Rates of convergence: searches for worst cases are of order precision to the power -p",
    metric="exponent",
    unit="p",
    varies={"solver": list(SOLVERS), "lam": [0.01, 0.003]},
    quick={"lam": [0.01]},
    run=run_rates,
    x="lam",
    lines="solver",
    seeds={"quick": 1, "full": 5},
    settings={"quick": {"per_digit": 3}, "full": {"per_digit": 5}},
    note="Multiclass linear classifier of 5 images of each digit (rows of norm one), shifts by "
    "one pixel. Precision: the regularised risk minus its minimum, from 0.1 to 0.0003; the risk of "
    "f = 0 is 1. The bundle method certifies the minimum to a relative gap of 1e-5. A pass of "
    "Pegasos also evaluates the risk once, which counts as a search for each sample. The paper has "
    "p = 2 for Algorithm 1, to be improved to 1; Theorem 3 has p = 1, up to a logarithm.",
)

EXPERIMENTS = [RATES]
