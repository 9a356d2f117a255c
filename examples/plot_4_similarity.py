"""
Similarity over orbits
======================

The route of paper 003. Two images of one digit may be far apart pixel by pixel and close once one of
them is moved a little: an orbit kernel compares x with every transformation of y, and keeps the best
fit.
"""

# %%
# Which transformation fits best? For eight pairs of digits of one class, the second as it is, and as
# it fits the first.

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
titles = [("other", "fits best") for _ in range(8)]
pairs = show_pairs(X[second], fitting, (28, 28), titles)
before, after = cosines[:, 0].mean(), cosines.max(axis=1).mean()
print(f"mean cosine: {before:.2f} as they are, {after:.2f} at the best fit")

# %%
# As a kernel, in a support vector machine; then the same on maps of oriented gradients instead of
# pixels.

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
# A best fit is a similarity, but no inner product: its Gram matrix has negative eigenvalues. The mean
# over the orbit has none.

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
# ``OrbitSVC`` repairs the spectrum, of test rows as well (``psd="clip"``), and says what it found:

svc = models["OrbitSVC"]
print(f"smallest eigenvalue {svc.smallest_eigenvalue_:.3f}, {svc.negative_share_:.2%} negative")

# %%
# :doc:`/similarity` tells which base kernel for what, and how all shifts are compared at once.
