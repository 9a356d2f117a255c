"""Fixtures that tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# the same examples in every run: a failure must be the change's, not the day's
settings.register_profile("repeatable", derandomize=True, deadline=None)
# `make fuzz`: many, and other ones every time
settings.register_profile(
    "fuzz", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture
def real_data():
    """The folder with real data; tests that need it skip, and say so, without."""
    folder = os.environ.get("INVARLEARN_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("real data needed: set INVARLEARN_DATA to the folder that has them")
    return Path(folder)
