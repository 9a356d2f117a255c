"""
Invariant features
==================

The route of papers 000 and 001. A row is projected on every transformation of a random template; how
these projections are distributed does not change when the row itself is transformed. What is left is
a linear problem, whose cost grows with the rows and not with their square.
"""

# %%
# A template is smooth noise under a window; the family acts on it, never on the data.

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
# Features are the shares of projections up to some thresholds: a distribution for each template.
# Shift an image, and its features change less than its pixels do: templates were moved by up to three
# pixels, not by any number, so something still changes.

import numpy as np
from matplotlib.figure import Figure

shifted = Translation(2, shape=(28, 28)).orbit(X)[:, 1]


def change(before, after):
    """Give how far rows have moved, relative to how far they are from each other."""
    apart = np.linalg.norm(before[:, None] - before[None], axis=2).mean()
    return np.linalg.norm(before - after, axis=1).mean() / apart


print(f"pixels: {change(X, shifted):.2f}")
print(f"features: {change(features.transform(X), features.transform(shifted)):.2f}")

picture = Figure(figsize=(7, 2.6), layout="constrained")
for plot, values, title in zip(
    picture.subplots(1, 2, sharey=True),
    (X[:2], shifted[:2]),
    ("as they are", "shifted by two pixels"),
    strict=True,
):
    shares = features.transform(values).reshape(2, 200, 12)
    for number in range(2):
        plot.plot(shares[number, 1] / shares.max(), "o-", label=f"a {y[number]}")
    plot.set_title(title, fontsize=10)
    plot.set_xlabel("threshold")
    plot.legend()

# %%
# Least squares on these features, its regularisation chosen by leaving out each row exactly:

rls = RLSClassifier().fit(features.transform(X), y)
print(f"pixels: {RLSClassifier().fit(X, y).score(digits.X_test, digits.y_test):.1%}")
print(f"features: {rls.score(features.transform(digits.X_test), digits.y_test):.1%}")

# %%
# More templates cost more and tell more, and sums of a fixed size are all that has to be kept: rows
# may come in batches, without end.

batches = RLSClassifier()
for rows in np.array_split(np.arange(2000), 8):
    some = features.transform(digits.X_train[rows])
    batches.partial_fit(some, digits.y_train[rows], classes=np.arange(10))
print(f"2,000 rows: {batches.score(features.transform(digits.X_test), digits.y_test):.1%}")

# %%
# :doc:`/features` has the choices, the theory, and what it brings on real data.
