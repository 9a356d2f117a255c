"""The bound on the regret of Pegasos (Teo et al., 2007, Theorem 3)."""

from __future__ import annotations

import math

from invarlearn._utils.validation import check_number


def regret_bound(n_steps: int, lam: float, largest_psi: float, at_zero: float) -> float:
    r"""Return the bound on the mean regret of Pegasos after some steps.

    With the instantaneous risk :math:`R_t(f) = \ell_t(f) + \lambda \|f\|^2 / 2` of the sample of
    step t, it is

    .. math:: \frac1T \sum_t R_t(f_t) - \min_f \frac1T \sum_t R_t(f)
        \le \frac{G^2 (1 + \log T)}{2 \lambda T}, \qquad
        G = \min\Bigl(2 \rho, \rho + \sqrt{2 \lambda R(0)}\Bigr),

    where :math:`\rho` is the largest norm of psi. G bounds the subgradients of the regularised
    risk. The paper has :math:`\rho` for G, which is too small. The risk of the average of all f_t
    is at most as large as the mean risk.

    Parameters
    ----------
    n_steps : int
        Number of steps T.
    lam : float
    largest_psi : float
        Largest norm of a column's psi, its margin scale included. For the multiclass loss without
        scales it is :math:`\sqrt2` times the largest norm of a transformed row; for two classes, it
        is that norm.
    at_zero : float
        The risk at f = 0; 1 if every mistake costs 1.

    Returns
    -------
    float

    References
    ----------
    Teo, Globerson, Roweis and Smola, Convex learning with invariances (2007), Theorem 3.

    Examples
    --------
    >>> round(regret_bound(1000, lam=0.1, largest_psi=1.0, at_zero=1.0), 3)
    0.083
    """
    n_steps = int(check_number(n_steps, "n_steps", low=1, whole=True))
    lam = check_number(lam, "lam", low=0)
    if lam == 0:
        raise ValueError("lam=0 must be above 0: the bound is infinite otherwise")
    rho = check_number(largest_psi, "largest_psi", low=0)
    at_zero = check_number(at_zero, "at_zero", low=0)
    slope = min(2 * rho, rho + math.sqrt(2 * lam * at_zero))
    return slope**2 * (1 + math.log(n_steps)) / (2 * lam * n_steps)
