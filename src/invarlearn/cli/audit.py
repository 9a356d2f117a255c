"""``invarlearn audit``: how often predictions flip under what should not matter."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from invarlearn.cli._samples import (
    MAY_CHANGE,
    AsJson,
    Data,
    ModelPath,
    check_inputs,
    check_output,
    command_line,
    print_json,
)


def audit_command(
    data: Data,
    model: ModelPath = Path("model.skops"),
    may_change: Annotated[
        str | None, typer.Option(help=MAY_CHANGE + " Nothing said: what the model was told.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where to write the report.")] = Path("audit.html"),
    elements: Annotated[int, typer.Option(min=1, help="Transformations to try, each.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Of the transformations.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Tell how often predictions flip under what should not matter, and for which samples.

    Use samples that the model was not trained with.
    """
    check_inputs(data, model)
    from invarlearn.audit import invariance_report
    from invarlearn.cli._show import console, progress_of
    from invarlearn.models import family_for, told_family
    from invarlearn.persistence import load_model
    from invarlearn.readers import ReadError, open_samples
    from invarlearn.report.audit import audit_page
    from invarlearn.transforms import Identity

    check_output(out, data, model)
    trained = load_model(model)
    source = open_samples(data, like=trained.settings)
    if source.labels is None:
        raise ReadError(f"{data} does not say the classes of its samples, which an audit needs")
    family = trained.family if may_change is None else family_for(source, may_change)
    if isinstance(family, Identity):
        raise ValueError("the model was told of nothing that may change: say --may-change WORDS")
    labels, rows = trained.known(source.labels), source.read_all()
    # a damaged model fails here, in words
    trained.predict(rows[:1])
    with progress_of("audit") as progress:
        report = invariance_report(
            trained.estimator,
            rows,
            labels,
            family,
            elements,
            random_state=seed,
            progress=progress,
        )
    page = audit_page(report, source.shape, source.names, f"Audit of {model.name}")
    page.made_by(
        command_line(),
        model=f"route {trained.route}, trained with {trained.n_samples:,} samples",
        may_change=told_family(family),
        samples=f"{len(source):,}, of {data}",
        seed=seed,
    ).write(out)
    if as_json:
        flips = [
            {"sample": source.names[f.index], "class": f.label, "taken_for": f.predicted}
            for f in report.flips
        ]
        print_json(
            {
                "report": str(out),
                "may_change": told_family(family),
                "table": report.table(),
                "became_wrong": flips,
            }
        )
        return
    console.print(report.summary(), highlight=False, soft_wrap=True)
    for flip in report.flips[:5]:
        name = source.names[flip.index]
        console.print(
            f"  {name}: {flip.label}, taken for {flip.predicted} when transformed",
            highlight=False,
            soft_wrap=True,
        )
    console.print(f"report: {out}", highlight=False, soft_wrap=True)
