"""What Zhang et al. (2013) state, and where the library has it."""

from __future__ import annotations

from invarlearn.experiments.claims import CORRECTED, FAILS, Claim, Paper
from invarlearn.experiments.multiple_tests import MARGIN, judged_when_complete
from invarlearn.experiments.zhang import EXPERIMENTS
from invarlearn.experiments.zhang_extensions import AVERAGES
from invarlearn.experiments.zhang_judges import (
    judge_averages,
    judge_cells,
    judge_choice,
    judge_deviations,
    judge_digits,
    judge_even_lower,
    judge_gain,
    judge_imbalance,
    judge_losses,
    judge_lower_or_similar,
    judge_lowest,
    judge_moons,
    judge_norms,
    judge_orders,
    judge_svm,
    judge_variation,
    judge_variation_error,
)
from invarlearn.experiments.zhang_table import TABLE_1, TABLE_1_LARGE

_OUR_EXPERIMENT = "The paper has no experiment; this one is ours."
_SIMILAR = (
    f"Similar: significantly within {MARGIN:g} points, by one-sided tests with Holm's correction; "
    "the paper states no margin."
)

_FRAMEWORK = (
    Claim(
        "Definition 1, Example 1",
        "The value of f at a point is a bounded functional, of norm k(x, x)^(1/2).",
        "invarlearn.functionals.Value",
        "test_functionals_keep_the_contract",
    ),
    Claim(
        "Theorem 1, Example 2",
        "A bounded functional has a representer, z(x) = L(k(x, .)).",
        "invarlearn.functionals.Representers",
        "test_functionals_keep_the_contract",
    ),
    Claim(
        "Example 3, equations (1) and (5)",
        "Functionals T(f)(x) with a bounded operator T have the representer T*(k(x, .)).",
        "invarlearn.functionals.LocalAverage",
        "test_averages_keep_the_contract",
        remark="Differentiation is no such operator, see section 4.1.",
    ),
    Claim(
        "Section 3, equation (2)",
        "The regularised risk with a penalty on functionals is a convex problem.",
        "invarlearn.InvSVC",
        "test_the_optimum_is_that_of_a_generic_solver",
    ),
    Claim(
        "Theorem 2, equations (3) and (4)",
        "The optimum is a sum of representers, whose coefficients minimise (4).",
        "invarlearn.solvers.RepresenterProblem",
        "test_the_optimum_is_that_of_a_generic_solver",
    ),
    Claim(
        "Section 3",
        "Representers make models more compact than virtual samples: one tangent replaces several.",
        "invarlearn.functionals.Tangent",
        "test_a_tangent_replaces_several_virtual_samples",
    ),
    Claim(
        "Section 3",
        "The penalty of the graph Laplacian is a sum of squared differences.",
        "invarlearn.functionals.Difference",
        "test_squared_differences_are_the_graph_laplacian",
    ),
    Claim(
        "Appendix A, Theorem 7",
        "Basis functions without penalty, such as a constant, can be added.",
        "invarlearn.functionals.Basis",
        "test_the_optimum_with_penalised_basis_functions_is_that_of_a_generic_solver",
        verdict=CORRECTED,
        remark="The printed theorem swaps the two losses and the order of their arguments.",
    ),
)

