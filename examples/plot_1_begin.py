"""
A hundred labelled images
=========================

You have a hundred labelled images and know what should not matter: where exactly the object is, a
small tilt, its size. :class:`~invarlearn.InvariantClassifier` takes that as a *family* of
transformations; for images it has a modest one if you say nothing.
"""

# %%
# A hundred digits to learn from, and two thousand to be tested on; they come with the package.

from sklearn.svm import SVC

from invarlearn import InvariantClassifier
from invarlearn.datasets import load_mnist_sample

digits = load_mnist_sample()
X, y = digits.X_train[:100], digits.y_train[:100]
plain = SVC(C=10).fit(X, y)
print(f"SVC: {plain.score(digits.X_test, digits.y_test):.1%}")

# %%
# The same images, with what should not matter. Rows are pixels, as scikit-learn expects them. By
# default it learns from up to 150 copies of each; 20 make this page quick.

model = InvariantClassifier(n_copies=20, random_state=0).fit(X, y)
print(f"InvariantClassifier: {model.score(digits.X_test, digits.y_test):.1%}")

# %%
# It says what it did, and what accuracy to expect of new images. That estimate comes from the hundred
# images alone: each is left out with all its copies.

print(model.summary())

# %%
# What it takes not to matter can be looked at:

import numpy as np

from invarlearn.plotting import show_pairs

some = digits.X_test[:8]
elements = model.family_.sample(8, random_state=0)
moved = np.concatenate([g(some[i : i + 1]) for i, g in enumerate(elements)])
pairs = show_pairs(some, moved, (28, 28))

# %%
# Say more, or less, by passing a family. It can be wrong: here are signals whose class is the place of a
# bump, and shifts are declared not to matter. At samples left out that shows, and a warning says so.

import warnings

from invarlearn.transforms import CyclicShift, Rotation, Translation

rng = np.random.RandomState(0)
signals, place = 0.1 * rng.randn(80, 48), np.arange(80) % 2
for signal, late in zip(signals, place, strict=True):
    signal[12 + 24 * late + np.arange(-2, 3)] += 1

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    InvariantClassifier(CyclicShift(), n_copies=5, random_state=0).fit(signals, place)
print(caught[0].message)

# %%
# With few samples the evidence is weak, and there may be no warning: whether it is true that nothing
# of the answer changes is for you to know.

# %%
# Is it really invariant? An audit of any classifier tells how often predictions flip.

from invarlearn.audit import invariance_report

family = Translation(2) * Rotation(15)
for name, classifier in {"SVC": plain, "InvariantClassifier": model}.items():
    report = invariance_report(
        classifier, digits.X_test[:200], digits.y_test[:200], family, n_elements=10, random_state=0
    )
    print(f"{name}: {report.overall.flip_rate} flip")
