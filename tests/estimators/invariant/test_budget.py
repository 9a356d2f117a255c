"""The budget: rows that fit into memory."""

from dataclasses import FrozenInstanceError, fields

import pytest

from invarlearn import Budget


def test_rows_fit_into_memory_but_are_at_least_100():
    budget = Budget(max_bytes=8 * 1000 * 500)
    assert budget.rows_in_memory(2000, 1000, 8) == 500
    assert budget.rows_in_memory(2000, 1000, 4) == 1000
    assert budget.rows_in_memory(300, 1000, 8) == 300
    assert budget.rows_in_memory(2000, 10**6, 8) == 100
    assert budget.rows_in_memory(50, 10**6, 8) == 50
    few = Budget(max_bytes=8 * 1000 * 500, min_block_rows=7)
    assert few.rows_in_memory(2000, 10**6, 8) == 7


def test_a_budget_is_frozen_and_every_field_is_documented():
    with pytest.raises(FrozenInstanceError):
        Budget().max_rows = 10
    for field in fields(Budget):
        assert field.name in Budget.__doc__


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"max_copies": 0}, ValueError, "max_copies=0 must be a whole number, at least 1"),
        ({"block_rows": 2.5}, ValueError, "block_rows=2.5 must be a whole number"),
        ({"search_rows": "many"}, TypeError, "search_rows='many' must be a whole number"),
        ({"gammas": ()}, ValueError, r"gammas=\(\) must be a tuple of positive numbers"),
        ({"lams": (1.0, 0.0)}, ValueError, "lams=0.0 must be"),
        ({"lams": 1.0}, ValueError, "lams=1.0 must be a tuple"),
        ({"warning_level": float("nan")}, ValueError, "warning_level=nan"),
        ({"min_copies": 9, "max_copies": 8}, ValueError, "must not exceed max_copies=8"),
    ],
)
def test_mistakes_get_clear_errors(params, error, message):
    with pytest.raises(error, match=message):
        Budget(**params)
