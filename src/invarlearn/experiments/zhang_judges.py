"""Verdicts on statements of Zhang et al. (2013), from stored results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from invarlearn._utils.statistics import PairedComparison, compare_paired
from invarlearn.experiments.claims import FAILS, HOLDS, Finding
from invarlearn.experiments.judging import LEVEL, Judge, Records
from invarlearn.experiments.multiple_tests import (
    MARGIN,
    adjusted_p_values,
    are_above,
    are_below,
    are_lower_or_similar,
    are_similar,
    p_value_below,
    verdict_of_places,
)
from invarlearn.experiments.zhang_table import METHODS, PRINTED, PRINTED_DEVIATIONS, TABLE_LABELS

# Weights of the penalty in the paper's Figure 1, besides 0.
MOONS_NUS = (0.01, 0.1, 1.0)


class Draws:
    """A number of each run, by cell and by the value of one axis that is compared.

    Parameters
    ----------
    records : list of dict
        Stored results.
    compared : str
        The axis whose values are compared, such as "method".
    metric : str

    Attributes
    ----------
    cells : dict from tuple to dict
        The numbers by the values of the other axes, then by that of ``compared``, then by seed.
    """

    def __init__(self, records: Records, compared: str, metric: str = "error"):
        self.cells: dict[tuple[Any, ...], dict[Any, dict[int, float]]] = defaultdict(dict)
        for record in records:
            run = record["run"]
            cell = tuple(v for k, v in run.items() if k not in (compared, "seed"))
            values = self.cells[cell].setdefault(run[compared], {})
            values[run["seed"]] = record["result"][metric]

    def pair(self, cell: tuple[Any, ...], one: Any, other: Any) -> tuple[NDArray, NDArray]:
        """Return the numbers of two values of the axis, from the draws that both have."""
        a, b = self.cells[cell].get(one, {}), self.cells[cell].get(other, {})
        seeds = sorted(a.keys() & b.keys())
        return np.array([a[seed] for seed in seeds]), np.array([b[seed] for seed in seeds])

    def complete(self, *values: Any) -> list[tuple[Any, ...]]:
        """Return the cells that have at least two common draws of each of these values."""
        return [
            cell
            for cell, by_value in self.cells.items()
            if all(value in by_value for value in values)
            and len(set.intersection(*(set(by_value[value]) for value in values))) > 1
        ]

    def compare(self, cell: tuple[Any, ...], one: Any, other: Any) -> PairedComparison:
        """Compare two values of the axis, draw by draw."""
        return compare_paired(*self.pair(cell, one, other))

    def gain(self, cells: Iterable[tuple[Any, ...]], one: Any, other: Any) -> tuple[float, float]:
        """Return the mean, over cells, of the number of ``one`` minus ``other``, and its error.

        The standard error is computed from the draws of each cell, which are independent between
        cells of different data; those of the same data are nearly so.
        """
        tests = [self.compare(cell, one, other) for cell in cells]
        mean = float(np.mean([test.mean for test in tests]))
        variance = sum(test.sd**2 / test.n_pairs for test in tests) / len(tests) ** 2
        return mean, float(np.sqrt(variance))


def judge_moons(records: Records) -> Finding:
    """Judge that a penalty on derivatives lowers the error for each nu of the paper (Fig. 1)."""
    draws = Draws(records, "nu")
    cells = draws.complete(0.0, *MOONS_NUS)
    tests = [draws.compare(cell, nu, 0.0) for cell in cells for nu in MOONS_NUS]
    texts = [
        f"{cell[0]}: {', '.join(f'{mean_of(draws, cell, nu):.1f}' for nu in (0.0, *MOONS_NUS))}"
        for cell in cells
    ]
    ours = (
        f"Error in % for nu = 0, {', '.join(f'{nu:g}' for nu in MOONS_NUS)}; {'; '.join(texts)} "
        f"({tests[0].n_pairs} draws)."
    )
    return Finding(ours, verdict_of_places(sum(are_below(tests)), len(tests)))


def judge_losses(records: Records) -> Finding:
    """Judge that hinge and epsilon-insensitive losses give similar results (section 6.1)."""
    draws = Draws(records, "losses")
    first, second = "logistic, squared", "hinge, epsilon-insensitive"
    cells = {nu: cell for cell in draws.complete(first, second) for nu in MOONS_NUS if nu in cell}
    tests = {nu: draws.compare(cells[nu], second, first) for nu in sorted(cells)}
    texts = [f"{test.mean:+.1f} ± {test.sd:.1f} (nu = {nu:g})" for nu, test in tests.items()]
    return Finding(
        f"Hinge minus logistic, error in points: {', '.join(texts)}.",
        verdict_of_places(sum(are_similar(tests.values())), len(tests)),
    )


def judge_lower_or_similar(records: Records) -> Finding:
    """Judge that InvSVM is lower than or similar to SVM and LapSVM in most cells (Table 1).

    The difference must be significantly below the margin, in more than half of the comparisons.
    """
    draws = Draws(records, "method")
    cells = draws.complete("SVM", "LapSVM", "InvSVM")
    tests = [draws.compare(c, "InvSVM", other) for c in cells for other in ("SVM", "LapSVM")]
    n_true = sum(are_lower_or_similar(tests))
    n_uncorrected = sum(p_value_below(test, MARGIN) <= LEVEL for test in tests)
    ours = (
        f"At most {MARGIN:g} points above, significantly, in {n_true} of {len(tests)} comparisons "
        f"({n_uncorrected} without Holm's correction); significantly above in "
        f"{sum(are_above(tests))}, significantly below in {sum(are_below(tests))}."
    )
    return Finding(ours, HOLDS if n_true > len(tests) / 2 else FAILS)


def judge_gain(records: Records) -> Finding:
    """Judge that the mean gain of InvSVM over the SVM is the printed one (Table 1)."""
    draws = Draws(records, "method")
    cells = draws.complete("SVM", "InvSVM")
    mean, error = draws.gain(cells, "InvSVM", "SVM")
    return _compare_gain(f"{mean:+.2f} ± {error:.2f}", mean, error, cells)


def judge_choice(records: Records) -> Finding:
    """Judge the gain that the best choice of parameters would have (Table 1).

    Each method takes, in each draw, the parameters with the lowest test error, which cannot be
    known. This bounds what any choice of parameters can reach.
    """
    draws = Draws(records, "method", "lowest_error")
    cells = draws.complete("SVM", "InvSVM")
    mean, error = draws.gain(cells, "InvSVM", "SVM")
    held_out, _ = Draws(records, "method", "held_out_error").gain(cells, "InvSVM", "SVM")
    text = f"{mean:+.2f} ± {error:.2f}, in the held-out error {held_out:+.2f}"
    return _compare_gain(text, mean, error, cells)


def _compare_gain(
    text: str, mean: float, error: float, cells: Sequence[tuple[Any, ...]]
) -> Finding:
    """Return whether a mean gain is within two standard errors of the printed one."""
    printed, printed_sd = printed_gain(cells)
    ours = (
        f"InvSVM minus SVM {text} points (± standard error), paper {printed:+.2f} ± "
        f"{printed_sd:.2f}, {len(cells)} cells."
    )
    is_near = abs(mean - printed) <= 2 * np.hypot(error, printed_sd)
    return Finding(ours, HOLDS if is_near else FAILS)


def judge_cells(records: Records) -> Finding:
    """Judge whether the errors of InvSVM are within the margin of the paper's, or lower (Table 1).

    Of the other cells, count those whose SVM is above the paper's as well, and those in which no
    choice of lambda and nu reaches the paper's error.
    """
    draws, lowest = Draws(records, "method"), Draws(records, "method", "lowest_error")
    cells = draws.complete("SVM", "InvSVM")
    worse = [cell for cell in cells if excess(draws, cell, "InvSVM") > MARGIN]
    also_svm = sum(excess(draws, cell, "SVM") > 0 for cell in worse)
    unreachable = sum(excess(lowest, cell, "InvSVM") > 0 for cell in worse)
    ours = (
        f"More than {MARGIN:g} points above the paper in {len(worse)} of {len(cells)} cells; in "
        f"{also_svm} of these the SVM is above the paper's as well, and in {unreachable} even the "
        "lowest test error of the grid."
    )
    return Finding(ours, verdict_of_places(len(cells) - len(worse), len(cells)))


def judge_svm(records: Records) -> Finding:
    """Judge that SVM and LapSVM have similar errors with 90 labels (section 6.2)."""
    draws = Draws(records, "method")
    cells = [cell for cell in draws.complete("SVM", "LapSVM") if 90 in cell]
    tests = [draws.compare(cell, "LapSVM", "SVM") for cell in cells]
    ours = f"LapSVM minus SVM, points: {_by_data(cells, tests)}."
    return Finding(ours, verdict_of_places(sum(are_similar(tests)), len(tests)))


def judge_even_lower(records: Records) -> Finding:
    """Judge that InvSVM has an even lower error than the SVM with 90 labels (section 6.2)."""
    draws = Draws(records, "method")
    cells = [cell for cell in draws.complete("SVM", "InvSVM") if 90 in cell]
    tests = [draws.compare(cell, "InvSVM", "SVM") for cell in cells]
    ours = f"InvSVM minus SVM, points: {_by_data(cells, tests)}."
    return Finding(ours, verdict_of_places(sum(are_below(tests)), len(tests)))


def _by_data(cells: Sequence[tuple[Any, ...]], tests: Sequence[PairedComparison]) -> str:
    """Return the mean and standard deviation of the difference of each data set, as a text."""
    return ", ".join(
        f"{cell[0]} {test.mean:+.1f} ± {test.sd:.1f}"
        for cell, test in zip(cells, tests, strict=True)
    )


def judge_lowest(records: Records) -> Finding:
    """Judge whether the method with the lowest printed error has the lowest one here (Table 1)."""
    draws = Draws(records, "method")
    cells = draws.complete(*METHODS)
    n_lowest = n_tied = 0
    for cell in cells:
        printed = min(METHODS, key=lambda method: printed_error(cell, method))
        lowest = min(METHODS, key=lambda method: mean_of(draws, cell, method))
        n_lowest += printed == lowest
        n_tied += printed == lowest or not any(are_above([draws.compare(cell, printed, lowest)]))
    ours = (
        f"The same method in {n_lowest} of {len(cells)} cells (a third by chance); in {n_tied} it "
        "is the lowest or not significantly above the lowest."
    )
    return Finding(ours, verdict_of_places(n_lowest, len(cells)))


def judge_deviations(records: Records) -> Finding:
    """Compare standard deviations over draws with the printed ones (Table 1)."""
    draws = Draws(records, "method")
    ratios, n_outside = [], 0
    for cell in draws.complete(*METHODS):
        for method in METHODS:
            own = np.std(list(draws.cells[cell][method].values()), ddof=1)
            ratio = float(own) / printed_deviation(cell, method)
            ratios.append(ratio)
            # the 99 % interval of the ratio of two standard deviations of ten draws
            n_outside += not 0.39 <= ratio <= 2.56
    p_value = binomtest(n_outside, len(ratios), 0.01, alternative="greater").pvalue
    ours = (
        f"Ours over printed: median {np.median(ratios):.1f}, from {min(ratios):.1f} to "
        f"{max(ratios):.1f}; {n_outside} of {len(ratios)} outside the 99 % interval of equal ones "
        f"(p = {p_value:.1g})."
    )
    return Finding(ours, HOLDS if p_value > LEVEL else FAILS)


def mean_of(draws: Draws, cell: tuple[Any, ...], value: Any) -> float:
    """Return the mean over draws."""
    return float(np.mean(list(draws.cells[cell][value].values())))


def excess(draws: Draws, cell: tuple[Any, ...], method: str) -> float:
    """Return the mean error of a method minus the paper's."""
    return mean_of(draws, cell, method) - printed_error(cell, method)


