"""Verdicts on printed numbers, and the declarations of what papers state."""

import pickle
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from invarlearn.experiments import EXPERIMENTS, PAPERS, Experiment
from invarlearn.experiments.base import PrintedNumber
from invarlearn.experiments.claims import (
    ABSENT,
    BETTER,
    CORRECTED,
    EQUAL,
    FAILS,
    HOLDS,
    WITHIN_NOISE,
    WORSE,
    Claim,
    Finding,
    Missing,
    Paper,
    n_decimals,
    verdict_of,
)
from invarlearn.experiments.paper_page import NOT_RUN, count_numbers, paper_page, summary_table
from invarlearn.experiments.zhang_table import TABLE_1

TESTS = Path(__file__).parents[1]
CLAIMS = [(paper.name, claim) for paper in PAPERS for claim in paper.claims]


def toy_run(n, seed):
    return {"accuracy": 90.0 + n + seed}


def toy(published, published_draws=1, metric="accuracy", **options):
    return Experiment(
        id="toy",
        paper="Nobody (2000), Table 1",
        title="Toy",
        varies={"n": [1, 2]},
        run=toy_run,
        x="n",
        lines="n",
        metric=metric,
        published=published,
        published_draws=published_draws,
        **options,
    )


def row(mean, sd, draws, paper):
    difference = mean - paper
    return {
        "n": 1,
        "mean": mean,
        "sd": sd,
        "draws": draws,
        "paper": paper,
        "difference": difference,
    }


def test_printed_deviations_count_in_the_standard_error():
    values = row(70.3, 1.0, 4, 68.16)
    assert verdict_of(toy({(1,): 68.16}, 4), values) == BETTER
    # two standard errors: 2 * sqrt(1/4 + 4/4) = 2.24
    assert verdict_of(toy({(1,): 68.16}, 4, published_sd={(1,): 2.0}), values) == WITHIN_NOISE


@pytest.mark.parametrize(("number", "decimals"), [(68.16, 2), (21.0, 1), (375, 0), (8.7, 1)])
def test_decimals_are_those_of_the_printed_number(number, decimals):
    assert n_decimals(toy({(1,): number}), number) == decimals
    assert n_decimals(toy({(1,): number}, published_decimals=3), number) == 3


def test_printed_numbers_keep_zeros_at_their_end():
    number = PrintedNumber("7.90")
    assert number == 7.9
    assert n_decimals(toy({(1,): number}), number) == 2
    assert n_decimals(TABLE_1, TABLE_1.published["ionosphere", "InvSVM", 60]) == 2
    assert repr(pickle.loads(pickle.dumps(number))) == "7.90"
    # rounds to 7.9, but not to 7.90
    assert verdict_of(toy({(1,): number}, metric="error"), row(7.93, None, 1, number)) == WORSE


@pytest.mark.parametrize(
    ("values", "metric", "draws", "expected"),
    [
        # rounds to the printed number, with and without a spread
        ((68.162, None, 1), "accuracy", 1, EQUAL),
        ((68.164, 3.0, 5), "accuracy", 1, EQUAL),
        ((68.17, None, 1), "accuracy", 1, BETTER),
        ((68.15, None, 1), "accuracy", 1, WORSE),
        ((68.15, None, 1), "error", 1, BETTER),
        # two standard errors: 2 * 1 * sqrt(1/4 + 1) = 2.24, and 2 * sqrt(1/4 + 1/4) = 1.41
        ((70.3, 1.0, 4), "accuracy", 1, WITHIN_NOISE),
        ((70.3, 1.0, 4), "accuracy", 4, BETTER),
        ((70.3, 1.0, 4), "error", 4, WORSE),
    ],
)
def test_verdicts_on_numbers(values, metric, draws, expected):
    experiment = toy({(1,): 68.16}, draws, metric)
    assert verdict_of(experiment, row(*values, 68.16)) == expected


def stored(*values):
    return [
        {"run": {"n": n, "seed": seed}, "result": {"accuracy": value}, "seconds": 1.0}
        for n, seed, value in values
    ]


@pytest.fixture
def paper():
    return Paper(
        "nobody",
        "Nobody (2000)",
        "A. Nobody",
        "On nothing",
        tables=[toy({(1,): 91.0, (2,): 70.0}, seeds={"quick": 1, "full": 2})],
        claims=[
            Claim("Lemma 1", "It holds.", "invarlearn.OrbitSVC", "test_decimals"),
            Claim("Table 1", "It grows.", "", "toy", judge=lambda r: Finding("1.0", FAILS)),
        ],
        missing=[Missing("Table 2", 3, "The data are lost.")],
    )


def test_the_page_counts_all_printed_numbers(paper):
    records = stored((1, 0, 91.5), (1, 1, 90.5), (2, 0, 92.0), (2, 1, 93.0))
    counts = count_numbers(paper, lambda experiment: records)
    assert counts == {EQUAL: 1, WITHIN_NOISE: 0, BETTER: 1, WORSE: 0, ABSENT: 3, NOT_RUN: 0}
    page = paper_page(paper, {"toy": paper.tables[0]}, lambda experiment: records, "make it")
    assert "5 printed numbers: 1 equal, 1 better, 3 cannot be had." in page
    assert "| 1 | 91.0 | 91.0 ± 0.7 | 2 | +0.0 | 0.9 | equal |" in page
    assert (
        "| Table 1 | It grows. |  | `invarlearn reproduce toy --full` | 1.0 | does not hold |"
        in page
    )
    table = summary_table([paper], lambda experiment: records)
    assert "| all | 5 | 1 | 0 | 1 | 0 | 3 |" in table


