"""
Against the worst case
======================

This route is that of Teo et al. (2007). A spammer can add harmless words to an e-mail and remove suspicious ones.
This route minimises the loss of each sample under the worst transformation. The problem is convex for every family.
"""

# %%
# Simulate e-mails as word counts. Ten words indicate spam strongly, a hundred weakly, and the others not at all.

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

rng = np.random.RandomState(0)
n_words = 400


def emails(n):
    """Return word counts, and labels: 1 for spam, -1 for other e-mails."""
    spam = rng.randint(2, size=n)
    rate = np.full((n, n_words), 0.1)
    rate[:, :10] = np.where(spam[:, None] == 1, 0.5, 0.02)
    rate[:, 10:110] = np.where(spam[:, None] == 1, 0.2, 0.1)
    return rng.poisson(rate), np.where(spam == 1, 1, -1)


def without_worst_words(counts, labels, weights, budget=5):
    """Remove from each spam the words that increase its score most."""
    changed = counts.copy()
    for row in np.flatnonzero(labels == 1):
        gain = np.where(changed[row] > 0, weights * changed[row], -np.inf)
        worst = np.argsort(-gain)[:budget]
        changed[row, worst[gain[worst] > 0]] = 0
    return changed


def rows_of(counts):
    """Return sparse rows of norm one."""
    return normalize(sparse.csr_matrix(counts, dtype=float))


counts, labels = emails(400)
test_counts, test_labels = emails(2000)

# %%
# Train two linear classifiers: a plain one, and one for the worst case in which up to five words are removed.
# Training at the worst case shifts the scores, so the rankings are compared (AUC).

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
    original, changed = (
        roc_auc_score(test_labels, model.decision_function(rows_of(word_counts)))
        for word_counts in (test_counts, attacked)
    )
    print(f"{name}: AUC {original:.3f}, {changed:.3f} without the five worst words")

# %%
# The worst-case classifier distributes its weight over more words, so that its score does not depend on a few.

from matplotlib.figure import Figure

figure = Figure(figsize=(7, 2.6), layout="constrained")
plot = figure.subplots()
for name, model in models.items():
    weights = np.sort(np.abs(np.ravel(model.coef_)))[::-1]
    plot.plot(np.arange(1, n_words + 1), np.cumsum(weights) / weights.sum(), label=name)
plot.set_xscale("log")
plot.set_xlabel("words, by decreasing weight")
plot.set_ylabel("cumulative proportion of weight")
plot.legend()

# %%
# For images, use a kernel. The solver generates columns: it computes a transformed copy only when this copy is the
# worst one.

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
    report = worst_case_accuracy(svc, X_test, y_test, family)
    print(f"{name}: {report.summary()}")

# %%
# The figure shows digits that the worst-case classifier predicts correctly, but not under their worst transformation:
# the digit, and the transformed digit with its prediction.

flips = np.flatnonzero((svc.predict(X_test) == y_test) & (report.margins < 0))[:8]
predicted = svc.predict(report.rows[flips])
titles = [(str(a), f"→ {b}") for a, b in zip(y_test[flips], predicted, strict=True)]
pairs = show_pairs(X_test[flips], report.rows[flips], (28, 28), titles)

# %%
# :doc:`/worst_case` has results on real spam, costs, structured outputs, and oracles of your own.
