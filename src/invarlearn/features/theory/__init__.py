"""The kernel to which inner products of invariant features converge, and bounds on errors.

Theorems, lemmas, corollaries and remarks are those of Mroueh, Voinea and Poggio (2015), with these
corrections: thresholds from -s to s in steps of s / n have an error of up to s / n, the constants
of Theorem 2 are those of its proof, and the norm of the functions of Theorem 3 counts all 2 n + 1
thresholds.
"""

from invarlearn.features.theory.bounds import (
    SampleSizes,
    approximation_bound,
    estimation_bound,
    expectation_bounds,
    risk_bound,
    sample_sizes,
)
from invarlearn.features.theory.choice import (
    TemplateChoice,
    choose_templates,
    template_kernels,
)
from invarlearn.features.theory.concentration import (
    chi2_tail_bounds,
    distribution_bound,
    maximum_moments,
    mean_bound,
)
from invarlearn.features.theory.kernel import (
    ExpectedKernel,
    KernelError,
    distance_weight,
    expected_kernel,
    kernel_error,
    orbit_distance,
    simulated_kernel,
)

__all__ = [
    "ExpectedKernel",
    "KernelError",
    "SampleSizes",
    "TemplateChoice",
    "approximation_bound",
    "chi2_tail_bounds",
    "choose_templates",
    "distance_weight",
    "distribution_bound",
    "estimation_bound",
    "expectation_bounds",
    "expected_kernel",
    "kernel_error",
    "maximum_moments",
    "mean_bound",
    "orbit_distance",
    "risk_bound",
    "sample_sizes",
    "simulated_kernel",
    "template_kernels",
]
