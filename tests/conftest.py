"""Fixtures that tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# the same examples in every run: a failure must be the change's, not the day's
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture
def real_data():
    """The folder with real data; tests that need it skip, and say so, without."""
    folder = os.environ.get("INVARLEARN_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("real data needed: set INVARLEARN_DATA to the folder that has them")
    return Path(folder)
