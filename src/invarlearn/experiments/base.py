"""What an experiment is: a table or figure of a paper, declared."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from invarlearn.experiments.store import key_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Cell = dict[str, Any]


class Picture(NamedTuple):
    """A figure, what it shows in words for those who do not see it, and what to see in it."""

    figure: Figure
    alt: str
    caption: str


@dataclass(frozen=True)
class Experiment:
    """A table or figure: what varies, how one cell is run, and the paper's own numbers.

    Parameters
    ----------
    id : str
        What ``invarlearn reproduce`` calls it.
    paper : str
        Where it stands: paper and table or figure.
    title : str
    varies : dict from str to sequence
        The axes of the table, with their values at full size.
    run : callable
        ``run(seed=..., **cell, **settings)`` gives a dict of numbers. It must be a function of a
        module (so that processes can import it) and depend on nothing but its arguments.
    metric : str
        Which of these numbers the table shows.
    unit : str
        Of the metric, for the axis of the figure.
    cost : str
        Which of these numbers, if any, the metric is bought with: shown beside it, and drawn
        against it.
    x, lines : str
        The axis along the figure, and the one that makes its lines.
    seeds : dict from size to int
        How many draws.
    settings : dict from size to dict
        What else ``run`` is told, such as the number of test samples.
    quick : dict from str to sequence
        Values that replace those of ``varies`` in a quick run.
    published : dict from tuple to float
        The paper's numbers: keys are values of the axes, in the order of ``varies``.
    note : str
        What a reader must know to compare.
    pictures : callable, optional
        Gives a list of ``Picture``: what the page shows besides numbers. It must take seconds, and
        need no data but what comes with the package.
    revision : int
        To be raised when ``run`` changes in a way that its arguments do not show: results of
        another revision are not used.
    """

    id: str
    paper: str
    title: str
    varies: Mapping[str, Sequence[Any]]
    run: Callable[..., dict[str, float]]
    x: str
    lines: str
    metric: str = "accuracy"
    unit: str = "%"
    cost: str = ""
    seeds: Mapping[str, int] = field(default_factory=lambda: {"quick": 2, "full": 5})
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    quick: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    published: Mapping[tuple[Any, ...], float] = field(default_factory=dict)
    note: str = ""
    pictures: Callable[[], list[Picture]] | None = None
    revision: int = 1

    def __post_init__(self) -> None:
        for size in ("quick", "full"):
            for run in self.runs(size):
                if json.loads(json.dumps(run)) != run:
                    raise ValueError(
                        f"experiment {self.id}: axes and settings must be numbers, strings or "
                        f"lists, which JSON keeps as they are, not {run}"
                    )

    def axes(self, size: str) -> dict[str, list[Any]]:
        """Give the axes and their values at a size, "quick" or "full"."""
        chosen = {**self.varies, **(self.quick if size == "quick" else {})}
        return {name: list(values) for name, values in chosen.items()}

    def cells(self, size: str) -> list[Cell]:
        """List all combinations of the axes."""
        axes = self.axes(size)
        return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]

    def key(self, run: Cell) -> str:
        """Name a run, for the file of results."""
        return key_of(run, self.revision)

    def runs(self, size: str) -> list[Cell]:
        """List all cells with their seeds and settings: what ``run`` is called with.

        Seeds vary slowest, so that an early stop has a little of everything.
        """
        settings = dict(self.settings.get(size, {}))
        return [
            {**cell, **settings, "seed": seed}
            for seed in range(self.seeds[size])
            for cell in self.cells(size)
        ]