def printed_error(cell: tuple[Any, ...], method: str) -> float:
    """Return the paper's error of a method for a data set and a number of labels."""
    return PRINTED[cell[0]][METHODS.index(method)][TABLE_LABELS.index(cell[1])]


def printed_deviation(cell: tuple[Any, ...], method: str) -> float:
    """Return the paper's standard deviation over its ten draws."""
    return PRINTED_DEVIATIONS[cell[0]][method][TABLE_LABELS.index(cell[1])]


def printed_gain(cells: Sequence[tuple[Any, ...]]) -> tuple[float, float]:
    """Return the printed mean difference of InvSVM and SVM, and its standard error.

    The draws of the two methods are taken to be independent, since the paper does not print the
    deviation of their difference.
    """
    gains = [printed_error(cell, "InvSVM") - printed_error(cell, "SVM") for cell in cells]
    variances = [
        printed_deviation(cell, method) ** 2 / 10 for cell in cells for method in ("InvSVM", "SVM")
    ]
    return float(np.mean(gains)), float(np.sqrt(sum(variances)) / len(cells))


def judge_digits(method: str) -> Judge:
    """Return the judge that a method is below virtual samples in most pairs (Figure 2)."""

    def judge(records: Records) -> Finding:
        draws = Draws(records, "method")
        cells = draws.complete(method, "VirSVM")
        tests = [draws.compare(cell, method, "VirSVM") for cell in cells]
        texts = []
        for cell, test in zip(cells, tests, strict=True):
            own, virtual = draws.pair(cell, method, "VirSVM")
            texts.append(
                f"{cell[0]} {own.mean():.1f} against {virtual.mean():.1f}, p = {test.p_value:.2g}"
            )
        n_below = sum(are_below(tests))
        ours = (
            f"Error in %: {'; '.join(texts)}. Significantly lower in {n_below} of {len(tests)} "
            f"pairs, significantly higher in {sum(are_above(tests))}."
        )
        return Finding(ours, HOLDS if n_below > len(tests) / 2 else FAILS)

    return judge


