"""Models: a fitted classifier, together with the settings by which samples are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from invarlearn.app.routes import class_scores
from invarlearn.transforms import Family

# Maximum numbers of unknown and of known classes that an error lists.
MAX_UNKNOWN, MAX_KNOWN = 5, 20


@dataclass
class Model:
    """A fitted classifier, with all that is needed to predict samples in files.

    Attributes
    ----------
    estimator : classifier
    inverse_temperature : float or None
        Probabilities are the softmax of the scores times this number (temperature scaling). None:
        ``predict_proba`` of the estimator is used.
    settings : dict
        How samples are read: the parameter ``like`` of
        :func:`invarlearn.app.readers.open_samples`.
    family : Family
        The family of transformations that the classifier is trained to be invariant to.
    route : str
        One of :data:`invarlearn.app.routes.ROUTES`.
    accuracy : tuple of three floats
        Accuracy by cross-validation on the training samples, and the ends of its 95 % interval.
    n_samples : int
        Number of training samples.
    compared : list of dict
        The routes that were compared: name, accuracy and its interval, and the reason if a route
        could not be used.
    validation : str
        How the accuracy was estimated, such as "leave-one-out".
    """

    estimator: Any
    inverse_temperature: float | None
    settings: dict[str, Any]
    family: Family
    route: str
    accuracy: tuple[float, float, float]
    n_samples: int
    compared: list[dict[str, Any]] = field(default_factory=list)
    validation: str = "cross-validation"

    def predict(self, X: NDArray) -> tuple[NDArray, NDArray[np.float64]]:
        """Return the predicted class of each row, and its probability.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)

        Returns
        -------
        labels : array of shape (n_samples,)
            Predicted classes.
        probabilities : array of shape (n_samples,)
            Probabilities of the predicted classes.
        """
        n_features = self.settings["n_features"]
        if np.ndim(X) != 2 or np.shape(X)[1] != n_features:
            raise ValueError(
                f"X has shape {np.shape(X)}, but the model was trained on rows of {n_features} "
                "features: pass an array of shape (n_samples, n_features)."
            )
        # all routes predict the class with the highest score
        if self.inverse_temperature is None:
            probabilities = self.estimator.predict_proba(X)
        else:
            scores = class_scores(self.estimator, X)
            probabilities = softmax(self.inverse_temperature * scores, axis=1)
        labels = self.estimator.classes_[probabilities.argmax(axis=1)]
        return labels, probabilities.max(axis=1)

    def match_labels(self, labels: NDArray) -> NDArray:
        """Return labels as elements of ``classes_``, which may have another type.

        The integer 1, the float 1.0 and the text "1" are the same class.

        Parameters
        ----------
        labels : array of shape (n_samples,)

        Returns
        -------
        array of shape (n_samples,)

        Raises
        ------
        ValueError
            If the model does not have one of the classes.
        """
        classes = self.estimator.classes_
        class_of = {_name(label): label for label in classes.tolist()}
        names = [_name(label) for label in np.asarray(labels).tolist()]
        unknown_names = sorted(set(names) - set(class_of))
        if unknown_names:
            raise ValueError(
                f"the samples have classes that the model was not trained on: "
                f"{', '.join(unknown_names[:MAX_UNKNOWN])}. Its classes are "
                f"{', '.join(list(class_of)[:MAX_KNOWN])}."
            )
        return np.array([class_of[name] for name in names], dtype=classes.dtype)


def _name(label: Any) -> str:
    """Return a label as text, equal for an integer and a float of the same value."""
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
