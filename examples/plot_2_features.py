"""
Invariant features
==================

This route is that of Mroueh et al. (2015). A row is projected on every transformation of random templates. If the
family is a group, the distribution of these projections does not change when the row is transformed. A linear
classifier on such features takes time that is linear in the number of rows.
"""

# %%
# A template is smooth noise under a window. The family acts on templates, not on the data. The figure shows
# transformations of one template.

from invarlearn import InvariantFeatures, RLSClassifier
from invarlearn.datasets import load_mnist_sample
from invarlearn.plotting import show_family
from invarlearn.transforms import Rotation, Translation

digits = load_mnist_sample()
X, y = digits.X_train[:100], digits.y_train[:100]
family = Translation(3, shape=(28, 28)) * Rotation(20, n_steps=5)
features = InvariantFeatures(family, n_templates=200, n_bins=12, random_state=0).fit(X)
templates = show_family(family, features.templates_[1], n_shown=16, n_columns=8)

# %%
# The features are, for each template, the proportions of projections up to a number of thresholds. A shift of the
# images changes the features less than the pixels. It still changes them, because the family contains shifts by up
# to three pixels only, and is not a group.

import numpy as np
from matplotlib.figure import Figure

shifted = Translation(2, shape=(28, 28)).orbit(X)[:, 1]


def change(before, after):
    """Return the mean distance between rows before and after, relative to that between rows."""
    between_rows = np.linalg.norm(before[:, None] - before[None], axis=2).mean()
    return np.linalg.norm(before - after, axis=1).mean() / between_rows


print(f"pixels: {change(X, shifted):.2f}")
print(f"features: {change(features.transform(X), features.transform(shifted)):.2f}")

figure = Figure(figsize=(7, 2.6), layout="constrained")
for plot, images, title in zip(
    figure.subplots(1, 2, sharey=True),
    (X[:2], shifted[:2]),
    ("original", "shifted by two pixels"),
    strict=True,
):
    proportions = features.transform(images).reshape(2, 200, 12)
    for i in range(2):
        plot.plot(proportions[i, 1] / proportions.max(), "o-", label=f"digit {y[i]}")
    plot.set_title(title, fontsize=10)
    plot.set_xlabel("threshold")
    plot.legend()

# %%
# Fit least squares to these features. The regularisation is chosen by the exact leave-one-out error.

rls = RLSClassifier().fit(features.transform(X), y)
print(f"pixels: {RLSClassifier().fit(X, y).score(digits.X_test, digits.y_test):.1%}")
print(f"features: {rls.score(features.transform(digits.X_test), digits.y_test):.1%}")

# %%
# The classifier stores only sums of a fixed size. Training rows can therefore come in batches, and their number is
# not limited by memory.

rls = RLSClassifier()
for rows in np.array_split(np.arange(2000), 8):
    batch = features.transform(digits.X_train[rows])
    rls.partial_fit(batch, digits.y_train[rows], classes=np.arange(10))
print(f"2,000 rows: {rls.score(features.transform(digits.X_test), digits.y_test):.1%}")

# %%
# :doc:`/features` describes the parameters and the theory, and has the accuracy on other data.
