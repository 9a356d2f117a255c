"""The page of an audit: flip rates by transformation and class, and the samples that flip."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from invarlearn.audit import InvarianceReport, InvarianceScores, Misclassification, Proportion
from invarlearn.plotting import show_pairs
from invarlearn.report.page import Page
from invarlearn.transforms.domains import (
    BAG,
    IMAGE,
    POLAR_IMAGE,
    ROWS,
    SEQUENCE,
    SPECTROGRAM,
    Domain,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Headings of the columns of tables, by the name of the proportion.
HEADINGS = {
    "flip_rate": "flip rate",
    "consistency": "never flip",
    "accuracy": "accuracy",
    "transformed_accuracy": "accuracy, transformed",
    "worst_case_accuracy": "worst-case accuracy",
}
# Where the first row of a picture is drawn, by domain. The first band of a spectrogram has the
# lowest frequency.
ORIGINS: dict[Domain, str] = {
    IMAGE: "upper",
    POLAR_IMAGE: "upper",
    SPECTROGRAM: "lower",
    SEQUENCE: "upper",
    BAG: "upper",
    ROWS: "upper",
}
# Numbers of channels of rows that can be drawn as pictures.
DRAWABLE_CHANNELS = (1, 3)


def audit_page(
    report: InvarianceReport, shape: tuple[int, ...] | None, names: Sequence[str], title: str
) -> Page:
    """Build the page of an audit.

    Parameters
    ----------
    report : InvarianceReport
    shape : tuple or None
        Shape of a row. Rows with a shape are images or spectrograms, and are shown as pictures.
    names : sequence of str
        Names of the samples.
    title : str

    Returns
    -------
    Page
    """
    page = Page(title, audit_summary(report))
    page.heading("By transformation")
    _add_flip_rates(page, report.by_transformation, "transformation")
    page.heading("By class")
    _add_flip_rates(page, report.by_class, "class")
    page.heading("Samples misclassified only when transformed")
    if report.flips:
        _add_flips(page, report, shape, names)
    else:
        page.paragraph("No correctly classified sample is misclassified under the elements tried.")
    page.heading("Samples misclassified without a transformation")
    if report.mistakes:
        page.table(_flip_rows(report.mistakes, names))
    else:
        page.paragraph("None.")
    return page


def _add_flip_rates(page: Page, parts: dict[Any, InvarianceScores], what: str) -> None:
    """Add a figure of the flip rates, and a table of all proportions."""
    rates = {str(name): part.flip_rate for name, part in parts.items()}
    page.figure(
        rates_figure(rates),
        alt=f"Flip rate by {what}: " + "; ".join(f"{name} {rate}" for name, rate in rates.items()),
        caption=f"Flip rate by {what}: the percentage of transformed samples whose predicted class "
        "differs from that of the untransformed sample, with 95 % intervals.",
    )
    page.table(_score_rows(parts, what))


def _add_flips(
    page: Page, report: InvarianceReport, shape: tuple[int, ...] | None, names: Sequence[str]
) -> None:
    """Add a figure, if rows can be drawn, and a table of the samples that flip."""
    page.paragraph(
        "These samples are classified correctly, but misclassified when the family transforms "
        "them. The margin is the score of the true class minus that of the predicted class; the "
        "most confident errors come first."
    )
    if shape is not None and _is_drawable(shape):
        page.figure(
            flips_figure(report.flips, shape, _origin(report.family.domain)),
            alt="Pairs of pictures, each sample before and after a transformation: "
            + "; ".join(f"{f.label} predicted as {f.predicted}" for f in report.flips),
        )
    page.table(_flip_rows(report.flips, names))


def _origin(domain: Domain) -> str:
    """Return where the first row of a picture is drawn."""
    if domain not in ORIGINS:
        warnings.warn(
            f"It is not known where pictures of the domain {str(domain)!r} begin: their first row "
            "is drawn at the top.",
            stacklevel=2,
        )
    return ORIGINS.get(domain, "upper")


def _is_drawable(shape: tuple[int, ...]) -> bool:
    """Return whether rows of this shape can be drawn as pictures."""
    return len(shape) == 2 or (len(shape) == 3 and shape[2] in DRAWABLE_CHANNELS)


def _flip_rows(flips: list[Misclassification], names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "sample": str(names[flip.index]),
            "class": str(flip.label),
            "predicted": str(flip.predicted),
            "margin": (f"{flip.margin:.3g}", flip.margin),
        }
        for flip in flips
    ]


def audit_summary(report: InvarianceReport) -> str:
    """Return the main results of an audit in two or three sentences."""
    whole = report.overall
    tried = (
        "all elements of the family"
        if whole.exhaustive
        else f"each of {whole.n_elements} random elements of the family"
    )
    sentences = [
        f"The declared family flips {100 * whole.flip_rate.value:.1f} % of predictions.",
        f"Of {whole.n_samples:,} samples, {100 * whole.accuracy.value:.1f} % are classified "
        f"correctly without a transformation, and {100 * whole.worst_case_accuracy.value:.1f} % "
        f"also under {tried}.",
    ]
    # the first entry is the whole family
    parts = dict(list(report.by_transformation.items())[1:])
    if parts:
        worst = max(parts, key=lambda name: parts[name].flip_rate.value)
        rate = 100 * parts[worst].flip_rate.value
        if rate > 0:
            sentences.append(f"The most harmful part is {worst}, with a flip rate of {rate:.1f} %.")
    return " ".join(sentences)


def _score_rows(parts: dict[Any, InvarianceScores], what: str) -> list[dict[str, Any]]:
    """Return the rows of a table of proportions; the number of elements only if it varies."""
    elements_vary = len({part.n_elements for part in parts.values()}) > 1
    rows = []
    for name, part in parts.items():
        row: dict[str, Any] = {what: str(name), "samples": part.n_samples}
        if elements_vary:
            row["elements"] = part.n_elements
        proportions = part.proportions()
        for key, heading in HEADINGS.items():
            row[f"{heading}, %"] = (_in_percent(proportions[key]), proportions[key].value)
        rows.append(row)
    return rows


def _in_percent(rate: Proportion) -> str:
    return f"{100 * rate.value:.1f} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def rates_figure(rates: dict[str, Proportion]) -> Figure:
    """Draw flip rates as points with 95 % intervals, one line for each rate."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 0.9 + 0.32 * len(rates)), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    values = 100 * np.array([rate.value for rate in rates.values()])
    low = 100 * np.array([rate.low for rate in rates.values()])
    high = 100 * np.array([rate.high for rate in rates.values()])
    positions = np.arange(len(rates))
    # by rounding, an interval may not contain a rate of 0 % or 100 %
    lengths = np.maximum([values - low, high - values], 0)
    axis.errorbar(values, positions, xerr=lengths, fmt="o", color="C0", capsize=3, clip_on=False)
    axis.set_yticks(positions, list(rates), parse_math=False)
    axis.set_ylim(len(rates) - 0.5, -0.5)
    axis.set_xlim(left=0, right=max(5.0, 1.05 * float(high.max())))
    axis.set_xlabel("flip rate (%)")
    axis.grid(axis="x", alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def flips_figure(
    flips: list[Misclassification], shape: tuple[int, ...], origin: str = "upper"
) -> Figure:
    """Draw pairs of pictures: a sample, and the transformed sample that is misclassified.

    Parameters
    ----------
    flips : list of Misclassification
    shape : tuple
        Shape of a row.
    origin : {"upper", "lower"}, default="upper"
        Where the first row of pixels is drawn.
    """
    return show_pairs(
        [flip.row for flip in flips],
        [flip.transformed for flip in flips],
        shape,
        [(str(flip.label), f"→ {flip.predicted}") for flip in flips],
        origin=origin,
    )
