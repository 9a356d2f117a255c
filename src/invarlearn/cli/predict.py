"""``invarlearn predict``: classes of samples in files."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    writer.writerow(["sample", "label", "probability"])
    known = _known_labels(trained, source)
    right = 0
    blocks = list(source.blocks())
    with progress_of("predict") as progress:
        clock = Clock(len(blocks), 0, progress)
        for some in blocks:
            labels, chances = trained.predict(source.read(some))
            if known is not None:
                right += int((labels == known[some]).sum())
            rows = zip(source.names[some], labels.tolist(), chances.tolist(), strict=True)
            writer.writerows([name, label, f"{chance:.4f}"] for name, label, chance in rows)
            clock.tick()
    with whole_file(out) as file:
        file.write(table.getvalue().encode())
    accuracy = None if known is None else right / len(source)
    if as_json:
        print_json({"predictions": str(out), "samples": len(source), "accuracy": accuracy})
        return
    console.print(f"{len(source):,} samples: {out}", highlight=False, soft_wrap=True)
    if accuracy is not None:
        console.print(f"{100 * accuracy:.1f} % agree with the classes in {data}", soft_wrap=True)


def _known_labels(trained: Model, source: Source) -> NDArray | None:
    """Give the classes that the files say, if the model knows them all."""
    try:
        return None if source.labels is None else trained.known(source.labels)
    except ValueError:
        return None
