"""Checks of input and output files before a command begins."""

from __future__ import annotations

import os
from pathlib import Path


def check_inputs(data: Path, model: Path | None = None) -> None:
    """Raise if a file does not exist, before the rest of the library is imported."""
    if not data.exists():
        raise ValueError(f"{data} does not exist.")
    if model is not None and not model.exists():
        raise ValueError(
            f"{model} does not exist. Train a model with: invarlearn train DATA --model {model}"
        )


def check_output(path: Path, *inputs: Path) -> None:
    """Raise if a file cannot be written, or is one of the inputs."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Name a file.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a regular file. Name another one.")
    for other in inputs:
        if path.exists() and other.exists() and path.samefile(other):
            raise ValueError(f"{path} is an input and would be replaced. Name another file.")
    # missing folders are created with the file
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ValueError(f"{folder} is not a folder that can be written to. Choose another folder.")