def test_numbers_without_runs_are_counted_as_such(paper):
    records = stored((1, 0, 91.5), (1, 1, 90.5))
    assert count_numbers(paper, lambda experiment: records)[NOT_RUN] == 1
    page = paper_page(paper, {"toy": paper.tables[0]}, lambda experiment: [], "make it")
    assert "2 numbers: not run yet." in page
    assert "| not run yet |" in page
    page = paper_page(paper, {"toy": paper.tables[0]}, lambda experiment: records, "make it")
    assert "1 further numbers: not run yet." in page
    # the statement needs all runs
    assert "| 2 of 4 runs |" in page


def test_a_judge_without_the_runs_that_it_needs_gives_no_verdict(paper):
    claim = Claim("Table 1", "It grows.", "", "toy", judge=lambda records: None)
    paper = replace(paper, claims=[claim])
    page = paper_page(paper, {"toy": paper.tables[0]}, lambda _: stored((1, 0, 91.5)), "make it")
    assert "| Table 1 | It grows. |  | `invarlearn reproduce toy --full` |  | 1 of 4 runs |" in page


@pytest.mark.parametrize(("evidence", "judge"), [("003-best", None), ("test_it", print)])
def test_evidence_is_a_test_or_a_judged_experiment(evidence, judge):
    with pytest.raises(ValueError, match="pass judge with the id of an experiment"):
        Claim("Lemma 1", "It holds.", "", evidence, judge=judge)


@pytest.fixture(scope="module")
def names_of_tests():
    texts = [path.read_text() for path in TESTS.rglob("test_*.py")]
    return set(re.findall(r"^def (test_\w+)", "\n".join(texts), flags=re.MULTILINE))


@pytest.mark.parametrize(("paper", "claim"), CLAIMS, ids=lambda value: str(value)[:0])
def test_claims_name_code_and_evidence_that_exist(paper, claim, names_of_tests):
    if claim.judge is not None:
        assert claim.evidence in EXPERIMENTS
    elif claim.evidence:
        assert claim.evidence in names_of_tests
    else:
        assert claim.verdict == ABSENT
        assert claim.remark
    assert claim.verdict in (HOLDS, CORRECTED, FAILS, ABSENT)
    if claim.code:
        module, _, name = claim.code.rpartition(".")
        try:
            value = getattr(import_module(module), name)
        except ModuleNotFoundError:  # a method of a class
            module, _, class_name = module.rpartition(".")
            value = getattr(getattr(import_module(module), class_name), name)
        assert value is not None


def test_each_printed_number_is_in_one_table_and_declared():
    for paper in PAPERS:
        ids = [experiment.id for experiment in paper.tables]
        assert len(ids) == len(set(ids))
        for experiment in paper.tables:
            assert EXPERIMENTS[experiment.id] is experiment
            axes = experiment.axes("full").values()
            for cell in experiment.published:
                assert all(value in axis for value, axis in zip(cell, axes, strict=True))


@pytest.mark.parametrize(
    "claim",
    [claim for name, claim in CLAIMS if name == "liu" and claim.judge is not None],
    ids=lambda claim: claim.place,
)
def test_judges_of_liu_need_all_cells_and_name_numbers(claim):
    rng = np.random.RandomState(0)
    metrics = ("accuracy", "definite", "n", "n_rows", "margin")
    records = [
        {"run": run, "result": {metric: 50 + rng.rand() for metric in metrics}, "seconds": 1.0}
        for run in EXPERIMENTS[claim.evidence].runs("full")
    ]
    finding = claim.judge(records)
    assert finding.verdict in (HOLDS, FAILS)
    assert finding.ours.endswith(".")
    assert "nan" not in finding.ours
    few = claim.judge(records[:1])
    assert few is None or claim.evidence in ("003-theorems", "003-table1")


def test_judges_of_liu_follow_the_numbers():
    from invarlearn.experiments import liu_claims

    def records(**accuracies):
        return [
            {
                "run": {"method": method, "n_labels": n, "seed": 0},
                "result": {"accuracy": accuracies.get(method.replace("-", "_"), 80.0)},
            }
            for method in liu_claims.TABLE_METHODS
            for n in liu_claims.TABLE_SIZES
        ]

    assert liu_claims.judge_new_kernels(records(SVM=70.0)).verdict == HOLDS
    assert liu_claims.judge_new_kernels(records(SVM=70.0, TI=69.0)).verdict == FAILS
    assert liu_claims.judge_network(records(L_TI_RI=92.0)).verdict == HOLDS
    # the network has 91.33 with 500 labels
    assert liu_claims.judge_network(records(L_TI_RI=91.0)).verdict == FAILS
    # SVM is no new kernel
    assert liu_claims.judge_network(records(SVM=99.0)).verdict == FAILS
    pair = liu_claims.judge_pair("RI", "TI")
    assert pair(records(RI=81.0)).verdict == HOLDS
    assert pair(records()).verdict == FAILS