_INVARIANCES = (
    Claim(
        "Theorem 3",
        "All functionals on the space of a linear or polynomial kernel are bounded.",
        "invarlearn.kernels.Polynomial",
        "test_spaces_of_polynomial_kernels_have_finite_dimension",
        remark="The space has finite dimension, in which all linear functionals are bounded.",
    ),
    Claim(
        "Theorem 4",
        "Partial derivatives at a point are bounded functionals.",
        "invarlearn.functionals.Derivative",
        "test_norms_of_derivatives_are_those_of_a_gaussian",
    ),
    Claim(
        "Section 4.1, after Theorem 4",
        "Derivatives of higher order are bounded, and can be used in the framework.",
        "invarlearn.functionals.HigherDerivative",
        "test_higher_derivatives_keep_the_contract",
    ),
    Claim(
        "Section 4.1, after Theorem 4",
        "A penalty on derivatives of higher order is useful: the second instead of the first.",
        "invarlearn.functionals.HigherDerivative",
        "002-orders",
        judge_orders,
        remark=_OUR_EXPERIMENT,
    ),
    Claim(
        "Equations (6), (7) and (8)",
        "Inner products of derivatives for polynomial and Gaussian kernels.",
        "invarlearn.functionals.Derivative",
        "test_partial_derivatives_are_equations_7_and_8",
    ),
    Claim(
        "Section 4.1, before (8)",
        "Differentiation is a bounded operator on the space of a Gaussian kernel.",
        "invarlearn.functionals.HigherDerivative",
        "test_differentiation_is_not_a_bounded_operator",
        verdict=FAILS,
        remark="Only derivatives at points are bounded, which suffices. (8) is correct.",
    ),
    Claim(
        "Section 4.1, after (8)",
        "The norm of a partial derivative is 1 / sigma for the Gaussian kernel.",
        "invarlearn.functionals.Derivative",
        "test_norms_of_derivatives_are_those_of_a_gaussian",
    ),
    Claim(
        "Theorem 5, Corollary 1, equation (9)",
        "Derivatives along transformations are bounded, with inner products (9).",
        "invarlearn.functionals.Tangent",
        "test_tangents_keep_the_contract",
    ),
    Claim(
        "Section 4.3",
        "Local averages need one functional for each row, gradients one for each feature.",
        "invarlearn.functionals.LocalAverage",
        "test_local_averages_are_fewer_than_derivatives",
    ),
    Claim(
        "Theorem 6",
        "Local averages are bounded by 2 C if k(x, x) <= C^2.",
        "invarlearn.functionals.LocalAverage",
        "test_averages_of_the_exponential_of_the_distance_are_functionals",
    ),
    Claim(
        "Section 4.3, appendix B.1",
        "Closed form of inner products of local averages with the Gaussian kernel.",
        "invarlearn.functionals.LocalAverage",
        "test_the_paper_s_local_average_does_not",
        verdict=CORRECTED,
        remark="Variances add, not standard deviations.",
    ),
    Claim(
        "Section 4.3",
        "Local averages are bounded with exponential kernels.",
        "invarlearn.kernels.AbsoluteExponential",
        "test_averages_of_the_exponential_of_the_distance_are_exact",
    ),
    Claim(
        "Section 4.3",
        "Local averages are bounded with polynomial kernels.",
        "invarlearn.kernels.Polynomial",
        "test_moments_of_inner_products_are_those_of_samples",
    ),
    *(
        Claim(
            "Section 4.3",
            "A penalty on local averages is appropriate if classes are clusters: kernel "
            f"'{kernel}'.",
            "invarlearn.functionals.LocalAverage",
            "002-averages",
            judge_averages(kernel),
            remark=_OUR_EXPERIMENT,
        )
        for kernel in AVERAGES.varies["kernel"]
    ),
)

_OPTIMISATION = (
    Claim(
        "Section 5",
        "Losses with a kink are approximated by smooth ones.",
        "invarlearn.losses.Loss",
        "test_the_rounding_error_is_within_its_bound",
    ),
    Claim(
        "Section 5, equation (11)",
        "Products with the Gram matrix of all derivatives take O(nl + l^2) space.",
        "invarlearn.functionals.Representers.dot",
        "test_products_need_no_dense_matrix",
    ),
    Claim(
        "Section 5, equation (11)",
        "Products with the Gram matrix of all derivatives take O(l^2 n) time.",
        "invarlearn.functionals.Representers.dot",
        "test_products_take_time_linear_in_the_features",
        remark="A product with the dense matrix takes O(l^2 n^2).",
    ),
    Claim(
        "Section 5",
        "Coordinate-wise updates, of random or of steepest coordinates, find the optimum.",
        "invarlearn.solvers.SteepestGrowth",
        "test_growing_finds_the_same_function",
    ),
    Claim(
        "Section 7",
        "The norm of the functionals affects the efficiency of the optimisation.",
        "invarlearn.solvers.LBFGS",
        "002-norms",
        judge_norms,
        remark="It does in the coefficients of (4), and does not in the metric of the space.",
    ),
)

