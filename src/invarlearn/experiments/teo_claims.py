"""What Teo et al. (2007) state, and where the library has it."""

from __future__ import annotations

from invarlearn.experiments.claims import ABSENT, CORRECTED, Claim, Missing, Paper
from invarlearn.experiments.multiple_tests import judged_when_complete
from invarlearn.experiments.teo import EXPERIMENTS
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

_FORMULATION = (
    Claim(
        "Section 1, point 1",
        "The problem is convex, and any convex solver can be used: three solvers agree.",
        "invarlearn.solvers.WorstCaseProblem",
        "test_bundle_columns_and_pegasos_agree",
    ),
    Claim(
        "Section 1, point 2",
        "Invariances are arbitrary: the user provides a recipe for the worst case.",
        "invarlearn.WorstCaseSVC",
        "test_a_user_defined_oracle_can_replace_a_family",
    ),
    Claim(
        "Section 1, point 2, and section 2.1",
        "Degradations may be gradual: the cost depends on the transformation.",
        "invarlearn.oracles.Costs",
        "test_costs_may_fall_with_the_size_of_a_transformation",
    ),
    Claim(
        "Section 1, point 3",
        "The framework covers any structured estimation, such as labels of sequences.",
        "invarlearn.estimators.structured.Chain",
        "test_structured_outputs_have_the_same_optimum_with_every_solver",
    ),
    Claim(
        "Section 2.1",
        "Edits of strings, such as Viagra to V1agra, are invariances.",
        "invarlearn.estimators.strings.EditedStrings",
        "test_dynamic_programming_finds_the_worst_of_all_edits",
    ),
    Claim(
        "Section 2.1",
        "An invariance may hold for some classes only, such as reflections of the digits 0 and 8.",
        "invarlearn.oracles.Costs",
        "test_an_element_that_does_not_apply_is_never_the_worst",
    ),
    Claim(
        "Equation (2)",
        "The loss is the largest scaled margin violation plus cost over labels and "
        "transformations.",
        "invarlearn.oracles.linear_risk",
        "test_listed_risk_equals_brute_force",
    ),
    Claim(
        "Section 2.2, margin scale",
        "A nonnegative scale of the margin may differ between pairs of labels.",
        "invarlearn.oracles.Costs",
        "test_scaled_risk_equals_brute_force",
    ),
    Claim(
        "Lemma 1",
        "The loss is convex in f.",
        "invarlearn.oracles.Risk",
        "test_slopes_are_subgradients_and_the_risk_is_convex",
    ),
    Claim(
        "Equation (3)",
        "The worst label and transformation give a subgradient.",
        "invarlearn.oracles.Risk",
        "test_slopes_are_subgradients_and_the_risk_is_convex",
    ),
    Claim(
        "Equation (1)",
        "The cost of a sample is that of its worst transformation.",
        "invarlearn.audit.worst_case_accuracy",
        "test_accuracy_is_the_worst_over_the_orbit",
    ),
    Claim(
        "Lemma 2",
        "The loss is an upper bound of the cost of the worst transformation.",
        "invarlearn.oracles.Risk",
        "test_the_loss_bounds_the_worst_cost",
    ),
    Claim(
        "Equations (4), (5) and (7)",
        "The regularised risk with a kernel, and the inner products of its dual.",
        "invarlearn.oracles.OrbitColumns",
        "test_columns_agree_with_a_generic_qp_over_all_columns",
    ),
    Claim(
        "Equations (6a) and (6b)",
        "The dual of the regularised risk.",
        "invarlearn.solvers.ColumnGeneration",
        "test_the_dual_of_the_paper_needs_its_signs_corrected",
        verdict=CORRECTED,
    ),
    Claim(
        "Equation (8)",
        "The function f in terms of the dual variables.",
        "invarlearn.solvers.ColumnGeneration",
        "test_the_dual_of_the_paper_needs_its_signs_corrected",
        verdict=CORRECTED,
    ),
)

