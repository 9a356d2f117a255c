"""Declarations of experiments: tables and figures of the papers, and further comparisons."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from invarlearn.experiments.store import key_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Values of the axes, by the names of the axes.
Cell = dict[str, Any]
# A row of the table of results: values of the axes, and measured numbers.
Row = dict[str, Any]

# Metrics whose smaller values are better.
SMALL_IS_GOOD = ("error", "errors", "seconds")


class Picture(NamedTuple):
    """A figure, its alternative text for readers who cannot see it, and its caption."""

    figure: Figure
    alt: str
    caption: str


class PrintedNumber(float):
    """A number of a paper as it is printed, whose repr keeps the zeros at its end.

    Examples
    --------
    >>> PrintedNumber("7.90")
    7.90
    """

    def __new__(cls, text: str) -> PrintedNumber:
        number = super().__new__(cls, text)
        number.text = text
        return number

    text: str

    def __reduce__(self) -> tuple[type[PrintedNumber], tuple[str]]:
        return type(self), (self.text,)

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Experiment:
    """A table or figure: its axes, the function that computes a cell, and the paper's numbers.

    A *cell* is one combination of values of the axes; a *run* is a cell with a seed (a random draw)
    and settings.

    Parameters
    ----------
    id : str
        Name for ``invarlearn reproduce``, and name of the folder of the results.
    paper : str
        Source: paper and table or figure.
    title : str
    varies : dict from str to sequence
        Axes of the table and their values at full size.
    run : callable
        ``run(seed=..., **cell, **settings)`` returns a dict of numbers. It must be a function at
        the top level of a module, so that worker processes can import it, and depend on its
        arguments only.
    metric : str
        Key of the number that the table and the figure show.
    unit : str
        Unit of the metric.
    cost : str
        Key of a number, such as seconds, that the table shows beside the metric and that a second
        figure plots the metric against. Empty: none.
    x, lines : str
        The horizontal axis of the figure, and the axis whose values are its lines.
    seeds : dict from size to int
        Number of random draws.
    settings : dict from size to dict
        Further arguments of ``run``, such as the number of test samples, by size.
    quick : dict from str to sequence
        Values that replace those of ``varies`` in a quick run.
    published : dict from tuple to float
        The paper's numbers; a key is a tuple of values of the axes, in the order of ``varies``.
    published_draws : int
        Number of draws of which the paper's numbers are means.
    published_sd : dict from tuple to float
        Printed standard deviations over draws, with the keys of ``published``.
    published_decimals : int, optional
        Number of decimals of all printed numbers. None: as many as the repr of each number has; a
        :class:`PrintedNumber` keeps zeros at its end.
    note : str
        Conditions that a reader needs to know to compare the numbers.
    pictures : callable, optional
        Returns a list of ``Picture`` for the report. It must run within seconds, on data of the
        package only.
    one_process : bool
        Whether all runs are done in one process, because they share large intermediate results.
    revision : int
        To be increased when ``run`` changes but its arguments do not. Kept results of another
        revision are ignored.
    stored_as : str
        Id of the experiment whose stored runs this one shows, see :meth:`view`. Empty: its own.
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
    published_draws: int = 1
    published_sd: Mapping[tuple[Any, ...], float] = field(default_factory=dict)
    published_decimals: int | None = None
    note: str = ""
    pictures: Callable[[], list[Picture]] | None = None
    one_process: bool = False
    revision: int = 1
    stored_as: str = ""

    def __post_init__(self) -> None:
        for size in ("quick", "full"):
            for run in self.runs(size):
                if json.loads(json.dumps(run)) != run:
                    raise ValueError(
                        f"values of axes and settings of experiment {self.id!r} must be numbers, "
                        f"strings or lists, which JSON restores unchanged, but a run is {run}"
                    )

    def view(self, id: str, title: str, metric: str, **changes: Any) -> Experiment:
        """Return an experiment that shows another number of the same runs.

        The runs of both are stored once, under the id of this experiment.

        Parameters
        ----------
        id, title, metric : str
        **changes
            Other fields that do not concern the runs, such as ``unit``, ``published`` or ``note``.

        Returns
        -------
        Experiment
        """
        runs = {"varies", "run", "seeds", "settings", "quick", "revision"} & set(changes)
        if runs:
            raise ValueError(f"a view has the runs of {self.id!r}: do not change {sorted(runs)}")
        options = {"published": {}, "pictures": None, **changes}
        stored_as = self.stored_as or self.id
        return replace(self, id=id, title=title, metric=metric, stored_as=stored_as, **options)

    @property
    def folder(self) -> str:
        """Name of the folder with the stored runs."""
        return self.stored_as or self.id

    def axes(self, size: str) -> dict[str, list[Any]]:
        """Return the axes and their values for a size, "quick" or "full"."""
        axes = {**self.varies, **(self.quick if size == "quick" else {})}
        return {name: list(values) for name, values in axes.items()}

    def cells(self, size: str) -> list[Cell]:
        """List all combinations of the axes."""
        axes = self.axes(size)
        return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]

    def key(self, run: Cell) -> str:
        """Return the key of a run in the file of results."""
        return key_of(run, self.revision)

    def runs(self, size: str) -> list[Cell]:
        """List the keyword arguments of all runs: every cell with every seed, and the settings.

        Seeds vary slowest, so that an interrupted experiment has some draws of every cell.
        """
        settings = dict(self.settings.get(size, {}))
        return [
            {**cell, **settings, "seed": seed}
            for seed in range(self.seeds[size])
            for cell in self.cells(size)
        ]
