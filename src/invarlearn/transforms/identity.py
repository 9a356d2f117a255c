"""The identity family."""

from __future__ import annotations

from invarlearn._utils.validation import Shape
from invarlearn.transforms.actions import Action, Functions, unchanged
from invarlearn.transforms.base import Family


class Identity(Family):
    """The family whose only element is the identity.

    It is a group, and unitary. Its name in specifications is "nothing".

    Parameters
    ----------
    shape : int or tuple, optional
        Shape of a row.

    Examples
    --------
    >>> Identity().orbit([[1.0, 2.0]])
    array([[[1., 2.]]])
    """

    spec_name = "nothing"
    stored_types = (unchanged,)
    is_group = True
    is_unitary = True
    is_identity = True

    def __init__(self, shape: Shape = None):
        self.shape = shape

    def elements(self, n_features: int) -> Action:
        return Functions([unchanged])

    @property
    def n_elements(self) -> float:
        return 1
