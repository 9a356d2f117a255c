"""``invarlearn predict``: predicted classes of samples in files."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from invarlearn.app.cli._options import AsJson, ModelPath, NewData, OutFile
from invarlearn.app.cli._paths import check_inputs, check_output

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from invarlearn.app.models import Model
    from invarlearn.app.readers import Source

# Maximum number of confusions that are printed.
MAX_CONFUSIONS = 5


@dataclass(frozen=True)
class Predictions:
    """Predictions for samples, compared with the classes in the files.

    Attributes
    ----------
    n_samples : int
    rows : list of tuple
        Name, predicted class, probability and, if the files have classes, true class of each
        sample.
    pairs : Counter or None
        Number of samples by (true class, predicted class); None if true classes are not known.
    no_accuracy : str
        Why the classes in the files cannot be compared; otherwise empty.
    """

    n_samples: int
    rows: list[tuple[Any, ...]]
    pairs: Counter[tuple[Any, Any]] | None
    no_accuracy: str

    @property
    def accuracy(self) -> float | None:
        """Proportion of correct predictions; None if true classes are not known."""
        if self.pairs is None:
            return None
        correct = sum(count for (true, label), count in self.pairs.items() if true == label)
        return correct / self.n_samples

    @property
    def confusions(self) -> list[tuple[Any, Any, int]]:
        """True class, predicted class and number of samples, in decreasing order of the number."""
        pairs = [] if self.pairs is None else self.pairs.most_common()
        return [(true, label, count) for (true, label), count in pairs if true != label]


def predict_command(
    data: NewData,
    model: ModelPath = Path("model.skops"),
    out: OutFile = Path("predictions.csv"),
    as_json: AsJson = False,
) -> None:
    """Predict the classes of samples in files.

    The CSV file has the predicted class of each sample, its probability and, if the files have
    classes, the true class.
    """
    check_inputs(data, model)
    from invarlearn.app.cli._terminal import print_json, say
    from invarlearn.app.persistence import load_model
    from invarlearn.app.readers import open_samples

    check_output(out, data, model)
    trained = load_model(model)
    source = open_samples(data, like=trained.settings)
    predictions = _predict(trained, source)
    columns = ["sample", "label", "probability", *["known"] * (predictions.pairs is not None)]
    _write_table(out, columns, predictions.rows)
    if as_json:
        print_json(_as_json(predictions, out))
        return
    say(f"Predictions for {len(source):,} samples: {out}")
    if predictions.accuracy is not None:
        say(f"Accuracy: {100 * predictions.accuracy:.1f} %, by the classes in {data}")
    if predictions.confusions:
        say(_confusions_text(predictions.confusions))
    if predictions.no_accuracy:
        say(f"No accuracy: {predictions.no_accuracy}")


def _predict(trained: Model, source: Source) -> Predictions:
    """Predict all samples, block by block."""
    from invarlearn._utils.progress import ProgressClock
    from invarlearn.app.cli._terminal import progress_bar

    true, no_accuracy = _true_labels(trained, source)
    rows: list[tuple[Any, ...]] = []
    pairs: Counter[tuple[Any, Any]] = Counter()
    blocks = list(source.blocks())
    with progress_bar("predict") as progress:
        clock = ProgressClock(len(blocks), 0, progress)
        for block in blocks:
            labels, probabilities = trained.predict(source.read(block))
            predicted = labels.tolist()
            columns = [source.names[block], predicted, [f"{p:.4f}" for p in probabilities]]
            if true is not None:
                true_labels = true[block].tolist()
                columns.append(true_labels)
                pairs.update(zip(true_labels, predicted, strict=True))
            rows += zip(*columns, strict=True)
            clock.tick()
    return Predictions(len(source), rows, None if true is None else pairs, no_accuracy)


def _true_labels(trained: Model, source: Source) -> tuple[NDArray | None, str]:
    """Return the true classes, or None; and the reason if the model does not have one of them."""
    if source.labels is None:
        return None, ""
    try:
        return trained.match_labels(source.labels), ""
    except ValueError as error:
        return None, str(error)


def _write_table(path: Path, columns: list[str], rows: Iterable[tuple[Any, ...]]) -> None:
    from invarlearn._utils.files import atomic_write

    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    with atomic_write(path) as file:
        file.write(table.getvalue().encode())


def _as_json(predictions: Predictions, path: Path) -> dict[str, Any]:
    mistakes = [
        {"known": true, "label": label, "samples": count}
        for true, label, count in predictions.confusions
    ]
    return {
        "predictions": str(path),
        "samples": predictions.n_samples,
        "accuracy": predictions.accuracy,
        "mistakes": None if predictions.pairs is None else mistakes,
    }


def _confusions_text(confusions: list[tuple[Any, Any, int]]) -> str:
    """Return a sentence such as "Most frequent confusion: a predicted as b (3 times)"."""
    shown = [
        f"{true} predicted as {label} ({count} {'time' if count == 1 else 'times'})"
        for true, label, count in confusions[:MAX_CONFUSIONS]
    ]
    rest = ", …" if len(confusions) > MAX_CONFUSIONS else ""
    plural = "s" if len(shown) > 1 else ""
    return f"Most frequent confusion{plural}: {', '.join(shown)}{rest}"
