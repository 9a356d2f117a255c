"""``invarlearn audit``: flip rates of a model under transformations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from invarlearn.app.cli._options import (
    AsJson,
    Data,
    ElementCount,
    MayChange,
    ModelPath,
    OutFile,
    Seed,
)
from invarlearn.app.cli._paths import check_inputs, check_output

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from invarlearn.app.models import Model
    from invarlearn.app.readers import Source
    from invarlearn.audit import InvarianceReport
    from invarlearn.transforms import Family

# Number of printed samples that are misclassified only when transformed.
MAX_FLIPS = 5


def audit_command(
    data: Data,
    model: ModelPath = Path("model.skops"),
    may_change: MayChange = None,
    out: OutFile = Path("audit.html"),
    elements: ElementCount = 50,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure how often transformations change predictions.

    The report shows how often predictions change, and for which samples. Use samples that the
    model was not trained on. Without --may-change, the family of the model is used.
    """
    check_inputs(data, model)
    from invarlearn.app.cli._terminal import command_line, print_json, progress_bar
    from invarlearn.app.families import specification_of
    from invarlearn.app.persistence import load_model
    from invarlearn.app.readers import open_samples
    from invarlearn.audit import invariance_report
    from invarlearn.report.audit import audit_page

    check_output(out, data, model)
    trained = load_model(model)
    source = open_samples(data, like=trained.settings)
    labels = _labels_of(source, trained, data)
    family = _family_of(trained, source, may_change)
    with progress_bar("audit") as progress:
        report = invariance_report(
            trained.estimator,
            source.read_all(),
            labels,
            family,
            elements,
            random_state=seed,
            progress=progress,
        )
    specification = specification_of(family)
    audit_page(report, source.shape, source.names, f"Audit of {model.name}").made_by(
        command_line(),
        model=f"route {trained.route}, trained on {trained.n_samples:,} samples",
        may_change=specification,
        samples=f"{len(source):,} samples in {data}",
        seed=seed,
    ).write(out)
    if as_json:
        print_json(_as_json(report, source, specification, out))
    else:
        _print_report(report, source, out)


def _labels_of(source: Source, trained: Model, data: Path) -> NDArray:
    """Return the classes of the samples, as elements of the classes of the model."""
    if source.labels is None:
        raise ValueError(f"{data} has no classes: an audit needs the true class of each sample.")
    return trained.match_labels(source.labels)


def _family_of(trained: Model, source: Source, specification: str | None) -> Family:
    """Return the family of the audit: the specified one, or that of the model."""
    from invarlearn.app.families import family_for

    family = trained.family if specification is None else family_for(source, specification)
    if family.is_identity:
        raise ValueError(
            "the model was trained without transformations. Name some with --may-change SPEC."
        )
    return family


def _as_json(
    report: InvarianceReport, source: Source, specification: str, path: Path
) -> dict[str, Any]:
    return {
        "report": str(path),
        "may_change": specification,
        "table": report.table(),
        "became_wrong": [
            {"sample": source.names[flip.index], "class": flip.label, "taken_for": flip.predicted}
            for flip in report.flips
        ],
    }


def _print_report(report: InvarianceReport, source: Source, path: Path) -> None:
    from invarlearn.app.cli._terminal import say

    say(report.summary())
    for flip in report.flips[:MAX_FLIPS]:
        say(
            f"  {source.names[flip.index]}: {flip.label}, predicted as {flip.predicted} when "
            "transformed"
        )
    say(f"Report: {path}")
