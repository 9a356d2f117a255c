"""What Liu et al. (2022) state, and where the library has it."""

from __future__ import annotations

import math

import numpy as np

from invarlearn._utils.statistics import compare_paired
from invarlearn.experiments.claims import (
    ABSENT,
    CORRECTED,
    FAILS,
    HOLDS,
    Claim,
    Finding,
    Missing,
    Paper,
)
from invarlearn.experiments.judging import (
    LEVEL,
    Judge,
    Records,
    mean_of_draws,
    values_of_draws,
)
from invarlearn.experiments.liu import EXAMPLE_2
from invarlearn.experiments.liu_authors import (
    FIGURE_SIZES,
    TABLE_2_AUTHORS,
    TABLE_METHODS,
    TABLE_SIZES,
)
from invarlearn.experiments.liu_definiteness import TABLE_1

# The accuracy of the best networks of D'Souza et al. (2020), which the paper quotes.
QUOTED_NETWORK = dict(zip(TABLE_SIZES, (68.33, 83.20, 91.33), strict=True))
NEW_KERNELS = ["L", "TI", "RI", "L-TI", "L-RI", "TI-RI", "L-TI-RI"]


def judge_theorem(what: str) -> Judge:
    """Return a judge of "definite with probability tending to one" for a kernel."""

    def judge(records: Records) -> Finding | None:
        sides = sorted({record["run"]["side"] for record in records})
        largest = sides[-1]
        at_bound = mean_of_draws(records, "definite", what=what, side=largest, times=1.0)
        times = sorted({record["run"]["times"] for record in records})
        definite = [
            t
            for t in times
            if mean_of_draws(records, "definite", what=what, side=largest, times=t) == 100
        ]
        text = (
            f"{at_bound:.0f} % of the matrices of {largest} x {largest} images are definite at the "
            f"bound, all up to {max(definite, default=0):g} times the bound."
        )
        return Finding(text, HOLDS if at_bound == 100 else FAILS)

    return judge


def judge_table_1(records: Records) -> Finding:
    """Judge whether the polynomial kernel is definite for more rows than the linear one."""
    texts, is_larger = [], True
    for data in ("MNIST", "Translated MNIST"):
        linear = mean_of_draws(records, "n", data=data, kernel="linear")
        polynomial = mean_of_draws(records, "n", data=data, kernel="polynomial")
        is_larger &= polynomial > linear
        texts.append(f"{data}: {linear:.0f} and {polynomial:.0f} rows")
    return Finding("; ".join(texts) + ".", HOLDS if is_larger else FAILS)


def judge_gamma(records: Records) -> Finding | None:
    """Judge whether one gamma gives both printed numbers of the polynomial kernel."""
    texts, close = [], []
    n_max = max(record["result"]["n_rows"] for record in records)
    for data, printed in (("MNIST", 375), ("Translated MNIST", 15000)):
        kernels = {
            record["run"]["kernel"] for record in records if record["run"]["kernel"] != "linear"
        }
        n_rows = {k: mean_of_draws(records, "n", data=data, kernel=k) for k in sorted(kernels)}
        if not n_rows or any(map(math.isnan, n_rows.values())):
            return None
        nearest = min(n_rows, key=lambda k: abs(math.log(n_rows[k] / printed)))
        # a kernel that is definite for all rows may be so for more
        close.append(
            {
                kernel
                for kernel, n in n_rows.items()
                if abs(n - printed) <= 0.1 * printed or (n == n_max and printed > n_max)
            }
        )
        texts.append(f"{data}: {n_rows[nearest]:.0f} rows with {nearest!r} (paper {printed})")
    both = close[0] & close[1]
    return Finding("; ".join(texts) + ".", HOLDS if both else FAILS)


def _accuracies(records: Records, n_labels: int) -> dict[str, float]:
    """Return the accuracy of each row of Table 2 that has runs."""
    accuracies = {
        method: mean_of_draws(records, method=method, n_labels=n_labels) for method in TABLE_METHODS
    }
    return {method: value for method, value in accuracies.items() if not math.isnan(value)}


