"""
How invariant is it, and what helps?
====================================

For any classifier of scikit-learn: how often do predictions flip under what should not matter, under
which transformation most, and which invariances are worth declaring at all?
"""

# %%
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
# The samples that become wrong, the surest mistakes first:

from invarlearn.plotting import show_pairs

flips = show_pairs(
    [flip.row for flip in report.flips],
    [flip.moved for flip in report.flips],
    (28, 28),
    [(str(flip.label), f"→ {flip.predicted}") for flip in report.flips],
)

# %%
# Which invariances help? Candidates are tried by nested cross-validation: what is recommended helped
# samples that took no part in the choice. Mirror images of digits should not be among them.

found = choose_family(
    VirtualSVC(C=10),
    X[:100],
    y[:100],
    [Rotation(15), Translation(1), Reflection(1)],
    ranges=(1.0,),
    cv=3,
)
print(found.summary())

# %%
# From the command line, ``invarlearn audit`` writes such a report as a page: :doc:`/command_line`.
