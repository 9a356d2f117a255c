"""What Mroueh et al. (2015) prove: sections 1 to 4 and the appendix of both versions."""

from __future__ import annotations

from invarlearn.experiments.claims import CORRECTED, Claim
from invarlearn.experiments.mroueh_judges import (
    above_in_pairs,
    means_within,
    rates_of_convergence,
)
from invarlearn.experiments.multiple_tests import MARGIN

_THEORY = "invarlearn.features.theory"

_SECTION_1 = [
    Claim(
        "Section 1.1, equation (1)",
        "The Haar-integration kernel is invariant, symmetric and positive definite.",
        "invarlearn.kernels.HaarKernel",
        "test_group_orbits_make_the_kernel_invariant",
    ),
    Claim(
        "Section 1.1, invariant decision boundary",
        "The minimiser of the empirical risk over an invariant RKHS is an invariant function.",
        "invarlearn.RLSClassifier",
        "test_the_boundary_of_an_invariant_kernel_is_invariant",
    ),
    Claim(
        "Section 1.1, reduced sample complexity",
        "The expected risk of an invariant function is its risk on the core set X_0.",
        "invarlearn.InvariantFeatures",
        "test_the_risk_on_orbits_is_the_risk_on_the_core_set",
    ),
    Claim(
        "Section 1.2, cost of Haar kernels",
        "A Haar kernel transforms rows: it needs |G| values of k_0 for each pair of rows.",
        "invarlearn.kernels.HaarKernel",
        "test_a_haar_kernel_needs_a_value_for_each_pair_and_element",
        remark="|G| values are enough for groups that preserve norms; others need |G|^2.",
    ),
    Claim(
        "Section 1.1, contribution 3",
        "A function trained on one representative per orbit generalises to the orbits: on shifted "
        "digits, invariant features are more accurate than pixels.",
        "invarlearn.InvariantFeatures",
        "000-core-set-digits",
        above_in_pairs({"features": "CDF"}, {"features": "raw"}, [{"test": "orbits"}]),
    ),
    Claim(
        "Section 1.1, contribution 3",
        "The accuracy on whole orbits is that on the core set (at most 0.1 points apart).",
        "invarlearn.InvariantFeatures",
        "000-core-set-digits",
        means_within(
            0.1, {"features": "CDF", "test": "orbits"}, {"features": "CDF", "test": "core set"}
        ),
    ),
    Claim(
        "Section 1.1, contribution 3",
        "With one training word per orbit, CDF(25, 25) is more accurate on other orbits than the "
        "words themselves with all words of the orbits.",
        "invarlearn.InvariantFeatures",
        "000-core-set",
        above_in_pairs(
            {"features": "CDF(25,25)"},
            {"features": "raw, all words"},
            [{"test": "other orbits", "n_orbits": n} for n in (50, 100, 200, 400)],
        ),
    ),
]

_SECTION_2 = [
    Claim(
        "Section 2, definition of Phi",
        "Phi(x) is the normalised empirical distribution function of projections on transformed "
        "templates.",
        "invarlearn.InvariantFeatures",
        "test_features_equal_the_map_of_the_paper",
    ),
    Claim(
        "Section 2, templates",
        "Gaussian templates with rejection have projections of at most 1 + epsilon.",
        "invarlearn.features.templates.gaussian_templates",
        "test_templates_have_their_distributions",
    ),
    Claim(
        "Remark 1",
        "Results for Gaussian templates hold for the uniform distribution on the sphere.",
        f"{_THEORY}.distance_weight",
        "test_the_weight_of_distances_is_a_mean_of_maxima",
        verdict=CORRECTED,
        remark="The constant is another one: Gamma(d/2) / (2 sqrt(pi) Gamma((d+1)/2)).",
    ),
    Claim(
        "Section 2, K_s",
        "K_s(g x, g' z) = K_s(x, z) for a group.",
        "invarlearn.InvariantFeatures",
        "test_features_are_invariant_under_groups",
    ),
    Claim(
        "Section 2, expectation of Phi",
        "The expectation of inner products of Phi tends to K_s for many thresholds.",
        f"{_THEORY}.expected_kernel",
        "test_sampled_elements_have_their_own_expectation",
        verdict=CORRECTED,
        remark="Only if all elements of the group are used, or infinitely many are sampled.",
    ),
    Claim(
        "Remark 2 (1)",
        "Only templates are transformed, once; rows never are.",
        "invarlearn.InvariantFeatures",
        "test_orbits_are_computed_once",
    ),
    Claim(
        "Remark 2 (2)",
        "Inner products of Phi approximate a group-invariant kernel.",
        f"{_THEORY}.kernel_error",
        "test_inner_products_tend_to_the_closed_form",
    ),
]

