"""Values that cases of several files record of a fitted estimator."""

from __future__ import annotations

from typing import Any

from golden.declare import Labels


def scored(model: Any, new: Any) -> dict[str, Any]:
    """Return decision values, probabilities if there are any, and predicted labels."""
    scores = model.decision_function(new)
    values = {"decision": scores, "labels": Labels(model.predict(new), scores)}
    if hasattr(model, "predict_proba"):
        values["probabilities"] = model.predict_proba(new)
    return values


def attributes(model: Any, *names: str) -> dict[str, Any]:
    """Return fitted numbers by name, without their underscore."""
    return {name.strip("_"): getattr(model, name) for name in names}
