"""The bound of Theorem 3 against the regret of steps of Pegasos."""

import numpy as np
import pytest

from invarlearn.oracles import Costs, ListedRisk
from invarlearn.solvers import Bundle, WorstCaseProblem, regret_bound
from invarlearn.solvers.pegasos import Walk
from invarlearn.transforms import CyclicShift


def problem_of(n_classes, seed, n=12, d=4):
    rng = np.random.RandomState(seed)
    X, y = rng.randn(n, d), np.arange(n) % n_classes
    X /= np.linalg.norm(X, axis=1)[:, None]
    return ListedRisk(X, y, CyclicShift(), Costs.check(None, None, n_classes, d))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("lam", [2.0, 0.1, 0.01])
@pytest.mark.parametrize("passes", [1, 4, 30])
def test_the_regret_is_within_the_bound(n_classes, lam, passes):
    """Equation 9: the mean risk of the steps, and that of their average, against the minimum."""
    rho = 1.0 if n_classes == 2 else np.sqrt(2)
    for seed in range(3):
        risk = problem_of(n_classes, seed)
        minimum = Bundle().solve(WorstCaseProblem(risk, lam), 1e-8, 5000).objective
        walk = Walk(risk.n_weights, lam, risk.at_zero)
        n_steps = passes * risk.n_examples
        risks, average = [], np.zeros(risk.n_weights)
        for t in range(n_steps):
            i = t % risk.n_examples
            w = walk.state[1] * walk.v
            average += w / n_steps
            worst = risk.worst(w, i)
            risks.append(w @ worst.psi + worst.delta + lam * w @ w / 2)
            walk.along(risk, np.array([i]))
        # T is a multiple of m: the mean of the instantaneous risks of one f is its risk
        of_average = WorstCaseProblem(risk, lam).objective(average)
        bound = regret_bound(n_steps, lam, rho, risk.at_zero)
        assert minimum <= of_average + 1e-9 <= np.mean(risks) + 2e-9
        assert np.mean(risks) - minimum <= bound
        # the gradient is bounded in two ways, and the smaller bound counts
        slopes = 2 * rho, rho + np.sqrt(2 * lam * risk.at_zero)
        assert bound == pytest.approx(
            min(slopes) ** 2 * (1 + np.log(n_steps)) / (2 * lam * n_steps)
        )


def test_invalid_arguments_get_clear_errors():
    with pytest.raises(ValueError, match="n_steps=0"):
        regret_bound(0, 0.1, 1.0, 1.0)
    with pytest.raises(ValueError, match="lam=0 must be above 0"):
        regret_bound(10, 0, 1.0, 1.0)
