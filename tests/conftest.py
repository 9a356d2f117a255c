"""Fixtures that tests share."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from sklearn.utils import Bunch

import invarlearn
from invarlearn.datasets import load_mnist_sample

# the same examples in every run, so that only a change of the code can make a test fail
settings.register_profile("repeatable", derandomize=True, deadline=None)
# `make fuzz`: many examples, different in every run
settings.register_profile(
    "fuzz", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture
def real_data():
    """The folder with real data; tests that need it are skipped without it."""
    folder = os.environ.get("INVARLEARN_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real data: set INVARLEARN_DATA to its folder")
    return Path(folder)


@pytest.fixture
def few_test_digits():
    """The digits of the package with 300 test digits, for tests that predict all of them."""
    digits = load_mnist_sample()
    return Bunch(**{**digits, "X_test": digits.X_test[:300], "y_test": digits.y_test[:300]})


@pytest.fixture
def run_with_files(tmp_path):
    """Copy the library, add files to it, and run code with the copy."""

    def run(files, code, *arguments):
        package = tmp_path / "invarlearn"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(invarlearn.__file__).parent, package, ignore=ignored)
        for name, text in files.items():
            (package / name).write_text(text)
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    return run
