"""
Invariance as functionals
=========================

The route of paper 002. What should not matter is said of the function that is learned: its derivatives
at the data, or its changes under transformations, should be small. These are linear functionals, rows
need no label for them, and learning stays convex.
"""

# %%
# Two moons and two labels. Derivatives at all points are penalised with weight nu; the boundary goes
# where there are no points.

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
# Every solution says how far from the optimum it is at most; here, by no more than rounding:

for name, model in models.items():
    print(f"{name}: objective {model.objective_[0]:.3f}, gap {model.gap_[0]:.0e}")

# %%
# Images: the function should change little when a digit is shifted, turned or slanted.
# :class:`~invarlearn.functionals.Change` is the difference f(g x) - f(x), for every g of a family.

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
# With the squared penalty the functionals can be eliminated: what remains is a kernel that knows the
# invariances, for any kernel machine. With the hinge loss, an SVC with it finds the same function.

from invarlearn.functionals import RepresenterKernel
from invarlearn.kernels import RBF

kernel = RepresenterKernel(RBF(0.02), [Change(family)], nu=10.0, at=X)
machine = SVC(kernel=kernel, C=10).fit(X, y)
print(f"SVC with that kernel: {machine.score(X_test, y_test):.1%}")

# %%
# :doc:`/functionals` lists the functionals and solvers; :doc:`/extending` has one of your own.
