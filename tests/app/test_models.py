"""Models: predictions and labels."""

import numpy as np
import pytest

from invarlearn.app.training import train_model


def test_labels_match_classes_as_integers_floats_and_text(waves):
    model = train_model(waves(), "cyclic-shift:1", "features")
    np.testing.assert_array_equal(model.match_labels(np.array([1.0, 0.0])), [1, 0])
    np.testing.assert_array_equal(model.match_labels(np.array(["0", "1"])), [0, 1])
    with pytest.raises(ValueError, match=r"not trained on: 2\. Its classes are 0, 1"):
        model.match_labels(np.array([0, 2]))


def test_rows_of_another_length_are_refused_and_other_errors_pass_unchanged(monkeypatch, model):
    with pytest.raises(ValueError, match=r"X has shape \(2, 3\), but .* rows of 1 features"):
        model.predict(np.zeros((2, 3)))

    def exhausted(X):
        raise MemoryError("too large")

    monkeypatch.setattr(model.estimator, "decision_function", exhausted)
    with pytest.raises(MemoryError, match="too large"):
        model.predict(np.zeros((2, 1)))