def judge_new_kernels(records: Records) -> Finding | None:
    """Judge whether every new kernel is more accurate than the plain SVM."""
    n_comparisons = n_above = 0
    for n in TABLE_SIZES:
        accuracies = _accuracies(records, n)
        if not {"SVM", *NEW_KERNELS} <= set(accuracies):
            return None
        n_comparisons += len(NEW_KERNELS)
        n_above += sum(accuracies[method] > accuracies["SVM"] for method in NEW_KERNELS)
    text = f"In {n_above} of {n_comparisons} comparisons."
    return Finding(text, HOLDS if n_above == n_comparisons else FAILS)


def judge_network(records: Records) -> Finding | None:
    """Judge whether the best new kernel is more accurate than the quoted networks."""
    texts, is_better = [], True
    for n, quoted in QUOTED_NETWORK.items():
        accuracies = _accuracies(records, n)
        if not set(NEW_KERNELS) <= set(accuracies):
            return None
        best = max(NEW_KERNELS, key=lambda method: accuracies[method])
        is_better &= accuracies[best] > quoted
        texts.append(f"{best} {accuracies[best]:.2f} at {n} (network {quoted:.2f})")
    return Finding("; ".join(texts) + ".", HOLDS if is_better else FAILS)


def judge_pair(better: str, worse: str) -> Judge:
    """Return a judge of whether one row of Table 2 is above another at every size."""

    def judge(records: Records) -> Finding | None:
        differences = [
            mean_of_draws(records, method=better, n_labels=n)
            - mean_of_draws(records, method=worse, n_labels=n)
            for n in TABLE_SIZES
        ]
        if np.isnan(differences).any():
            return None
        text = ", ".join(f"{d:+.2f} at {n}" for d, n in zip(differences, TABLE_SIZES, strict=True))
        return Finding(f"{text} points.", HOLDS if min(differences) > 0 else FAILS)

    return judge


def judge_figure(method: str, than: str) -> Judge:
    """Return a judge of whether a line of Figure 2 is above another with 100 samples.

    It must be significantly above in every panel, by paired t-tests over the draws.
    """

    def judge(records: Records) -> Finding | None:
        panels = sorted({(run["run"]["data"], run["run"]["noise"]) for run in records})
        texts, n_above = [], 0
        for data, noise in panels:
            place = {"data": data, "noise": noise, "n_labels": FIGURE_SIZES[0]}
            ours = values_of_draws(records, method=method, **place)
            others = values_of_draws(records, method=than, **place)
            if len(ours) != len(others) or len(ours) < 2:
                return None
            pair = compare_paired(ours, others)
            n_above += pair.mean > 0 and pair.p_value <= LEVEL
            texts.append(
                f"{data}, noise {noise:g}: {pair.mean:+.1f} points (p = {pair.p_value:.2g})"
            )
        return Finding("; ".join(texts) + ".", HOLDS if n_above == len(panels) else FAILS)

    return judge


def judge_growth(method: str, than: str) -> Judge:
    """Return a judge of whether the gain of a line of Figure 2 falls with the number of samples."""

    def judge(records: Records) -> Finding | None:
        panels = sorted({(run["run"]["data"], run["run"]["noise"]) for run in records})
        texts, falls = [], True
        for data, noise in panels:
            gains = [
                mean_of_draws(records, method=method, data=data, noise=noise, n_labels=n)
                - mean_of_draws(records, method=than, data=data, noise=noise, n_labels=n)
                for n in FIGURE_SIZES
            ]
            if np.isnan(gains).any():
                return None
            falls &= gains[-1] < gains[0]
            texts.append(f"{data}, noise {noise:g}: {gains[0]:+.1f} to {gains[-1]:+.1f} points")
        return Finding("; ".join(texts) + ".", HOLDS if falls else FAILS)

    return judge


def judge_spread(records: Records) -> Finding | None:
    """Judge whether invariant kernels vary less between draws than the network."""
    n_less = n_cells = 0
    for data, noise in sorted({(run["run"]["data"], run["run"]["noise"]) for run in records}):
        for n in FIGURE_SIZES:
            place = {"data": data, "noise": noise, "n_labels": n}
            draws = [
                values_of_draws(records, method=method, **place)
                for method in ("L-invariant", "ResNet-18")
            ]
            if min(map(len, draws)) < 2:
                return None
            spreads = [values.std() for values in draws]
            n_cells += 1
            n_less += spreads[0] < spreads[1]
    text = f"In {n_less} of {n_cells} cells."
    return Finding(text, HOLDS if n_less > n_cells / 2 else FAILS)


