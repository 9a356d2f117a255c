"""
Similarity over orbits
======================

This route is that of Liu et al. (2022). Two images of the same digit can have very different pixels, and become
similar after one of them is transformed a little. An orbit kernel compares x with every transformation of y, and
takes the best fit.
"""

# %%
# For eight pairs of digits of the same class, find the transformation of the second image that fits the first image
# best. The figure shows the second image, and its best fit.

import numpy as np

from invarlearn.datasets import load_mnist_sample
from invarlearn.plotting import show_pairs
from invarlearn.transforms import Rotation, Shear, Translation

digits = load_mnist_sample()
X, y = digits.X_train[:100], digits.y_train[:100]
family = Translation(2) * Rotation(15) * Shear(0.3)

first = [np.flatnonzero(y == digit)[0] for digit in range(8)]
second = [np.flatnonzero(y == digit)[1] for digit in range(8)]
orbit = family.orbit(X[second])
norms = np.linalg.norm(X[first], axis=1)[:, None] * np.linalg.norm(orbit, axis=2)
cosines = np.einsum("nd,ned->ne", X[first], orbit) / norms
fitting = orbit[np.arange(8), cosines.argmax(axis=1)]
titles = [("original", "best fit") for _ in range(8)]
pairs = show_pairs(X[second], fitting, (28, 28), titles)
before, after = cosines[:, 0].mean(), cosines.max(axis=1).mean()
print(f"mean cosine: {before:.2f} without transformation, {after:.2f} at the best fit")

# %%
# Use the best fit as the kernel of a support vector classifier, on pixels and on maps of oriented gradients.

from sklearn.svm import SVC

from invarlearn import OrbitSVC
from invarlearn.features import OrientedGradients

smaller = Translation(1) * Rotation(15) * Shear(0.25)
models = {
    "SVC": SVC(C=10),
    "OrbitSVC": OrbitSVC(smaller),
    "OrbitSVC, gradients": OrbitSVC(smaller, features=OrientedGradients()),
}
for name, model in models.items():
    accuracy = model.fit(X, y).score(digits.X_test[:1000], digits.y_test[:1000])
    print(f"{name}: {accuracy:.1%}")

# %%
# The best-fit kernel is not positive semidefinite: its Gram matrix has negative eigenvalues. That of the average fit,
# the mean over the orbit, has none.

from invarlearn.kernels import Linear, OrbitKernel
from invarlearn.plotting import show_spectra

shifts = Translation(2, wrap=True)
rows = digits.X_train[:200].astype(float)
spectra = show_spectra(
    {
        "average fit": OrbitKernel(Linear(), shifts, pooling="mean", normalize=True)(rows),
        "best fit": OrbitKernel(Linear(), shifts, pooling="max", normalize=True)(rows),
    }
)

# %%
# ``OrbitSVC`` sets negative eigenvalues to zero, with the corresponding change for test rows (``psd="clip"``). Its
# attributes describe the Gram matrix before this repair.

svc = models["OrbitSVC"]
print(f"smallest eigenvalue {svc.smallest_eigenvalue_:.3f}, {svc.negative_share_:.2%} negative")

# %%
# :doc:`/similarity` describes the base kernels, and how all shifts are compared at once.
