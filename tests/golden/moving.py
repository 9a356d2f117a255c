"""Imports of names that may move or be renamed, so that they are in one place only."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def parse_family(text: str, **usual: Any) -> Any:
    """Return the family of a specification."""
    from invarlearn.transforms import parse_family as parse

    return parse(text, **usual)


def format_family(family: Any, **usual: Any) -> str:
    """Return the specification of a family."""
    from invarlearn.transforms import format_family as format_

    return format_(family, **usual)


def known_families() -> list[str]:
    """Return the specification of every family, with its further parameters."""
    from invarlearn.transforms import describe_families

    return [f"{one.specification} ({one.domain}) {one.options}" for one in describe_families()]


def route(name: str, family: Any, n_features: int, seed: int) -> Any:
    """Return the unfitted estimator of a route."""
    from invarlearn.app.routes import ROUTES, RouteSettings

    return ROUTES[name].build(family, n_features, seed, RouteSettings())


def route_names() -> list[str]:
    """Return the names of the routes."""
    from invarlearn.app.routes import ROUTES

    return list(ROUTES)


def run_command(*arguments: Any) -> str:
    """Run ``invarlearn`` with these arguments in this process; return its standard output."""
    from typer.testing import CliRunner

    from invarlearn.app.cli import app

    result = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def load_model(path: Path) -> Any:
    """Return a saved model."""
    from invarlearn.app.persistence import load_model

    return load_model(path)


def save_fitted(estimator: Any, family: Any, route: str, n_features: int, path: Path) -> None:
    """Save a fitted estimator as a model of images."""
    from invarlearn.app.models import Model
    from invarlearn.app.persistence import save_model

    side = round(n_features**0.5)
    settings = {"kind": "rows", "n_features": n_features, "shape": [side, side]}
    model = Model(
        estimator,
        None,
        settings=settings,
        family=family,
        route=route,
        accuracy=(0.5, 0.4, 0.6),
        n_samples=20,
    )
    save_model(model, path)


def theory() -> Any:
    """Return the module with the bounds of the first paper."""
    from invarlearn.features import theory

    return theory


def losses() -> Any:
    """Return the module of losses."""
    import invarlearn.losses

    return invarlearn.losses
