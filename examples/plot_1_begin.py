"""
A hundred labelled images
=========================

You have a hundred labelled images, and you know that the label does not depend on the exact position, the size
or a small tilt of the object. :class:`~invarlearn.InvariantClassifier` takes such transformations as a *family*.
Without a family, it uses small rotations, scalings, shears and shifts for images.
"""

# %%
# Load digits that are part of the package. A hundred are for training, two thousand for testing. The baseline is
# a support vector classifier.

from sklearn.svm import SVC

from invarlearn import InvariantClassifier
from invarlearn.datasets import load_mnist_sample

digits = load_mnist_sample()
X, y = digits.X_train[:100], digits.y_train[:100]
plain = SVC(C=10).fit(X, y)
print(f"SVC: {plain.score(digits.X_test, digits.y_test):.1%}")

# %%
# Train on the same images with the default family. Each row of ``X`` contains the pixels of an image. By default
# there are up to 150 augmented copies of each sample; here 20 are enough.

model = InvariantClassifier(n_copies=20, random_state=0).fit(X, y)
print(f"InvariantClassifier: {model.score(digits.X_test, digits.y_test):.1%}")

# %%
# ``summary`` shows what was fitted, and the estimated accuracy for new images. The estimate uses the hundred
# training images only: each image is held out together with all its copies.

print(model.summary())

# %%
# Random elements of the family show which transformations it contains. Each pair is an image and a transformed
# copy of it.

import numpy as np

from invarlearn.plotting import show_pairs

images = digits.X_test[:8]
elements = model.family_.sample(8, random_state=0)
copies = np.concatenate([g(images[i : i + 1]) for i, g in enumerate(elements)])
pairs = show_pairs(images, copies, (28, 28))

# %%
# Pass another family if your data need it. A family can contradict the labels. In this example, the class of a
# signal is the position of a bump, but the family contains all cyclic shifts. The held-out accuracy is then lower
# than without the family, and ``fit`` warns.

import warnings

from invarlearn.transforms import CyclicShift, Rotation, Translation

rng = np.random.RandomState(0)
signals, is_late = 0.1 * rng.randn(80, 48), np.arange(80) % 2
for signal, late in zip(signals, is_late, strict=True):
    signal[12 + 24 * late + np.arange(-2, 3)] += 1

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    InvariantClassifier(CyclicShift(), n_copies=5, random_state=0).fit(signals, is_late)
print(caught[0].message)

# %%
# With few samples, a lower accuracy may not be significant, and there is no warning. Only you can know whether
# the labels depend on a transformation.

# %%
# An audit measures how often the predictions of a classifier change under transformations.

from invarlearn.audit import invariance_report

family = Translation(2) * Rotation(15)
for name, classifier in {"SVC": plain, "InvariantClassifier": model}.items():
    report = invariance_report(
        classifier, digits.X_test[:200], digits.y_test[:200], family, n_elements=10, random_state=0
    )
    print(f"{name}: {report.overall.flip_rate} of the predictions change")