def judge_orders(records: Records) -> Finding:
    """Judge that derivatives of second order are a useful penalty (after Theorem 4)."""
    draws = Draws(records, "order")
    tests = {cell[1]: draws.compare(cell, 2, 1) for cell in draws.complete(1, 2) if cell[1] > 0}
    return _by_nu("Error of the second order minus that of the first, in hundredths", tests)


def judge_averages(kernel: str) -> Judge:
    """Return the judge that a penalty on local averages lowers the error (section 4.3)."""

    def judge(records: Records) -> Finding:
        draws = Draws(records, "nu")
        (cell,) = (cell for cell in draws.complete(0.0) if kernel in cell)
        tests = {nu: draws.compare(cell, nu, 0.0) for nu in sorted(draws.cells[cell]) if nu > 0}
        return _by_nu("Change of the error by the penalty, in points", tests)

    return judge


def judge_imbalance(other: str) -> Judge:
    """Return the judge that flatness at the minority lowers its error (future work).

    Parameters
    ----------
    other : {"equal", "majority"}
        The weights to compare with.
    """

    def judge(records: Records) -> Finding:
        draws = Draws(records, "weights", "minority_error")
        cells = [cell for cell in draws.complete("minority", other) if cell[1] > 0]
        tests = {cell[1]: draws.compare(cell, "minority", other) for cell in cells}
        return _by_nu("Difference of the errors of the minority, in points", tests)

    return judge


