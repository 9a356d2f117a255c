"""Kernels: similarities of rows, with the derivatives and products that functionals need."""

from invarlearn._utils.discovery import unlisted_classes
from invarlearn.kernels.absolute_exponential import AbsoluteExponential
from invarlearn.kernels.base import Kernel, resolve_kernel
from invarlearn.kernels.definiteness import Spectrum, definite_bound, definite_up_to, spectrum_of
from invarlearn.kernels.dot import DotKernel, Linear, Polynomial
from invarlearn.kernels.exponential import Exponential
from invarlearn.kernels.local import LocalPolynomial
from invarlearn.kernels.matern import Matern
from invarlearn.kernels.orbit.kernel import HaarKernel, OrbitKernel
from invarlearn.kernels.profile import ProfileKernel
from invarlearn.kernels.radial import RBF, RadialKernel
from invarlearn.kernels.rational_quadratic import RationalQuadratic
from invarlearn.kernels.rbf_mixture import RBFMixture
from invarlearn.kernels.tangent_distance import TangentDistance

__all__ = [
    "RBF",
    "AbsoluteExponential",
    "DotKernel",
    "Exponential",
    "HaarKernel",
    "Kernel",
    "Linear",
    "LocalPolynomial",
    "Matern",
    "OrbitKernel",
    "Polynomial",
    "ProfileKernel",
    "RBFMixture",
    "RadialKernel",
    "RationalQuadratic",
    "Spectrum",
    "TangentDistance",
    "definite_bound",
    "definite_up_to",
    "resolve_kernel",
    "spectrum_of",
]

# Classes of new files are exported automatically; the imports above are for type checkers.
_unlisted = unlisted_classes(__name__, Kernel)
globals().update(_unlisted)
__all__ += list(_unlisted)
