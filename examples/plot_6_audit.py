"""
Auditing a classifier, and choosing a family
============================================

An audit measures how often the predictions of any scikit-learn classifier change under transformations, and under
which transformation they change most. :func:`~invarlearn.audit.choose_family` tests which families increase the
accuracy.
"""

# %%
# Audit a support vector classifier under shifts and rotations.

from sklearn.svm import SVC

from invarlearn import VirtualSVC
from invarlearn.audit import choose_family, invariance_report
from invarlearn.datasets import load_mnist_sample
from invarlearn.transforms import Reflection, Rotation, Translation

digits = load_mnist_sample()
X, y = digits.X_train[:200], digits.y_train[:200]
X_test, y_test = digits.X_test[:300], digits.y_test[:300]

svc = SVC(C=10).fit(X, y)
report = invariance_report(
    svc, X_test, y_test, Translation(2) * Rotation(15), n_elements=30, random_state=0
)
print(report.summary())

# %%
# The figure shows samples that are misclassified only after a transformation, those with the largest negative margin
# first.

from invarlearn.plotting import show_pairs

flips = show_pairs(
    [flip.row for flip in report.flips],
    [flip.transformed for flip in report.flips],
    (28, 28),
    [(str(flip.label), f"→ {flip.predicted}") for flip in report.flips],
)

# %%
# Test candidate families by nested cross-validation. A family is recommended only if it increases the accuracy on
# samples that were not used for the choice. Reflections of digits should not be recommended.

choice = choose_family(
    VirtualSVC(C=10),
    X[:100],
    y[:100],
    [Rotation(15), Translation(1), Reflection(1)],
    ranges=(1.0,),
    cv=3,
)
print(choice.summary())

# %%
# ``invarlearn audit`` writes such a report as a page, see :doc:`/command_line`.
