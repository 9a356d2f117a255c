"""``invarlearn predict``: classes of samples in files."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from invarlearn.cli._samples import (
    AsJson,
    ModelPath,
    NewData,
    check_inputs,
    check_output,
    print_json,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from invarlearn.models import Model
    from invarlearn.readers import Source

# Pairs of classes that are told of.
MISTAKES = 5


def predict_command(
    data: NewData,
    model: ModelPath = Path("model.skops"),
    out: Annotated[Path, typer.Option(help="Where to write the classes, as CSV.")] = Path(
        "predictions.csv"
    ),
    as_json: AsJson = False,
) -> None:
    """Write the class of every sample, and how probable it is."""
    check_inputs(data, model)
    from invarlearn._files import whole_file
    from invarlearn._progress import Clock
    from invarlearn.cli._show import console, progress_of
    from invarlearn.persistence import load_model
    from invarlearn.readers import open_samples

    check_output(out, data, model)
    trained = load_model(model)
    source = open_samples(data, like=trained.settings)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    known, unknown = _known_labels(trained, source)
    writer.writerow(["sample", "label", "probability", *["known"] * (known is not None)])
    taken: Counter[tuple[Any, Any]] = Counter()
    blocks = list(source.blocks())
    with progress_of("predict") as progress:
        clock = Clock(len(blocks), 0, progress)
        for some in blocks:
            labels, chances = trained.predict(source.read(some))
            rows = [source.names[some], labels.tolist(), [f"{one:.4f}" for one in chances]]
            if known is not None:
                rows.append(known[some].tolist())
                taken.update(zip(rows[3], rows[1], strict=True))
            writer.writerows(zip(*rows, strict=True))
            clock.tick()
    with whole_file(out) as file:
        file.write(table.getvalue().encode())
    right = sum(count for (a, b), count in taken.items() if a == b)
    accuracy = None if known is None else right / len(source)
    wrong = [(a, b, count) for (a, b), count in taken.most_common() if a != b]
    if as_json:
        mistakes = [{"known": a, "label": b, "samples": count} for a, b, count in wrong]
        print_json(
            {
                "predictions": str(out),
                "samples": len(source),
                "accuracy": accuracy,
                "mistakes": None if known is None else mistakes,
            }
        )
        return
    console.print(f"{len(source):,} samples: {out}", highlight=False, soft_wrap=True)
    if accuracy is not None:
        console.print(f"{100 * accuracy:.1f} % agree with the classes in {data}", soft_wrap=True)
    if wrong:
        told = ", ".join(f"{a} for {b} ({count})" for a, b, count in wrong[:MISTAKES])
        more = ", …" * (len(wrong) > MISTAKES)
        console.print(f"most often taken: {told}{more}", highlight=False, soft_wrap=True)
    if unknown:
        console.print(f"no accuracy: {unknown}", highlight=False, soft_wrap=True)


def _known_labels(trained: Model, source: Source) -> tuple[NDArray | None, str]:
    """Give the classes that the files say, if the model knows them all, or why there are none."""
    if source.labels is None:
        return None, ""
    try:
        return trained.known(source.labels), ""
    except ValueError as error:
        return None, str(error)
