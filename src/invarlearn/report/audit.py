"""The page of an audit: how often predictions flip, under what, and which examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from invarlearn.audit import Flip, InvarianceReport, Share, Stability
from invarlearn.plotting import show_pairs
from invarlearn.report.page import Page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES = {
    "flip_rate": "flip",
    "consistency": "never flip",
    "accuracy": "right",
    "moved_accuracy": "right when transformed",
    "worst_case_accuracy": "always right",
}


def audit_page(
    report: InvarianceReport, shape: tuple[int, ...] | None, names: Any, title: str
) -> Page:
    """Build the page of an audit.

    Parameters
    ----------
    report : InvarianceReport
    shape : tuple or None
        Shape of a row: images and spectrograms are shown as pictures.
    names : sequence of str
        Of the samples.
    title : str
    """
    page = Page(title, verdict(report))
    parts = report.by_transformation
    page.heading("Under which transformations")
    page.figure(
        rates_figure({name: one.flip_rate for name, one in parts.items()}),
        alt="Predictions that flip: "
        + "; ".join(f"{name} {one.flip_rate}" for name, one in parts.items()),
        caption="Share of transformed samples that are predicted otherwise than the sample as it "
        "is, with 95 % intervals.",
    )
    page.table(_rows(parts, "transformation"))
    page.heading("Of which classes")
    page.figure(
        rates_figure({str(name): one.flip_rate for name, one in report.by_class.items()}),
        alt="Predictions that flip, by class: "
        + "; ".join(f"{name} {one.flip_rate}" for name, one in report.by_class.items()),
    )
    page.table(_rows(report.by_class, "class"))
    page.heading("Samples that become wrong")
    if report.flips:
        _add_flips(page, report, shape, names)
    else:
        page.paragraph("No sample that is right as it is becomes wrong under what was tried.")
    page.heading("Samples that are wrong as they are")
    if report.mistakes:
        page.table(_flip_rows(report.mistakes, names))
    else:
        page.paragraph("None.")
    return page


def _add_flips(
    page: Page, report: InvarianceReport, shape: tuple[int, ...] | None, names: Any
) -> None:
    page.paragraph(
        "Right as they are, wrong when transformed by something that should not matter; the surest "
        "mistakes first. The margin is the score of the right class less that of the one it is "
        "taken for."
    )
    if shape is not None and len(shape) >= 2 and (len(shape) == 2 or shape[2] in (1, 3)):
        page.figure(
            flips_figure(report.flips, shape, sound=report.family.domain == "spectrogram"),
            alt="Pairs of pictures, each as it is and transformed: "
            + "; ".join(f"{f.label} taken for {f.predicted}" for f in report.flips),
        )
    page.table(_flip_rows(report.flips, names))


def _flip_rows(flips: list[Flip], names: Any) -> list[dict[str, Any]]:
    return [
        {
            "sample": str(names[flip.index]),
            "class": str(flip.label),
            "taken_for": str(flip.predicted),
            "margin": (f"{flip.margin:.3g}", flip.margin),
        }
        for flip in flips
    ]


def verdict(report: InvarianceReport) -> str:
    """Say in two sentences what was found."""
    one = report.overall
    how = "all" if one.exhaustive else f"each of {one.n_elements} random ones"
    lines = [
        f"{100 * one.flip_rate.value:.1f} % of predictions flip under transformations that should "
        f"not matter. Of {one.n_samples:,} samples {100 * one.accuracy.value:.1f} % are right as "
        f"they are, and {100 * one.worst_case_accuracy.value:.1f} % under {how} as well."
    ]
    parts = {name: part for name, part in list(report.by_transformation.items())[1:]}
    if parts:
        worst = max(parts, key=lambda name: parts[name].flip_rate.value)
        if parts[worst].flip_rate.value > 0:
            share = 100 * parts[worst].flip_rate.value
            lines.append(f"Most of all under {worst}: {share:.1f} %.")
    return " ".join(lines)


def _rows(found: dict[Any, Stability], what: str) -> list[dict[str, Any]]:
    tried = {one.n_elements for one in found.values()}
    return [
        {
            what: str(name),
            "samples": one.n_samples,
            **({"tried": one.n_elements} if len(tried) > 1 else {}),
            **{
                f"{words}, %": (_in_percent(share), share.value)
                for words, share in ((words, one.shares()[key]) for key, words in NAMES.items())
            },
        }
        for name, one in found.items()
    ]


def _in_percent(share: Share) -> str:
    return f"{100 * share.value:.1f} ({100 * share.low:.1f} to {100 * share.high:.1f})"


def rates_figure(rates: dict[str, Share]) -> Figure:
    """Draw shares as points with their intervals, a line each."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 0.9 + 0.32 * len(rates)), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    values = 100 * np.array([share.value for share in rates.values()])
    low = 100 * np.array([share.low for share in rates.values()])
    high = 100 * np.array([share.high for share in rates.values()])
    places = np.arange(len(rates))
    # rounding may put an end on the wrong side of a share of nothing or all
    away = np.maximum([values - low, high - values], 0)
    axis.errorbar(values, places, xerr=away, fmt="o", color="C0", capsize=3, clip_on=False)
    axis.set_yticks(places, list(rates), parse_math=False)
    axis.set_ylim(len(rates) - 0.5, -0.5)
    axis.set_xlim(left=0, right=max(5.0, 1.05 * float(high.max())))
    axis.set_xlabel("predictions that flip (%)")
    axis.grid(axis="x", alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def flips_figure(flips: list[Flip], shape: tuple[int, ...], sound: bool = False) -> Figure:
    """Draw samples as they are and, beside each, as they become wrong; high tones at the top."""
    return show_pairs(
        [flip.row for flip in flips],
        [flip.moved for flip in flips],
        shape,
        [(str(flip.label), f"→ {flip.predicted}") for flip in flips],
        origin="lower" if sound else "upper",
    )
