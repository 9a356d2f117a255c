"""The claims of Teo et al.: evidence that exists, and judges that find what they should."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from invarlearn.experiments import EXPERIMENTS
from invarlearn.experiments.claims import FAILS, HOLDS
from invarlearn.experiments.teo import twenty
from invarlearn.experiments.teo_claims import PAPER
from invarlearn.experiments.teo_judges import (
    judge_best_errors,
    judge_best_support,
    judge_errors,
    judge_grid,
    judge_mcnemar,
    judge_more_support,
    judge_rate,
    judge_spam,
)

TESTS = Path(__file__).parents[1]


def test_every_claim_has_code_and_evidence_that_exist():
    names = {
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
    }
    for claim in PAPER.claims:
        module, _, name = claim.code.rpartition(".")
        assert hasattr(import_module(module), name), claim.code
        if claim.evidence:
            assert claim.evidence in (EXPERIMENTS if claim.judge else names), claim.evidence


def test_the_family_of_section_5_1_has_twenty_transformations():
    family = twenty()
    assert family.n_elements == 21
    image = np.zeros((28, 28))
    image[10:16, 12:15] = 1
    orbit = family.orbit(image.reshape(1, -1))[0].reshape(21, 28, 28)
    # shifts by one pixel in 4 directions, and by two pixels in 8
    shifts = [(1, 0), (-1, 0), (0, 1), (0, -1)]
    shifts += [(a, b) for a in (-2, 0, 2) for b in (-2, 0, 2) if (a, b) != (0, 0)]
    for shift in shifts:
        found = (orbit == np.roll(image, shift, axis=(0, 1))).all(axis=(1, 2)).sum()
        assert found == 1, shift
    # the others are two rotations, two scalings and four shears, all different
    assert len({element.round(9).tobytes() for element in orbit}) == 21


def records(values, **axes):
    """Return records with results from ``values(draw, **cell)``, in three draws of each cell."""
    cells = [{}]
    for name, options in axes.items():
        cells = [{**cell, name: option} for cell in cells for option in options]
    return [
        {"run": {**cell, "seed": seed}, "result": values(seed, **cell)}
        for cell in cells
        for seed in range(3)
    ]


# sums to zero
NOISE = (0.1, -0.1, 0.05, -0.05, 0.2, -0.2)
METHODS = ("STD-SVM", "VIR-SVM", "Invar-SVM")


@pytest.mark.parametrize(("gain", "verdict"), [(3.0, HOLDS), (-3.0, FAILS), (0.0, FAILS)])
def test_errors_are_compared_draw_by_draw(gain, verdict):
    def values(seed, method, per_digit):
        noise = 0.1 * (seed - 1) * METHODS.index(method)
        return {"error": 20 + 5 * seed + noise - gain * (method != "STD-SVM")}

    finding = judge_errors(records(values, method=METHODS, per_digit=[10, 20]))
    assert finding.verdict == verdict
    assert f"10 per digit: 25.0, {25 - gain:.1f}, {25 - gain:.1f}" in finding.ours


@pytest.mark.parametrize(("ratio", "verdict"), [(0.5, HOLDS), (0.8, FAILS), (1.01, FAILS)])
def test_support_vectors_are_compared_at_the_best_setting_of_each_method(ratio, verdict):
    best = {"STD-SVM": 3.0, "VIR-SVM": 1.0, "Invar-SVM": 10.0}

    def values(seed, method, gamma, C):
        is_best = best[method] == C
        few = ratio if method == "Invar-SVM" else 1.0
        gain = 5 if method != "STD-SVM" else 0
        return {
            "error": 20 + seed - gain * (1 + 0.01 * seed) - is_best,
            # far fewer where the error is larger
            "support_vectors": (1000 + seed) * few if is_best else 10,
        }

    grid = records(values, method=METHODS, gamma=[0.01], C=[1.0, 3.0, 10.0])
    finding = judge_best_support(grid)
    assert finding.verdict == verdict
    assert "VIR-SVM 1,001.0 ± 1.0 (gamma = 0.01, C = 1)" in finding.ours
    assert f"{ratio:.2f} ± 0.00 of VIR-SVM's (3 draws)." in finding.ours
    assert judge_best_errors(grid).verdict == HOLDS


@pytest.mark.parametrize(("ratio", "verdict"), [(1.5, HOLDS), (0.9, FAILS)])
def test_support_vectors_are_compared_with_those_of_the_plain_svm(ratio, verdict):
    def values(seed, method, per_digit):
        return {"support_vectors": 100 * per_digit * (ratio if method == "Invar-SVM" else 1.2)}

    plain = records(lambda seed, **_: {"support_vectors": 1000}, method=METHODS[:1], per_digit=[10])
    finding = judge_more_support(plain + records(values, method=METHODS[1:], per_digit=[10, 20]))
    assert finding.verdict == verdict
    assert finding.ours.endswith(f"Invar; 10 per digit: 1,000, 1,200, {1000 * ratio:,.0f}.")


@pytest.mark.parametrize(
    ("excess", "verdict"), [(-2.0, "holds in 2 of 4 places"), (2.0, FAILS), (0.0, FAILS)]
)
def test_the_grid_counts_settings_with_few_support_vectors_and_a_lower_error(excess, verdict):
    def values(seed, method, gamma, C):
        is_ours, noise = method == "Invar-SVM", 0.1 * np.cos(5 * seed)
        few = 0.5 if C == 1 else 1.0
        return {
            "error": 10 + seed + (excess + noise) * is_ours,
            "support_vectors": 1000 * (few if is_ours else 1),
        }

    grid = records(values, method=METHODS, gamma=[0.01, 0.02], C=[1.0, 10.0])
    finding = judge_grid(grid)
    assert finding.verdict == verdict
    assert "support vectors at 2 of 4 settings" in finding.ours
    assert ("gamma = 0.01, C = 1: 0.50 of" in finding.ours) == (excess < 0)
    with pytest.raises(ValueError, match="no cell has results of all of VIR-SVM, Invar-SVM"):
        judge_grid([r for r in grid if r["run"]["method"] == "VIR-SVM"])


def test_claims_have_no_verdict_before_all_runs_are_stored():
    claim = next(c for c in PAPER.claims if c.evidence == "004-figure1-grid")
    metrics = ("error", "support_vectors")
    stored = [
        {"run": run, "result": {m: 1.0 + run["seed"] for m in metrics}}
        for run in EXPERIMENTS[claim.evidence].runs("full")
    ]
    assert claim.judge(stored) is not None
    assert claim.judge(stored[:-1]) is None


@pytest.mark.parametrize(("exponent", "verdict"), [(0.9, HOLDS), (1.2, FAILS)])
def test_exponents_are_compared_with_their_standard_error(exponent, verdict):
    def values(seed, solver, lam):
        return {"exponent": exponent + 0.01 * seed + (solver == "b")}

    finding = judge_rate("a", 1.0)(records(values, solver=["a", "b"], lam=[0.1]))
    assert finding.verdict == verdict
    assert f"{exponent + 0.01:.2f} ± 0.01 with lam = 0.1" in finding.ours


@pytest.mark.parametrize(("step", "verdict"), [(1.0, HOLDS), (0.0, FAILS), (-1.0, FAILS)])
def test_losses_are_compared_over_test_sets(step, verdict):
    rank = {"hinge": 0, "FDROP": 1, "FSCALE": 2}

    def values(seed, pair, loss):
        return {"AUC": 80 + 3 * int(pair[-1]) + rank[loss] * (step + NOISE[int(pair[-1])])}

    pairs = [f"train to u0{k}" for k in range(6)]
    judge = judge_spam("AUC", ("FDROP", "hinge"), ("FSCALE", "hinge"))
    finding = judge(records(values, pair=pairs, loss=list(rank)))
    assert finding.verdict == verdict
    n_above = 6 if step > 0 else 0 if step < 0 else 3
    assert finding.ours.startswith(f"AUC: FDROP {step:+.2f} points against hinge")
    assert f"against hinge, higher for {n_above} of 6 test sets" in finding.ours
    assert "against FDROP" not in finding.ours


def test_significant_tests_count_by_their_direction():
    def values(seed, pair, loss):
        p = {"a": 1e-9, "b": 1e-9, "c": 0.4}[pair]
        gained = 50 if pair == "a" else 5
        return {
            "McNemar p, hinge": p,
            "correct, not by hinge": gained,
            "correct only by hinge": 20,
        }

    finding = judge_mcnemar(records(values, pair=["a", "b", "c"], loss=["FDROP", "FSCALE"]))
    assert finding.ours == (
        "Of 18 tests, with Holm's correction, 6 significantly better and 6 significantly worse."
    )
    assert finding.verdict == "holds in 6 of 18 places"
    assert judge_mcnemar(records(values, pair=["a"], loss=["FSCALE"])).verdict == HOLDS
