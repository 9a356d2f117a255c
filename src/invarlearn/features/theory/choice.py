"""Choice of templates with small distortion (Mroueh et al., 2015, Remark 4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from invarlearn._utils.parallel import slices
from invarlearn._utils.validation import check_number
from invarlearn.features.invariant import InvariantFeatures


class TemplateChoice(NamedTuple):
    """Templates chosen among candidates.

    Attributes
    ----------
    templates : array of shape (n_templates, n_features)
        The chosen templates, in the order of the choice, for ``InvariantFeatures(templates=...)``.
    indices : array of shape (n_templates,)
        Their indices among the candidates.
    distortions : array of shape (n_templates,)
        Root mean square distortion of the Gram matrix of X with the first template, the first two,
        and so on.
    """

    templates: NDArray
    indices: NDArray[np.intp]
    distortions: NDArray[np.float64]


def choose_templates(
    features: InvariantFeatures,
    X: ArrayLike,
    n_templates: int,
    target: ArrayLike | None = None,
) -> TemplateChoice:
    """Choose templates whose features have inner products close to a kernel on given rows.

    The kernel of m templates is the mean of the kernels of each. Starting with none, the method
    adds the candidate that makes this mean closest to the target in the Frobenius norm (kernel
    herding). The templates depend on the rows X, but not on labels.

    Parameters
    ----------
    features : InvariantFeatures
        Fitted features; their templates are the candidates.
    X : array-like of shape (n, n_features)
        Rows, such as 100 training rows. Memory grows with ``n^2`` times the number of candidates.
    n_templates : int
        Number of templates to choose, at most the number of candidates.
    target : array-like of shape (n, n), optional
        Kernel values, such as those of :func:`expected_kernel`. None: the mean over all candidates.

    Returns
    -------
    TemplateChoice

    References
    ----------
    Mroueh, Voinea and Poggio (2015), Remark 4, leave the choice to future work. Chen, Welling and
    Smola, Super-samples from kernel herding (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from invarlearn import InvariantFeatures
    >>> from invarlearn.features.theory import choose_templates, template_kernels
    >>> from invarlearn.transforms import CyclicShift
    >>> X = np.random.RandomState(0).standard_normal((30, 8))
    >>> candidates = InvariantFeatures(CyclicShift(), 200, 10, random_state=0).fit(X)
    >>> choice = choose_templates(candidates, X, 20)
    >>> kernels = template_kernels(candidates, X)
    >>> drawn = kernels.reshape(10, 20, -1).mean(axis=1)
    >>> errors = drawn - kernels.mean(axis=0)
    >>> bool(choice.distortions[-1] < np.median(np.std(errors, axis=1)) / 2)
    True
    """
    kernels = template_kernels(features, X)
    n_candidates, n_pairs = kernels.shape
    m = int(check_number(n_templates, "n_templates", low=1, high=n_candidates, whole=True))
    if target is None:
        goal = kernels.mean(axis=0)
    else:
        goal = check_array(target, dtype=float).ravel()
        if len(goal) != n_pairs:
            raise ValueError(
                f"target has shape {np.shape(target)}, but X has {round(n_pairs**0.5)} rows: pass "
                "one value for each pair of rows"
            )
    # of the differences from the target, since the target is a limit of the mean
    differences = kernels - goal
    products = differences @ differences.T
    squares = np.diag(products)
    indices, distortions = np.empty(m, dtype=np.intp), np.empty(m)
    is_free = np.ones(n_candidates, dtype=bool)
    with_chosen, total = np.zeros(n_candidates), 0.0
    for step in range(m):
        # squared norm of the sum of differences after each candidate is added
        sums = np.where(is_free, total + 2 * with_chosen + squares, np.inf)
        best = int(np.argmin(sums))
        total = float(sums[best])
        with_chosen += products[best]
        is_free[best] = False
        indices[step] = best
        distortions[step] = np.sqrt(max(total, 0.0) / n_pairs) / (step + 1)
    return TemplateChoice(features.templates_[indices], indices, distortions)


def template_kernels(features: InvariantFeatures, X: ArrayLike) -> NDArray[np.float64]:
    """Return the kernel of each template, whose mean is the kernel of the features.

    Parameters
    ----------
    features : InvariantFeatures
        Fitted features with m templates.
    X : array-like of shape (n, n_features)

    Returns
    -------
    array of shape (m, n * n)
        Inner products of the features of each template, times m.
    """
    values = features.transform(X).astype(float)
    n, m = len(values), len(features.templates_)
    by_template = values.reshape(n, m, -1).transpose(1, 0, 2)
    kernels = np.empty((m, n, n))
    for block in slices(m, 256):
        kernels[block] = m * by_template[block] @ by_template[block].transpose(0, 2, 1)
    return kernels.reshape(m, n * n)