def judge_resnet(records: Records) -> Finding | None:
    """Judge whether the authors' ResNet is as accurate as the quoted networks, within noise."""
    texts, is_similar = [], True
    for n, quoted in QUOTED_NETWORK.items():
        values = values_of_draws(records, n_labels=n)
        if len(values) < 2:
            return None
        error = float(values.std(ddof=1)) * math.sqrt(1 + 1 / len(values))
        is_similar &= abs(values.mean() - quoted) <= 2 * error
        texts.append(f"{values.mean():.1f} ± {values.std(ddof=1):.1f} at {n} (quoted {quoted})")
    return Finding("; ".join(texts) + ".", HOLDS if is_similar else FAILS)


PAPER = Paper(
    name="liu",
    short="Liu et al. (2022)",
    authors="Tao Liu, P. R. Kumar, Ruida Zhou, Xi Liu",
    title=(
        "Learning from few samples: transformation-invariant SVMs with composition and locality at "
        "multiple scales"
    ),
    tables=[TABLE_2_AUTHORS, TABLE_1, EXAMPLE_2],
    claims=[
        Claim(
            "Equation (1)",
            "The best-fit kernel is the supremum of the base kernel over the family.",
            "invarlearn.kernels.OrbitKernel",
            "test_equals_brute_force",
        ),
        Claim(
            "Lemma 1",
            "Over a group, the best-fit kernel is symmetric and invariant.",
            "invarlearn.kernels.OrbitKernel",
            "test_group_orbits_make_the_kernel_invariant",
        ),
        Claim(
            "Example 1, Theorem 1, condition",
            "The number of rows that the theorem allows, as a function of the spectrum.",
            "invarlearn.kernels.definite_bound",
            "test_definite_bound_is_that_of_the_theorem",
        ),
        Claim(
            "Theorem 1",
            "The best-fit linear kernel is definite with probability tending to one, up to the "
            "bound.",
            "invarlearn.kernels.definite_bound",
            "003-theorems",
            judge=judge_theorem("TI, linear"),
        ),
        Claim(
            "Theorem 2",
            "The same holds for polynomial kernels.",
            "invarlearn.kernels.definite_bound",
            "003-theorems",
            judge=judge_theorem("TI, polynomial"),
            remark="The best fit is taken at the largest inner product, see the errata.",
        ),
        Claim(
            "Lemma 2",
            "The same holds for rotations in polar coordinates.",
            "invarlearn.transforms.PolarRotation",
            "003-theorems",
            judge=judge_theorem("RI, polynomial"),
        ),
        Claim(
            "Equation (3)",
            "Even degrees: the supremum of the power.",
            "invarlearn.kernels.OrbitKernel",
            "test_negative_products_do_not_win_through_an_even_degree",
            verdict=CORRECTED,
        ),
        Claim(
            "Remark after Theorem 2, Table 1",
            "The polynomial kernel is definite for many more rows than the linear one.",
            "invarlearn.kernels.definite_up_to",
            "003-table1",
            judge=judge_table_1,
        ),
        Claim(
            "Table 1, reading of gamma",
            "One gamma gives both numbers of the polynomial kernel.",
            "invarlearn.kernels.definite_up_to",
            "003-table1",
            judge=judge_gamma,
            remark="The paper does not state gamma; this statement is ours.",
        ),
        Claim(
            "Equation (4), section 2.3.1",
            "The average-fit linear kernel depends on the mean brightness only.",
            "invarlearn.kernels.HaarKernel",
            "test_average_fit_of_the_linear_kernel_is_the_product_of_means",
            verdict=CORRECTED,
            remark="There is no factor m.",
        ),
        Claim(
            "Section 2.3.2",
            "An SVM on augmented data is equivalent to the average-fit kernel.",
            "invarlearn.VirtualSVC",
            "test_augmentation_is_the_average_fit_with_a_larger_c",
            verdict=CORRECTED,
            remark="For C times the number of elements, and a whole group.",
        ),
        Claim(
            "Section 2.4",
            "In polar coordinates, rotations are cyclic shifts of sectors.",
            "invarlearn.transforms.PolarRotation",
            "test_polar_pixels_keep_inner_products_and_rotate_exactly",
        ),
        Claim(
            "Equations (5) and (6)",
            "Local kernels in one and two layers, and deeper.",
            "invarlearn.kernels.LocalPolynomial",
            "test_equals_the_sums_written_out",
            verdict=CORRECTED,
            remark="Windows have k pixels, not k + 1.",
        ),
        Claim(
            "Lemma 3",
            "Local kernels are positive definite.",
            "invarlearn.kernels.LocalPolynomial",
            "test_keeps_the_contract",
        ),
        Claim(
            "Section 3",
            "Channels of an image are combined before the first layer.",
            "invarlearn.kernels.LocalPolynomial",
            "test_equals_the_sums_written_out",
        ),
        Claim(
            "Section 3, locality and invariance",
            "A local kernel can be the base of a best-fit kernel.",
            "invarlearn.kernels.OrbitKernel",
            "test_wrapped_windows_do_not_see_cyclic_shifts",
            verdict=CORRECTED,
            remark="The result is invariant only if windows wrap around the image.",
        ),
        Claim(
            "Section 3, complexity",
            "Time and memory are linear in the depth if all layers are stored; otherwise time is "
            "exponential in the depth.",
            "invarlearn.kernels.LocalPolynomial",
            "",
            verdict=ABSENT,
            remark="Not measured. Box filters need one layer in memory and linear time.",
        ),
        Claim(
            "Section 4.2, Table 2",
            "Every new kernel is more accurate than the SVM.",
            "invarlearn.OrbitSVC",
            "003-table2-authors",
            judge=judge_new_kernels,
        ),
        Claim(
            "Section 4.2, Table 2",
            "The kernels are more accurate than the best network without augmentation.",
            "invarlearn.OrbitSVC",
            "003-table2-authors",
            judge=judge_network,
            remark="The networks are quoted from D'Souza et al. (2020) by the paper.",
        ),
        Claim(
            "Section 2.3.1, Table 2",
            "The average fit is less accurate than the best fit.",
            "invarlearn.kernels.OrbitKernel",
            "003-table2-authors",
            judge=judge_pair("RI", "RI, average fit"),
        ),
        Claim(
            "Section 4.2",
            "Neighbours by tangent distance are more accurate than SVMs on it.",
            "invarlearn.kernels.TangentDistance",
            "003-table2-authors",
            judge=judge_pair("TD", "TD-SVM"),
            remark="With C = 1 and gamma = 1 / 784, as in the authors' code.",
        ),
        Claim(
            "Section 4.2, Figure 2",
            "L-TI and L-RI are considerably more accurate than the SVM with few samples.",
            "invarlearn.OrbitSVC",
            "003-figure2",
            judge=judge_figure("L-invariant", "SVM"),
        ),
        Claim(
            "Section 4.2, Figure 2",
            "The benefit of domain knowledge decreases with more samples.",
            "invarlearn.OrbitSVC",
            "003-figure2",
            judge=judge_growth("L-invariant", "SVM"),
        ),
        Claim(
            "Section 4.2, Figure 2",
            "The accuracy of the new methods varies less between draws than that of ResNet.",
            "invarlearn.OrbitSVC",
            "003-figure2",
            judge=judge_spread,
        ),
        Claim(
            "Table 2, caption",
            "The authors' ResNet is about as accurate as the best networks of D'Souza et al.",
            "",
            "003-table2-resnet",
            judge=judge_resnet,
        ),
        Claim(
            "Section 4.2, Figure 2",
            "TI and RI are more accurate than ResNet with few samples.",
            "invarlearn.OrbitSVC",
            "003-figure2",
            judge=judge_figure("invariant", "ResNet-18"),
        ),
    ],
    missing=[
        Missing(
            "Table 2, EMNIST letters",
            33,
            "EMNIST cannot be had. `003-table2` has other images of letters.",
        ),
        Missing(
            "Table 2, best CNN on MNIST",
            3,
            "Quoted by the paper from D'Souza et al. (2020), who searched over architectures.",
        ),
        Missing("Table 1, EMNIST", 2, "EMNIST cannot be had."),
    ],
)