_SECTION_3 = [
    Claim(
        "Theorem 1 (1)",
        "K_s - (s - d_G) lies between -delta_2 and delta_1.",
        f"{_THEORY}.expectation_bounds",
        "test_theorem_1_bounds_hold_and_remark_3_scales_them",
        remark="The bounds hold for the proof's kernel, in which rejected templates count as zero.",
    ),
    Claim(
        "Theorem 1 (2)",
        "K_s tends to s - d_G in high dimension.",
        f"{_THEORY}.expectation_bounds",
        "test_the_bounds_of_theorem_1_vanish_in_high_dimension",
    ),
    Claim(
        "Theorem 1 (3)",
        "K_s is symmetric and positive semi-definite.",
        f"{_THEORY}.expected_kernel",
        "test_the_expected_kernel_is_symmetric_and_positive_semidefinite",
    ),
    Claim(
        "Remark 3 (1)",
        "The deltas are due to truncation: with templates that are drawn again, K_s is exactly s "
        "minus a constant times the distance of the orbits.",
        f"{_THEORY}.distance_weight",
        "test_rejected_templates_may_count_as_nothing",
    ),
    Claim(
        "Remark 3 (2)",
        "Local invariance: the same kernel for a subset of the group.",
        f"{_THEORY}.expected_kernel",
        "test_the_closed_form_of_a_local_family_needs_inverses",
        verdict=CORRECTED,
        remark="Only for subsets that contain the inverses of their elements, or whose elements "
        "commute. The first version states the inverses, the second does not.",
    ),
    Claim(
        "Remark 3 (3)",
        "Rows of norms up to R: s = R (1 + epsilon).",
        f"{_THEORY}.expectation_bounds",
        "test_rows_of_any_norm",
    ),
    Claim(
        "Theorem 2",
        "Sufficient numbers of bins, templates and elements for an error of e0 + e1 + e2.",
        f"{_THEORY}.sample_sizes",
        "test_sample_sizes_are_enough_and_follow_the_proof",
        verdict=CORRECTED,
        remark="n >= s / e0 bins instead of 1 / e0.",
    ),
    Claim(
        "Theorem 2, rates",
        "The error decreases as 1 / n, 1 / sqrt(m) and 1 / sqrt(|G|).",
        f"{_THEORY}.kernel_error",
        "000-convergence",
        rates_of_convergence,
    ),
    Claim(
        "Corollary 1",
        "Inner products of Phi are 1 - d_G up to e0 and the terms of Theorem 1.",
        f"{_THEORY}.sample_sizes",
        "test_sample_sizes_are_enough_and_follow_the_proof",
        verdict=CORRECTED,
        remark="n >= 3 s / e0 bins instead of 3 / e0.",
    ),
    Claim(
        "Remark 4",
        "For a general distribution of templates, K_s averages s - max(<x, g t>, <z, g' t>).",
        f"{_THEORY}.simulated_kernel",
        "test_simulation_integrates_exactly_over_thresholds",
    ),
    Claim(
        "Remark 4, templates of the domain",
        "The number of templates depends on their distribution (future work): local templates have "
        "less relative distortion than Gaussian ones.",
        "invarlearn.features.templates.local_templates",
        "000-remark4",
        above_in_pairs(
            {"templates": "gaussian"},
            {"templates": "local"},
            [{"n_templates": m} for m in (5, 10, 20, 40, 80, 160)],
            "error",
            "spreads of K_s",
        ),
    ),
    Claim(
        "Remark 4, optimal templates",
        "Templates chosen by the data have less distortion (future work).",
        f"{_THEORY}.choose_templates",
        "000-remark4",
        above_in_pairs(
            {"templates": "gaussian"},
            {"templates": "chosen of gaussian"},
            [{"n_templates": m} for m in (5, 10, 20, 40, 80, 160)],
            "error",
            "spreads of K_s",
        ),
    ),
]