_ALGORITHMS = (
    Claim(
        "Section 3",
        "Column generation solves the problem approximately, and stores few columns.",
        "invarlearn.solvers.ColumnGeneration",
        "test_only_generated_columns_are_stored",
    ),
    Claim(
        "Algorithm 1",
        "A variant of SVMStruct with working sets of labels and transformations.",
        "invarlearn.solvers.ColumnGeneration",
        "test_null_columns_belong_to_every_working_set",
        verdict=CORRECTED,
    ),
    Claim(
        "Section 3.1",
        "Algorithm 1 converges to precision epsilon in a time of order 1 / epsilon, after an "
        "improvement of the order 1 / epsilon^2 of Tsochantaridis et al.",
        "invarlearn.solvers.ColumnGeneration",
        "004-rates",
        judge_rate("Algorithm 1 (columns)", 1.0),
        remark="Searches for worst cases are counted, not the time of the restricted duals.",
    ),
    Claim(
        "Section 3",
        "Bundle methods work with gradients; the paper's solver BMRM has order 1 / epsilon.",
        "invarlearn.solvers.Bundle",
        "004-rates",
        judge_rate("bundle", 1.0),
    ),
    Claim(
        "Algorithm 2",
        "Pegasos with the worst label and transformation of a sample.",
        "invarlearn.solvers.Pegasos",
        "test_pegasos_keeps_norm_and_average_up_to_date",
        verdict=CORRECTED,
        remark="The index of the sample, and f_{t+1} for f_{t+t}.",
    ),
    Claim(
        "Algorithm 2",
        "The optimum is in a ball of radius sqrt(2 R[0] / lambda).",
        "invarlearn.solvers.Pegasos",
        "test_the_smaller_radius_holds_the_optimum",
        remark="A ball of radius sqrt(R[0] / lambda) contains it.",
    ),
    Claim(
        "Theorem 3",
        "The regret of Algorithm 2 is at most R^2 (1 + log T) / (2 lambda T).",
        "invarlearn.solvers.regret.regret_bound",
        "test_the_regret_is_within_the_bound",
        verdict=CORRECTED,
        remark="R must bound the gradient of the regularised risk.",
    ),
    Claim(
        "Theorem 3",
        "The bound is of order 1 / T, up to a logarithm.",
        "invarlearn.solvers.Pegasos",
        "004-rates",
        judge_rate("Algorithm 2 (Pegasos)", 1.0),
    ),
)

_SPECIAL_CASES = (
    Claim(
        "Section 4, virtual support vectors",
        "Virtual samples of the support vectors only are far fewer than all virtual samples.",
        "invarlearn.VirtualSVC",
        "test_virtual_support_vectors_are_fewer",
    ),
    Claim(
        "Section 4, second-order cone programming",
        "Ellipsoids around the samples give a second-order cone program.",
        "invarlearn.transforms.Ellipsoid",
        "test_training_is_a_second_order_cone_program",
    ),
    Claim(
        "Section 4, semidefinite programming",
        "Polynomial trajectories give the semidefinite program of Graepel and Herbrich.",
        "invarlearn.transforms.PolynomialTrajectory",
        "test_training_is_the_semidefinite_program_of_graepel_and_herbrich",
    ),
    Claim(
        "Section 4, semidefinite programming",
        "The loss-based optimisation is likely to be faster than standard SDP solvers.",
        "invarlearn.WorstCaseLinearSVC",
        "",
        verdict=ABSENT,
        remark="There is no SDP solver among the dependencies to compare with.",
    ),
    Claim(
        "Section 4, robust estimation",
        "Deletion of features gives the quadratic program of Globerson and Roweis, with a variable "
        "for each sample and feature.",
        "invarlearn.transforms.FeatureDropping",
        "test_dropping_is_the_quadratic_program_of_globerson_and_roweis",
    ),
)

_NO_TRAINING_FILE = (
    "The labelled training file of task A of the ECML 2006 challenge is no longer available, nor "
    "is its tuning set."
)
_OTHER_INBOX = "From inbox to inbox: other training data than the paper's."
_TASK_B = "From 100 public e-mails to 15 inboxes: task B, which the paper does not use."


def _table_1(experiment: str, remark: str) -> tuple[Claim, ...]:
    """Return the statements of Table 1, on the e-mails of an experiment."""
    comparisons = {
        "FDROP and FSCALE significantly outperform the hinge loss": (
            ("FDROP", "hinge"),
            ("FSCALE", "hinge"),
        ),
        "FSCALE is above FDROP": (("FSCALE", "FDROP"),),
    }
    return tuple(
        Claim(
            "Table 1",
            f"{statement}, in {metric}.",
            "invarlearn.WorstCaseLinearSVC",
            experiment,
            judge_spam(metric, *pairs),
            remark=remark,
        )
        for metric in ("AUC", "accuracy")
        for statement, pairs in comparisons.items()
    )