def _by_nu(what: str, tests: Mapping[float, PairedComparison]) -> Finding:
    """Return in how many of all nu a difference is significantly negative."""
    adjusted = adjusted_p_values([test.p_value for test in tests.values()])
    texts = [
        f"{test.mean:+.1f} ± {test.sd:.1f} (nu = {nu:g}, p = {p:.2g})"
        for (nu, test), p in zip(tests.items(), adjusted, strict=True)
    ]
    n_draws = next(iter(tests.values())).n_pairs
    ours = f"{what}: {', '.join(texts)}; {n_draws} draws, p with Holm's correction."
    return Finding(ours, verdict_of_places(sum(are_below(tests.values())), len(tests)))


def judge_variation(records: Records) -> Finding:
    """Judge that a larger weight of the penalty lowers the total variation (future work)."""
    draws = Draws(records, "nu", "variation")
    (cell,) = (cell for cell in draws.complete(0.0) if "absolute" in cell)
    nus = sorted(draws.cells[cell])
    tests = {nu: draws.compare(cell, nu, smaller) for smaller, nu in pairwise(nus)}
    return _by_nu("Change of the total variation from the next smaller nu", tests)


def judge_variation_error(records: Records) -> Finding:
    """Judge that total variation has a lower error than a squared penalty (our statement)."""
    draws = Draws(records, "penalty")
    cells = draws.complete("absolute", "squared")
    best = {
        penalty: min(cells, key=lambda cell: mean_of(draws, cell, penalty))
        for penalty in ("absolute", "squared")
    }
    own, squared = (draws.cells[best[penalty]][penalty] for penalty in best)
    seeds = sorted(own.keys() & squared.keys())
    test = compare_paired([own[s] for s in seeds], [squared[s] for s in seeds])
    ours = (
        f"Absolute minus squared penalty: {test.mean:+.1f} ± {test.sd:.1f} hundredths, p = "
        f"{test.p_value:.2g} ({test.n_pairs} draws)."
    )
    return Finding(ours, HOLDS if any(are_below([test])) else FAILS)


def judge_norms(records: Records) -> Finding:
    """Judge that the norm of the functionals affects the optimisation (section 7)."""
    draws = Draws(records, "norm", "steps")
    texts, affected = [], {}
    for cell, by_norm in draws.cells.items():
        means = {norm: np.mean(list(values.values())) for norm, values in sorted(by_norm.items())}
        affected[cell[0]] = max(means.values()) > 2 * min(means.values())
        steps = ", ".join(f"{mean:.0f}" for mean in means.values())
        texts.append(f"{cell[0]}: {steps} steps for norms {', '.join(map(str, means))}")
    return Finding(f"{'; '.join(texts)}.", HOLDS if affected.get("coefficients") else FAILS)