_EXPERIMENTS = (
    Claim(
        "Figure 1, section 6.1",
        "A penalty on derivatives places the boundary of two moons where points are few.",
        "invarlearn.InvSVC",
        "002-figure1",
        judge_moons,
    ),
    Claim(
        "Section 6.1",
        "Hinge and epsilon-insensitive losses have results like logistic and squared ones.",
        "invarlearn.InvSVC",
        "002-figure1",
        judge_losses,
        remark=_SIMILAR,
    ),
    Claim(
        "Table 1, headers",
        "Nine data sets with the printed numbers of features and rows.",
        "invarlearn.datasets.fetch_uci",
        "test_sizes_of_the_data_are_the_paper_s",
        verdict=CORRECTED,
        remark="The file of bupa has 345 rows; the paper prints 245.",
    ),
    Claim(
        "Section 6.2",
        "The penalty is on all derivatives at all rows, and (11) makes it affordable.",
        "invarlearn.functionals.RepresenterKernel",
        "test_products_need_no_dense_matrix",
    ),
    Claim(
        "Figure 2, section 6.3",
        "12 transformations, as virtual samples or as functionals.",
        "invarlearn.functionals.Change",
        "test_the_paper_has_twelve_transformations",
    ),
    *(
        Claim(f"Table 1, {part}", statement, "invarlearn.InvSVC", experiment.id, judge)
        for experiment, part in (
            (TABLE_1, "data of up to 690 rows"),
            (TABLE_1_LARGE, "data of 1,500 rows"),
        )
        for statement, judge, is_ours, remark in (
            (
                "In most cases InvSVM has a lower or similar error compared to SVM and LapSVM.",
                judge_lower_or_similar,
                False,
                _SIMILAR,
            ),
            ("The mean gain of InvSVM over the SVM is the printed one.", judge_gain, False, ""),
            (
                "The gain is the printed one if each method has the parameters of the lowest test "
                "error.",
                judge_choice,
                True,
                "The test error is not known when parameters are chosen: this shows what a better "
                "choice could reach.",
            ),
            (
                f"The errors of InvSVM are at most {MARGIN:g} points above the printed ones.",
                judge_cells,
                True,
                "",
            ),
            ("With 90 labels, SVM and LapSVM have similar errors.", judge_svm, False, _SIMILAR),
            (
                "With 90 labels, InvSVM has an even lower error than the SVM.",
                judge_even_lower,
                False,
                "",
            ),
            (
                "The lowest error of each cell (bold) is that of the same method.",
                judge_lowest,
                False,
                "Taken from the printed errors.",
            ),
            (
                "The standard deviations over draws.",
                judge_deviations,
                False,
                "Covers the 81 printed deviations of Table 1, which are not in the count of "
                "printed numbers.",
            ),
        )
    ),
    Claim(
        "Figure 2, section 6.3",
        "InvSVM generally has a lower error than virtual samples, with functionals f(Tx) - f(x).",
        "invarlearn.functionals.Change",
        "002-figure2",
        judge_digits("InvSVM"),
    ),
    Claim(
        "Figure 2, section 6.3",
        "Flat gradients along Tx - x are more effective than virtual samples.",
        "invarlearn.functionals.Secant",
        "002-figure2",
        judge_digits("InvSVM, slopes"),
        remark="The other reading of the functional that the paper describes.",
    ),
    *(
        Claim(
            "Section 7",
            "The framework can keep the boundary away from the minority of imbalanced data: its "
            f"error is lower than with {text}.",
            "invarlearn.functionals.Weighted",
            "002-imbalance",
            judge_imbalance(weights),
            remark=_OUR_EXPERIMENT,
        )
        for weights, text in (
            ("equal", "equal weights"),
            ("majority", "larger weights at the majority"),
        )
    ),
    Claim(
        "Section 7",
        "Total variation is the absolute loss of derivatives.",
        "invarlearn.InvSVR",
        "test_the_absolute_penalty_of_derivatives_is_total_variation",
    ),
    Claim(
        "Section 7 (our statement)",
        "The total variation of the solution decreases with the weight of the penalty.",
        "invarlearn.InvSVR",
        "002-variation",
        judge_variation,
        remark=_OUR_EXPERIMENT,
    ),
    Claim(
        "Section 7 (our statement)",
        "A function with steps is learned with a lower error than with a squared penalty.",
        "invarlearn.InvSVR",
        "002-variation",
        judge_variation_error,
        remark=f"Each penalty has the nu of its lowest mean test error. {_OUR_EXPERIMENT}",
    ),
)

PAPER = Paper(
    name="zhang",
    short="Zhang et al. (2013)",
    authors="Xinhua Zhang, Wee Sun Lee, Yee Whye Teh",
    title="Learning with invariance via linear functionals on reproducing kernel Hilbert space",
    tables=(TABLE_1, TABLE_1_LARGE),
    claims=judged_when_complete(
        (*_FRAMEWORK, *_INVARIANCES, *_OPTIMISATION, *_EXPERIMENTS), EXPERIMENTS
    ),
)