_OPTIMUM = (
    "Optimum: gamma and C of the lowest mean test error on a grid; those of the paper are not "
    "printed."
)

_EXPERIMENTS = (
    Claim(
        "Section 5.1",
        "Twenty transformations of digits: shifts, rotations, scalings and shears.",
        "invarlearn.experiments.teo.twenty",
        "test_the_family_of_section_5_1_has_twenty_transformations",
    ),
    Claim(
        "Figure 1, left",
        "Invar-SVM and VIR-SVM significantly improve the accuracy over STD-SVM.",
        "invarlearn.WorstCaseSVC",
        "004-figure1",
        judge_errors,
    ),
    Claim(
        "Figure 1, right",
        "Both invariant methods have more support vectors than STD-SVM.",
        "invarlearn.WorstCaseSVC",
        "004-figure1",
        judge_more_support,
    ),
    Claim(
        "Figure 1, left, 10 per digit",
        "At the optimum of each method, Invar-SVM and VIR-SVM significantly improve the accuracy.",
        "invarlearn.WorstCaseSVC",
        "004-figure1-grid",
        judge_best_errors,
        remark=_OPTIMUM,
    ),
    Claim(
        "Figure 1, right, 10 per digit",
        "At the optimum of each method, Invar-SVM has roughly half of VIR-SVM's support vectors.",
        "invarlearn.WorstCaseSVC",
        "004-figure1-grid",
        judge_best_support,
        remark=f"{_OPTIMUM} Roughly half: at most 0.75, midway between half and all.",
    ),
    Claim(
        "Figure 1, right, 10 per digit (our statement)",
        "At the same gamma and C, Invar-SVM has at most 0.75 of VIR-SVM's support vectors and a "
        "significantly lower error.",
        "invarlearn.WorstCaseSVC",
        "004-figure1-grid",
        judge_grid,
        remark="The paper states this for the optimum of each method only. Paired tests with "
        "Holm's correction over the 20 settings.",
    ),
    Claim(
        "Equation (10)",
        "Word counts are scaled by l to u, at most K of them; deletion (FDROP) is l = 0, u = 1.",
        "invarlearn.transforms.FeatureScaling",
        "test_worst_case_equals_brute_force",
    ),
    Claim(
        "Algorithm 3",
        "The worst scaling of a row is found in time O(d log d).",
        "invarlearn.transforms.FeatureScaling",
        "test_agrees_with_the_paper_where_it_is_right_and_not_beyond",
        verdict=CORRECTED,
        remark="Wrong for K above d. Ours takes time O(number of nonzeros), without sorting.",
    ),
    Claim(
        "Section 5.2",
        "Training on 4,000 e-mails of 206,908 words, tuning on another 4,000 of 169,620 words and "
        "2,500 for testing, evaluation on three inboxes of 2,500 e-mails.",
        "invarlearn.datasets.fetch_spam",
        "",
        verdict=ABSENT,
        remark=_NO_TRAINING_FILE + " The three inboxes are those of 004-table1.",
    ),
    *_table_1("004-table1", _OTHER_INBOX),
    *_table_1("004-table1-task-b", _TASK_B),
    Claim(
        "Section 5.2",
        "McNemar's tests reject that the hinge loss is as good as FDROP and FSCALE.",
        "invarlearn.WorstCaseLinearSVC",
        "004-table1",
        judge_mcnemar,
    ),
)

PAPER = Paper(
    name="teo",
    short="Teo et al. (2007)",
    authors="Choon Hui Teo, Amir Globerson, Sam Roweis, Alex J. Smola",
    title="Convex learning with invariances",
    tables=(),
    claims=judged_when_complete(
        (*_FORMULATION, *_ALGORITHMS, *_SPECIAL_CASES, *_EXPERIMENTS), EXPERIMENTS
    ),
    missing=(
        Missing("Table 1, accuracy and AUC", 6, _NO_TRAINING_FILE),
        Missing("Table 1, chosen lambda, K, l and u", 9, _NO_TRAINING_FILE),
        Missing("Section 5.2, p-value of McNemar's test (below 1e-32)", 1, _NO_TRAINING_FILE),
    ),
)
