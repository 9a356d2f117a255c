"""Tangent planes of orbits, and the distances between them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

from invarlearn._utils.parallel import slices
from invarlearn.transforms import (
    Family,
    Hyperbolic,
    Rotation,
    Scaling,
    Thickness,
    Translation,
)

# Fraction of scikit-learn's ``working_memory`` for products of bases in one block of rows.
BLOCK_SHARE = 1 / 16


@dataclass(frozen=True)
class TangentPlanes:
    """Rows and orthonormal bases of the tangent planes of their orbits.

    Attributes
    ----------
    rows : array of shape (n, n_features)
        Smoothed rows, minus an origin. Distances do not depend on the origin, but rounding errors
        do.
    bases : array of shape (n, n_directions, n_features)
        A basis vector is zero if the tangents are linearly dependent.
    """

    rows: NDArray
    bases: NDArray

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(
        cls, family: Family, X: NDArray, smoothing: float | None, origin: NDArray
    ) -> TangentPlanes:
        """Compute the tangent planes of rows.

        Parameters
        ----------
        family : Family
        X : array of shape (n, n_features)
        smoothing : float or None
            Standard deviation, in pixels, of the Gaussian that smooths rows and tangents. None: the
            default of the family.
        origin : array of shape (n_features,)
        """
        blocks = plane_blocks(family, X, 1, 0)
        rows = [(family.smooth(X[block], smoothing) - origin).astype(X.dtype) for block in blocks]
        bases = [orthonormal(family.tangents(X[block], smoothing)) for block in blocks]
        return cls(np.concatenate(rows), np.concatenate(bases))

    def squared_distances(self, others: TangentPlanes, ridge: float = 1e-6) -> NDArray:
        """Return the two-sided squared distances, from planes to planes: (n, m).

        Parameters
        ----------
        others : TangentPlanes
        ridge : float, default=1e-6
            Added to the diagonal of the system of a pair, which is singular for planes that share a
            direction.
        """
        from invarlearn.kernels._tangent_distance import two_sided

        return two_sided(self.rows, self.bases, others.rows, others.bases, ridge)

    def squared_distances_from(self, rows: NDArray) -> NDArray:
        """Return the one-sided squared distances, from rows to these planes: (n_rows, n).

        Parameters
        ----------
        rows : array of shape (n_rows, n_features)
            Smoothed rows, minus the origin.
        """
        from invarlearn.kernels._tangent_distance import one_sided

        return one_sided(rows, self.rows, self.bases)


def default_deformations(n_features: int) -> Family:
    """Return the seven deformations of square images by Simard et al."""
    if isqrt(n_features) ** 2 != n_features:
        raise ValueError(
            f"family=None requires square images, but {n_features} features are not a square one: "
            "pass a family with its shape, such as Translation(1, shape=...)"
        )
    return (
        Translation(1)
        * Rotation(15)
        * Scaling(1.1)
        * Hyperbolic(0.1)
        * Hyperbolic(0.1, diagonal=True)
        * Thickness(1.0)
    )


def plane_blocks(family: Family, X: NDArray, sides: int, n_planes: int) -> list[slice]:
    """Divide rows into blocks whose tangents, and products with planes, fit into memory."""
    k = family.with_shape_of(X.shape[1]).n_directions
    n_products = (k**sides + 4) * n_planes
    n_bytes = get_config()["working_memory"] * 2**20 * BLOCK_SHARE
    return slices(len(X), int(n_bytes // (8 * (n_products + 4 * max(k, 1) * X.shape[1]))))


def orthonormal(tangents: NDArray) -> NDArray:
    """Return orthonormal bases of the tangents of each row.

    If the tangents of a row are linearly dependent, some vectors of its basis are zero.

    Parameters
    ----------
    tangents : array of shape (n, k, d)

    Returns
    -------
    array of shape (n, k, d)
    """
    exact = tangents.astype(float)
    # normalised, so that the threshold on eigenvalues does not depend on units
    norms = np.linalg.norm(exact, axis=2, keepdims=True)
    exact /= np.where(norms > 0, norms, 1.0)
    gram = exact @ exact.transpose(0, 2, 1)
    values, vectors = np.linalg.eigh(gram)
    largest = values.max(axis=1, keepdims=True, initial=0)
    kept = values > 1e-10 * np.maximum(largest, np.finfo(float).tiny)
    scale = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
    basis = (vectors * scale[:, None, :]).transpose(0, 2, 1) @ exact
    return basis.astype(tangents.dtype)


def check_sides(sides: Any) -> None:
    """Raise ValueError unless the number of sides with tangents is 1 or 2."""
    if sides not in (1, 2):
        raise ValueError(f"sides={sides!r} must be 1 or 2")
