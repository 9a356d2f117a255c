"""
Invariance as functionals
=========================

This route is that of Zhang et al. (2013). It penalises derivatives of the decision function at the data, or its
changes under transformations. These are linear functionals of the function. They need no labels, and the problem
remains convex.
"""

# %%
# Two moons have two labels in all. The derivatives at all points are penalised with the weight nu. With a larger
# weight, the decision boundary avoids regions with many points.

from invarlearn import InvSVC
from invarlearn.datasets import make_two_moons
from invarlearn.plotting import show_boundaries

moons = make_two_moons(200, 2, noise=0.05, random_state=0)
models = {
    f"nu = {nu:g}": InvSVC(gamma=8.0, nu=nu).fit(moons.X, moons.y_partial)
    for nu in (0.0, 0.01, 0.1, 1.0)
}
boundaries = show_boundaries(models, moons.X, moons.y, moons.labeled)

# %%
# The duality gap bounds the difference between the objective and its optimum. Here it is zero up to rounding.

for name, model in models.items():
    print(f"{name}: objective {model.objective_[0]:.3f}, gap {model.gap_[0]:.0e}")

# %%
# For images, penalise changes of the function when a digit is shifted, rotated or sheared.
# :class:`~invarlearn.functionals.Change` is the difference f(g x) - f(x), for every element g of a family.

import numpy as np
from sklearn.svm import SVC

from invarlearn.datasets import load_mnist_sample
from invarlearn.functionals import Change
from invarlearn.transforms import Rotation, Shear, Translation

digits = load_mnist_sample()
pair = np.isin(digits.y_train, [4, 9])
X, y = digits.X_train[pair][:40].astype(float), digits.y_train[pair][:40]
test = np.isin(digits.y_test, [4, 9])
X_test, y_test = digits.X_test[test].astype(float), digits.y_test[test]

family = Translation(2, step=2) | Rotation(10) | Shear(0.2)
plain = SVC(C=10, gamma=0.02).fit(X, y)
invariant = InvSVC([Change(family)], gamma=0.02, loss="hinge", lam=10.0, nu=10.0).fit(X, y)
print(f"SVC: {plain.score(X_test, y_test):.1%}")
print(f"InvSVC: {invariant.score(X_test, y_test):.1%}")

# %%
# With a squared penalty, the functionals can be eliminated. The result is a kernel that contains the penalty, for any
# kernel method. With the hinge loss, an SVC with this kernel finds the same function.

from invarlearn.functionals import RepresenterKernel
from invarlearn.kernels import RBF

kernel = RepresenterKernel(RBF(0.02), [Change(family)], nu=10.0, at=X)
machine = SVC(kernel=kernel, C=10).fit(X, y)
print(f"SVC with this kernel: {machine.score(X_test, y_test):.1%}")

# %%
# :doc:`/functionals` lists the functionals and solvers. :doc:`/extending` shows how to write a functional.
