"""
Against the worst case
======================

The route of paper 004. A spammer pads an e-mail with harmless words, and leaves out what gives it
away. A classifier can be trained against the change that hurts it most; that is convex, whatever the
family is.
"""

# %%
# E-mails as counts of words, made up: ten words give spam away, a hundred hint at it, and most mean
# nothing.

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

rng = np.random.RandomState(0)
n_words = 400


def emails(n):
    """Give word counts, and which of them are spam."""
    spam = rng.randint(2, size=n)
    rate = np.full((n, n_words), 0.1)
    rate[:, :10] = np.where(spam[:, None] == 1, 0.5, 0.02)
    rate[:, 10:110] = np.where(spam[:, None] == 1, 0.2, 0.1)
    return rng.poisson(rate), np.where(spam == 1, 1, -1)


def without_worst_words(counts, labels, weights, budget=5):
    """Leave out, of each spam, the words that give it away most."""
    changed = counts.copy()
    for row in np.flatnonzero(labels == 1):
        gain = np.where(changed[row] > 0, weights * changed[row], -np.inf)
        worst = np.argsort(-gain)[:budget]
        changed[row, worst[gain[worst] > 0]] = 0
    return changed


def rows_of(counts):
    """Give sparse rows of length one."""
    return normalize(sparse.csr_matrix(counts, dtype=float))


counts, labels = emails(400)
test_counts, test_labels = emails(2000)

# %%
# Two linear machines: a plain one, and one that expects up to five words to go. Scores of a machine
# that expects the worst are shifted, so it is the ranking that is compared (AUC).

from sklearn.metrics import roc_auc_score

from invarlearn import WorstCaseLinearSVC
from invarlearn.transforms import FeatureDropping

X = rows_of(counts)
models = {
    "plain": WorstCaseLinearSVC(lam=1e-3).fit(X, labels),
    "worst case": WorstCaseLinearSVC(FeatureDropping(budget=5), lam=1e-3).fit(X, labels),
}
for name, model in models.items():
    attacked = without_worst_words(test_counts, test_labels, np.ravel(model.coef_))
    ranked = [
        roc_auc_score(test_labels, model.decision_function(rows_of(some)))
        for some in (test_counts, attacked)
    ]
    print(f"{name}: AUC {ranked[0]:.3f} as they are, {ranked[1]:.3f} without the five worst words")

# %%
# It spreads its weight over more words, so that no few of them decide:

from matplotlib.figure import Figure

figure = Figure(figsize=(7, 2.6), layout="constrained")
plot = figure.subplots()
for name, model in models.items():
    weights = np.sort(np.abs(np.ravel(model.coef_)))[::-1]
    plot.plot(np.arange(1, n_words + 1), np.cumsum(weights) / weights.sum(), label=name)
plot.set_xscale("log")
plot.set_xlabel("words, the weightiest first")
plot.set_ylabel("share of all weight")
plot.legend()

# %%
# Images go with a kernel. Columns are generated: a transformed copy is made only when it is the worst.

from invarlearn import WorstCaseSVC
from invarlearn.audit import worst_case_accuracy
from invarlearn.datasets import load_mnist_sample
from invarlearn.plotting import show_pairs
from invarlearn.transforms import Rotation, Translation

digits = load_mnist_sample()
family = Translation(1) | Rotation(10)
X, y = digits.X_train[:100].astype(float), digits.y_train[:100]
X_test, y_test = digits.X_test[:300].astype(float), digits.y_test[:300]
for name, svc in {
    "plain": WorstCaseSVC(gamma=0.03, C=10.0).fit(X, y),
    "worst case": WorstCaseSVC(family, gamma=0.03, C=10.0).fit(X, y),
}.items():
    found = worst_case_accuracy(svc, X_test, y_test, family)
    print(f"{name}: {found.plain_accuracy:.1%}, and {found.accuracy:.1%} under every change")

# %%
# Digits that the last machine still reads wrongly under the worst change, though rightly as they are:

right = np.flatnonzero((svc.predict(X_test) == y_test) & (found.margins < 0))[:8]
taken = svc.predict(found.rows[right])
titles = [(str(a), f"→ {b}") for a, b in zip(y_test[right], taken, strict=True)]
pairs = show_pairs(X_test[right], found.rows[right], (28, 28), titles)

# %%
# :doc:`/worst_case` has real spam, costs, structured outputs, and oracles of your own.