_SECTION_4 = [
    Claim(
        "Lemma 1",
        "Combinations of K_s are functions of F_p; the risk of f in F_p is its risk on X_0.",
        "invarlearn.InvariantFeatures",
        "test_lemma_1_kernel_expansions_have_bounded_weights",
    ),
    Claim(
        "Lemma 1 and abstract",
        "F_p is dense in the RKHS of K_s.",
        "invarlearn.InvariantFeatures",
        "test_lemma_1_kernel_expansions_have_bounded_weights",
        remark="Finite combinations of K_s are dense in its RKHS by construction; the test shows "
        "that they are in F_p.",
    ),
    Claim(
        "Section 4, the class F tilde",
        "Empirical risk minimisation over weights of at most C / m.",
        "invarlearn.BoundedClassifier",
        "test_the_class_of_theorem_3_in_the_paper_s_normalisation",
    ),
    Claim(
        "Section 4, relaxation",
        "Bounded weights can be relaxed to Tikhonov regularisation: accuracies of the logistic "
        f"loss with 1,000 words a class are at most {MARGIN:g} points apart.",
        "invarlearn.BoundedClassifier",
        "000-theorem3",
        means_within(
            MARGIN,
            {"learner": "bounded, logistic", "n_per_class": 1000},
            {"learner": "Euclidean norm, logistic", "n_per_class": 1000},
        ),
    ),
    Claim(
        "Theorem 3",
        "The excess risk is O(1 / sqrt(N)) + O(1 / sqrt(m)) + O(sqrt(log m / |G|)) + O(1 / n).",
        f"{_THEORY}.risk_bound",
        "test_risk_bound_is_theorem_3_corrected",
        verdict=CORRECTED,
        remark="All 2 n + 1 thresholds count: a factor 2 + 1 / n in the first term.",
    ),
    Claim(
        "Theorem 3, more samples",
        "The expected loss of the minimiser over bounded weights decreases with the samples.",
        "invarlearn.BoundedClassifier",
        "000-theorem3",
        above_in_pairs(
            {"n_per_class": 10},
            {"n_per_class": 1000},
            [{"learner": "bounded, hinge"}],
            "expected_hinge",
            "of the hinge loss",
        ),
    ),
]

_APPENDIX = [
    Claim(
        "Lemma 2",
        "Mean and variance of the maximum of two correlated Gaussian variables.",
        f"{_THEORY}.maximum_moments",
        "test_moments_of_a_maximum_are_those_of_quadrature",
    ),
    Claim(
        "Equations (11) to (13)",
        "The maximum of <x, n> and <z, n> has mean |x - z| / sqrt(2 pi d) and mean square 1 / d.",
        f"{_THEORY}.maximum_moments",
        "test_the_weight_of_theorem_1_is_that_of_lemma_2",
    ),
    Claim(
        "Lemma 3",
        "Bounds on the tails of chi-squared variables.",
        f"{_THEORY}.chi2_tail_bounds",
        "test_chi_squared_tails_are_within_their_bounds",
    ),
    Claim(
        "Proof of Theorem 2, Riemann sum",
        "Steps of 2 s / n between thresholds.",
        "invarlearn.features.thresholds.uniform_thresholds",
        "test_uniform_thresholds_have_a_bias_that_midpoints_do_not",
        verdict=CORRECTED,
        remark="Steps of s / n, as in the definition of Phi.",
    ),
    Claim(
        "Lemma 4",
        "Functions of F_p are approximated by linear functions of the features.",
        f"{_THEORY}.approximation_bound",
        "test_lemma_4_bounds_the_approximation_of_a_function",
        verdict=CORRECTED,
        remark="The bound holds. Its proof needs weights that are averaged over bins, and a mean "
        "over templates where 1 / sqrt(m) times a sum is printed.",
    ),
    Claim(
        "Lemma 5",
        "The risk of the approximation is larger by at most L times the bound of Lemma 4.",
        f"{_THEORY}.approximation_bound",
        "test_lemma_4_bounds_the_approximation_of_a_function",
    ),
    Claim(
        "Lemma 6",
        "Expected and empirical risk differ by O(1 / sqrt(N)) over the class; its Rademacher "
        "complexity is C s / sqrt(N).",
        f"{_THEORY}.estimation_bound",
        "test_lemma_6_bounds_the_rademacher_complexity",
        verdict=CORRECTED,
        remark="The complexity is up to (2 + 1 / n) C s / sqrt(N), and both tails count.",
    ),
    Claim(
        "Theorem 4",
        "Uniform convergence of empirical distribution functions.",
        f"{_THEORY}.distribution_bound",
        "test_empirical_distributions_are_within_the_bound",
    ),
    Claim(
        "Lemma 7",
        "Concentration of the mean of bounded vectors.",
        f"{_THEORY}.mean_bound",
        "test_means_of_vectors_are_within_the_bound",
    ),
    Claim(
        "Theorem 5",
        "Risk bound by Rademacher complexity.",
        f"{_THEORY}.estimation_bound",
        "test_theorem_3_is_the_sum_of_its_lemmas",
        remark="Quoted from Rahimi and Recht; it is part of estimation_bound.",
    ),
]

THEOREMS = [*_SECTION_1, *_SECTION_2, *_SECTION_3, *_SECTION_4, *_APPENDIX]
