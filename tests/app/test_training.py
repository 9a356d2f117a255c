"""Training: routes, their comparison, and the models that they make."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from invarlearn.app.families import family_for
from invarlearn.app.readers import RowSource
from invarlearn.app.routes import ROUTES, TRAITS, RouteSettings, compare_routes
from invarlearn.app.training import train_model
from invarlearn.audit import invariance_report
from invarlearn.datasets import load_mnist_sample
from invarlearn.transforms import CyclicShift, Domain, Translation
from invarlearn.transforms.domains import DOMAINS


@pytest.mark.parametrize("route", ["features", "kernel"])
def test_predictions_of_models_of_a_full_group_never_flip(route):
    rng = np.random.RandomState(0)
    t = np.arange(16)
    X = np.stack([np.exp(-0.5 * ((t - 8) / (1 + k % 2)) ** 2) for k in range(40)])
    X = np.stack([np.roll(row, rng.randint(3)) for row in X + 0.05 * rng.randn(40, 16)])
    source = RowSource(X, np.arange(40) % 2, [str(i) for i in range(40)], None, {})
    model = train_model(source, "cyclic-shift", route)
    report = invariance_report(model.estimator, X, np.arange(40) % 2, CyclicShift())
    assert report.overall.exhaustive
    assert report.overall.flip_rate.value == 0


def test_a_class_with_one_sample_is_named_if_it_cannot_be_held_out(waves, settings):
    source = waves(6)
    source.labels = np.array(list("aaaaab"))
    with pytest.raises(ValueError, match="class b has 1 samples"):
        train_model(source, "cyclic-shift:1", "auto", settings=settings)


def test_slow_routes_are_omitted_from_comparisons_only(waves, settings):
    settings = replace(settings, max_samples=10)
    model = train_model(waves(), "cyclic-shift:1", settings=settings)
    reasons = {one["route"]: one["reason"] for one in model.compared}
    assert "slow with more than 10" in reasons["worst-case"]
    alone = train_model(waves(), "cyclic-shift:1", "worst-case", settings=settings)
    assert alone.route == "worst-case"


def test_routes_that_cannot_be_used_get_clear_errors(waves):
    for route in ("features", "kernel", "functionals"):
        with pytest.raises(ValueError, match="use the route worst-case or invariant"):
            train_model(waves(), "feature-scaling:0.5,2,3", route)
    with pytest.raises(ValueError, match="the family has no transformation"):
        train_model(waves(), None, "worst-case")


def test_probabilities_are_those_of_the_predicted_class(digits):
    model = train_model(digits(60), "translation:1", "features")
    labels, chances = model.predict(digits(60).read_all())
    assert chances.min() >= 0.1
    assert chances.max() <= 1
    assert (labels == digits(60).labels).mean() > 0.9
    # confident predictions are correct more often, on samples that were not trained on
    sample = load_mnist_sample()
    labels, chances = model.predict(sample.X_test[:400])
    right = labels == sample.y_test[:400].astype(str)
    sure = chances > np.median(chances)
    assert right[sure].mean() > right[~sure].mean() + 0.1


def test_the_table_of_routes_says_what_a_route_returns(waves, digits, settings):
    for name, route in ROUTES.items():
        for spec, source in (("cyclic-shift:1", waves()), ("translation:1", digits(20))):
            family = family_for(source, spec)
            estimator = route.build(family, source.n_features, 0, settings)
            last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
            assert isinstance(last, route.classes), name
            has_budget = "budget" in last.get_params()
            assert route.limits_blas == has_budget
            assert route.estimates_itself == has_budget


def test_the_constants_of_routes_are_settings():
    settings = RouteSettings(
        n_templates=11,
        n_bins=3,
        n_gradient_templates=7,
        gradient_shift=1,
        lams=(2.0,),
        nus=(5.0, 6.0),
        n_grid_splits=4,
        C=9.0,
        tol=0.2,
    )
    family = Translation(1, shape=(28, 28))

    def build(name):
        return ROUTES[name].build(family, 784, 0, settings)

    rows, maps = (part for _, part in build("features")[0].transformer_list)
    assert (rows.n_templates, rows.n_bins) == (11, 3)
    assert (maps[-1].n_templates, maps[-1].n_bins, maps[-1].family.radius) == (7, 3, 1)
    functionals = build("functionals")
    assert (functionals.lams, functionals.nus, functionals.cv) == ((2.0,), (5.0, 6.0), 4)
    worst = build("worst-case")
    assert (worst.C, worst.tol) == (9.0, 0.2)


def test_every_domain_has_traits_and_others_get_one_warning(waves, settings):
    assert set(TRAITS) == set(DOMAINS)
    family, source = CyclicShift(1), waves(12)
    family.domain = Domain("sentence", ("words",), "none")
    with pytest.warns(UserWarning, match="do not know the domain 'sentence'") as caught:
        scores = compare_routes(
            ["features", "kernel"], family, source.read_all(), source.labels, settings=settings
        )
    assert len(caught) == 1
    assert all(score.accuracy >= 0 for score in scores)
