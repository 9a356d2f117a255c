"""The orbits of fixed rows, cached between predictions."""

from __future__ import annotations

from typing import Any

from invarlearn.kernels.base import Rows
from invarlearn.kernels.orbit.engine import OrbitCache
from invarlearn.kernels.orbit.kernel import OrbitKernel


class Orbits:
    """Similarity to the orbits of fixed rows, for repeated calls as in predictions.

    Prepared orbits are cached as long as they fit into a quarter of scikit-learn's
    ``working_memory``; they are not pickled.

    Parameters
    ----------
    kernel : OrbitKernel
    Y : array of shape (m, n_features)
        Rows whose orbits are compared.
    """

    def __init__(self, kernel: OrbitKernel, Y: Rows):
        self.kernel = kernel
        self.Y = Y
        self.cache = OrbitCache()

    def __call__(self, X: Rows) -> Rows:
        """Compute the similarity of rows X to the orbits of Y, in the precision of Y: (n, m)."""
        return self.kernel.to_orbits(X.astype(self.Y.dtype, copy=False), self.Y, self.cache)

    def __getstate__(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "Y": self.Y}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]
