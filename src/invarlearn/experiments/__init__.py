"""Tables and figures of the papers, and further comparisons: ``invarlearn reproduce --list``."""

from invarlearn.experiments import (
    breaks,
    cnn,
    estimates,
    few_labels,
    liu,
    liu_authors,
    liu_claims,
    liu_definiteness,
    mroueh,
    mroueh_claims,
    mroueh_core,
    mroueh_digits,
    mroueh_speech,
    mroueh_tidigits,
    mroueh_words,
    pitch,
    recipe,
    teo,
    teo_claims,
    virtual_samples,
    zhang,
    zhang_claims,
)
from invarlearn.experiments.base import Experiment, Picture
from invarlearn.experiments.claims import Paper
from invarlearn.experiments.harness import kept_results, run_experiment
from invarlearn.experiments.report import summarise, write_report

# All experiments by id. A module lists its own in EXPERIMENTS or EXPERIMENT.
EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment
    for experiment in (
        *mroueh_words.EXPERIMENTS,
        *mroueh_digits.EXPERIMENTS,
        *mroueh.EXPERIMENTS,
        *mroueh_core.EXPERIMENTS,
        *mroueh_speech.EXPERIMENTS,
        *mroueh_tidigits.EXPERIMENTS,
        *zhang.EXPERIMENTS,
        *liu_authors.EXPERIMENTS,
        *liu_definiteness.EXPERIMENTS,
        *liu.EXPERIMENTS,
        *teo.EXPERIMENTS,
        virtual_samples.EXPERIMENT,
        pitch.EXPERIMENT,
        *few_labels.EXPERIMENTS,
        breaks.EXPERIMENT,
        estimates.EXPERIMENT,
        *recipe.EXPERIMENTS,
        cnn.EXPERIMENT,
    )
}

# The papers, in the order of their ids, with what they state.
PAPERS: tuple[Paper, ...] = (
    mroueh_claims.PAPER,
    zhang_claims.PAPER,
    liu_claims.PAPER,
    teo_claims.PAPER,
)

__all__ = [
    "EXPERIMENTS",
    "PAPERS",
    "Experiment",
    "Paper",
    "Picture",
    "kept_results",
    "run_experiment",
    "summarise",
    "write_report",
]
