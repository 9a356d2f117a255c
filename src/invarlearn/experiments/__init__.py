"""The papers' tables and figures, declared: see ``invarlearn reproduce --list``."""

from invarlearn.experiments import breaks, cnn, estimates, few_labels, paper_002, paper_004, recipe
from invarlearn.experiments.base import Experiment, Picture
from invarlearn.experiments.harness import kept_results, run_experiment
from invarlearn.experiments.paper_000 import (
    CONVERGENCE,
    FIGURE_1,
    FIGURE_1_FEW,
    FIGURE_2_LEFT,
    FIGURE_2_RIGHT,
    FIGURE_3,
    FIGURE_3_GENDER,
    FIGURE_4_LEFT,
    FIGURE_4_RIGHT,
    FIGURE_6,
    LARGE,
)
from invarlearn.experiments.paper_003 import (
    BEST,
    EXAMPLE_2,
    FIGURE_2,
    TABLE_1,
    TABLE_2,
    TABLE_2_DRAWS,
    TABLE_2_OURS,
    TANGENTS,
)
from invarlearn.experiments.report import summarise, write_report
from invarlearn.experiments.virtual_samples import EXPERIMENT as VIRTUAL_SAMPLES
from invarlearn.experiments.voices import EXPERIMENT as VOICES

# One line registers an experiment.
EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment
    for experiment in (
        FIGURE_1,
        FIGURE_1_FEW,
        FIGURE_2_LEFT,
        FIGURE_2_RIGHT,
        LARGE,
        FIGURE_3,
        FIGURE_3_GENDER,
        FIGURE_4_LEFT,
        FIGURE_4_RIGHT,
        FIGURE_6,
        CONVERGENCE,
        paper_002.FIGURE_1,
        paper_002.TABLE_1,
        paper_002.FIGURE_2,
        TABLE_1,
        TABLE_2,
        TABLE_2_DRAWS,
        TANGENTS,
        TABLE_2_OURS,
        BEST,
        FIGURE_2,
        EXAMPLE_2,
        paper_004.FIGURE_1,
        paper_004.FIGURE_1_SUPPORT,
        paper_004.FIGURE_1_TUNE,
        paper_004.TABLE_1,
        paper_004.TABLE_1_ACCURACY,
        paper_004.TABLE_1_SHIFT,
        paper_004.SEQUENCES,
        VIRTUAL_SAMPLES,
        VOICES,
        *few_labels.EXPERIMENTS,
        breaks.EXPERIMENT,
        estimates.EXPERIMENT,
        *recipe.EXPERIMENTS,
        cnn.EXPERIMENT,
    )
}

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Picture",
    "kept_results",
    "run_experiment",
    "summarise",
    "write_report",
]
