"""``invarlearn predict``: classes of samples in files."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated

import typer

from invarlearn.cli._samples import AsJson, Data, ModelPath, check_output, print_json


def predict_command(
    data: Data,
    model: ModelPath = Path("model.skops"),
    out: Annotated[Path, typer.Option(help="Where to write the classes, as CSV.")] = Path(
        "predictions.csv"
    ),
    as_json: AsJson = False,
) -> None:
    """Write the class of every sample, and how probable it is."""
    from invarlearn._files import whole_file
    from invarlearn._progress import Clock
    from invarlearn.cli._show import console, progress_of, stoppable
    from invarlearn.persistence import load_model
    from invarlearn.readers import open_samples

    check_output(out)
    trained = load_model(model)
    source = open_samples(data, like=trained.settings)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["sample", "label", "probability"])
    right = 0
    blocks = list(source.blocks())
    with stoppable(), progress_of("predict") as progress:
        clock = Clock(len(blocks), 0, progress)
        for some in blocks:
            labels, chances = trained.predict(source.read(some))
            if source.labels is not None:
                right += int((labels.astype(str) == source.labels[some].astype(str)).sum())
            rows = zip(source.names[some], labels.tolist(), chances.tolist(), strict=True)
            writer.writerows([name, label, f"{chance:.4f}"] for name, label, chance in rows)
            clock.tick()
    with whole_file(out) as file:
        file.write(table.getvalue().encode())
    accuracy = None if source.labels is None else right / len(source)
    if as_json:
        print_json({"predictions": str(out), "samples": len(source), "accuracy": accuracy})
        return
    console.print(f"{len(source):,} samples: {out}", highlight=False, soft_wrap=True)
    if accuracy is not None:
        console.print(f"{100 * accuracy:.1f} % agree with the classes in {data}", soft_wrap=True)
