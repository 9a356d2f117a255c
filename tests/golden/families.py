"""Families: orbits, tangents, flows, worst cases, random draws, specifications."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from golden import moving
from golden.declare import DOUBLE, Cases
from golden.rows import counts, digits, tones, uniform
from invarlearn.datasets import make_two_moons, make_xperm, rotated, translated
from invarlearn.transforms import (
    BAG,
    IMAGE,
    POLAR_IMAGE,
    ROWS,
    SEQUENCE,
    SPECTROGRAM,
    Affine,
    AffineFamily,
    Composed,
    Custom,
    CyclicShift,
    Elastic,
    Ellipsoid,
    FeatureDropping,
    FeatureScaling,
    Functions,
    Gather,
    Hyperbolic,
    Identity,
    ImageFamily,
    Joined,
    LogSpectrogram,
    Permutation,
    Picked,
    PitchShift,
    PolarRotation,
    PolynomialTrajectory,
    Product,
    Reflection,
    Rotation,
    Sampled,
    Scaling,
    Shear,
    Thickness,
    TimeStretch,
    Translation,
    Union,
    compose,
    own_families,
    to_polar,
)

CASES = Cases("families")


def double(X):
    """Return twice the rows: an element of a custom family."""
    return 2 * X


# Of rows of 64 numbers; images of 8 x 8 unless a shape is given.
FAMILIES = {
    "identity": Identity(),
    "translation": Translation(2),
    "translation_half": Translation(1, step=0.5, fill="edge"),
    "translation_wrap": Translation(2, wrap=True),
    "translation_all": Translation(None, wrap=True),
    "translation_all_by_two": Translation(None, step=2, wrap=True),
    "translation_channels": Translation(1, shape=(8, 4, 2)),
    "translation_line": Translation(1, shape=(1, 64)),
    "rotation": Rotation(15, n_steps=5),
    "rotation_quarters": Rotation(180, n_steps=4),
    "rotation_sixths": Rotation(180, n_steps=6),
    "rotation_wrap": Rotation(180, n_steps=2, fill="wrap"),
    "rotation_oblong": Rotation(30, shape=(4, 16)),
    "scaling": Scaling(1.2),
    "scaling_edge": Scaling(1.3, n_steps=5, fill="edge"),
    "shear_down": Shear(0.3, axis=0),
    "shear_right_edge": Shear(0.3, axis=1, fill="edge"),
    "hyperbolic": Hyperbolic(0.1),
    "hyperbolic_diagonal": Hyperbolic(0.1, diagonal=True),
    "reflection_down": Reflection(0),
    "reflection_right": Reflection(1),
    "thickness": Thickness(0.5),
    "elastic": Elastic(8.0, 3.0),
    "elastic_edge": Elastic(20.0, 2.0, fill="edge"),
    "polar_rotation": PolarRotation(),
    "polar_rotation_radius": PolarRotation(radius=2),
    "cyclic_shift": CyclicShift(),
    "cyclic_shift_radius": CyclicShift(radius=3, step=2),
    "cyclic_shift_shape": CyclicShift(shape=(16, 4)),
    "permutation": Permutation(block=16),
    "permutation_some": Permutation(block=4, max_elements=50),
    "pitch_shift": PitchShift(150, n_steps=5),
    "pitch_shift_bins": PitchShift(100, bins_per_octave=24, fill="edge"),
    "time_stretch": TimeStretch((0.8, 1.25)),
    "time_stretch_edge": TimeStretch((0.5, 0.9, 2.0), fill="edge", shape=(2, 32)),
    "feature_scaling": FeatureScaling(low=0.5, high=3, budget=4),
    "feature_dropping": FeatureDropping(budget=3),
    "ellipsoid": Ellipsoid(np.linspace(0.0, 0.1, 64), radius=2.0),
    "ellipsoid_matrix": Ellipsoid(0.01 * np.eye(64) + 0.02 * np.ones((64, 64))),
    "trajectory": PolynomialTrajectory(Rotation(15)),
    "trajectory_cubic": PolynomialTrajectory(Rotation(15) | Translation(1), 3, extent=0.3),
    "custom": Custom([double]),
    "custom_group": Custom([np.fliplr], is_group=True, is_unitary=True),
    "sampled_product": Sampled(Rotation(20) * Scaling(1.2), 7),
    "sampled_elastic": Sampled(Elastic(8.0, 3.0), 4, seed=3),
    "product_images": Translation(1) * Rotation(15) * Shear(0.2),
    "product_wrap": Translation(1, wrap=True) * Rotation(15) * Scaling(1.1),
    "product_sounds": PitchShift(100) * TimeStretch((0.9, 1.1)) * Translation(1),
    "product_thickness": Translation(1) * Thickness(0.5) * Rotation(10),
    "product_elastic": Elastic(20.0, 2.0) * Rotation(10),
    "product_sequences": Product([CyclicShift(), Permutation(block=32)]),
    "union": Rotation(15) | Reflection(1),
    "union_in_product": (Rotation(15) | Scaling(1.1)) * Translation(1),
    "union_of_many": Union([Translation(1), Rotation(15) * Shear(0.1), Custom([double])]),
}


class Stretch(AffineFamily):
    """Horizontal stretching: a user-defined affine family."""

    def __init__(self, amount=0.2, fill="zero", shape=None):
        self.amount = amount
        self.fill = fill
        self.shape = shape

    def generators(self, grid):
        """Return one generator, which moves columns away from the centre."""
        return np.diag([0.0, 1.0, 0.0])[None]

    def coordinates(self, grid):
        """Return no stretching, and both amounts."""
        return np.array([[0.0], [-self.amount], [self.amount]])


class Brightness(ImageFamily):
    """Images multiplied by a factor: a user-defined image family."""

    def __init__(self, factor=2.0, shape=None):
        self.factor = factor
        self.shape = shape

    def elements(self, n_features):
        """Return the identity, and the multiplication."""
        return Functions([np.copy, lambda X: self.factor * X])


FAMILIES |= {"own_affine": Stretch(), "own_image": Brightness(), "own_product": Stretch() * Shear()}

# A family that is new in the table has a case with its first example.
for _family in own_families():
    if not any(type(family) is _family for family in FAMILIES.values()):
        FAMILIES[_family.__name__.lower()] = _family.examples()[0]


def family_values(family: Any, X: Any, smoothing: float | None = None) -> dict[str, Any]:
    """Return transformed rows of a family, and its properties."""
    shaped = family.with_shape_of(X.shape[1])
    rng = np.random.RandomState(1)
    w, sign = rng.standard_normal(X.shape[1]), np.where(np.arange(len(X)) % 2, 1.0, -1.0)
    if X.dtype == np.float32:
        w, sign = w.astype(np.float32), sign.astype(np.float32)
    listed = bool(np.isfinite(shaped.n_elements))
    values = {
        "n_elements": shaped.n_elements if listed else "not listed",
        "n_directions": shaped.n_directions,
        "is_group": bool(family.is_group),
        "is_unitary": bool(family.is_unitary),
        "domain": str(family.domain),
        "shape": tuple(family.resolve_shape(X.shape[1])),
        "tangents": family.tangents(X, smoothing),
        "flow": family.flow(X, 0.3, smoothing),
        "smooth": family.smooth(X, smoothing),
        "random": family.sample(3, random_state=5)(X),
        "random_narrow": family.scaled(0.5).sample(1, random_state=2)(X),
    }
    if listed:
        values["orbit"] = family.orbit(X)
    if listed or isinstance(family, FeatureScaling | Ellipsoid | PolynomialTrajectory):
        values["worst_rows"], values["worst_scores"] = family.worst_case(X, w, sign)
    return values


def synthetic(name: str) -> dict[str, Any]:
    """Return the values of a family at rows in double precision."""
    family = FAMILIES[name]
    n_features = 64 if family.shape is None else int(np.prod(family.shape))
    return family_values(family, uniform(d=n_features))


for _name in FAMILIES:
    CASES.add(_name, partial(synthetic, _name), DOUBLE)


@CASES.case()
def on_digits() -> dict[str, Any]:
    """Return transformed digits, in single precision."""
    X = digits()[0][:3]
    values = {}
    for name in ("translation", "rotation", "scaling", "thickness", "elastic", "union"):
        results = family_values(FAMILIES[name], X, smoothing=0.9)
        values |= {f"{name}_{one}": value for one, value in results.items()}
    return values


@CASES.case()
def specifications() -> dict[str, Any]:
    """Return families of specifications, and specifications of families."""
    X = uniform(2)
    texts = (
        "translation:2 rotation:15,n_steps=5",
        "shear:0.3 scaling:1.1 thickness",
        "pitch-shift:400 time-stretch:0.85,1.18",
        "cyclic-shift:2 permutation:8",
        "feature-scaling:0.5,2,3",
        "feature-dropping:2",
        "hyperbolic:0.1,diagonal=true elastic:8,3",
        "reflection:axis=0",
        "nothing",
    )
    values: dict[str, Any] = {"known": moving.known_families()}
    for text in texts:
        family = moving.parse_family(text, fill="edge")
        values[f"{text}: told"] = moving.format_family(family)
        values[f"{text}: told with fill=edge"] = moving.format_family(family, fill="edge")
        values[f"{text}: half"] = moving.format_family(family.scaled(0.5))
        values[f"{text}: random"] = family.sample(2, random_state=0)(X)
    for name, family in FAMILIES.items():
        if not isinstance(family, Custom | Sampled | Union | PolarRotation):
            values[f"{name}: told"] = moving.format_family(family)
    return values


@CASES.case()
def sparse_bags() -> dict[str, Any]:
    """Return worst cases and random elements of sparse bags of words."""
    X = sparse.csr_array(counts()[0])
    w = np.random.RandomState(0).standard_normal(X.shape[1])
    sign = np.where(counts()[1], 1.0, -1.0)
    values = {}
    for name, family in (
        ("scaling", FeatureScaling(0.5, 3, 4)),
        ("scaling_through_zero", FeatureScaling(-0.5, 2, 2)),
        ("dropping", FeatureDropping(3)),
    ):
        rows, scores = family.worst_case(X, w, sign)
        moved = family.sample(2, random_state=1)[0](X)
        values |= {f"{name}_rows": rows, f"{name}_scores": scores, f"{name}_random": moved}
    return values


@CASES.case()
def streamed_orbits() -> dict[str, Any]:
    """Return blocks of an orbit, put together."""
    X = uniform()
    family = Translation(1) * Rotation(15)
    out = np.zeros((len(X), 27, 64))
    for rows, elements, block in family.iter_orbit(X, max_bytes=4000):
        out[rows, elements] = block
    return {"orbit": out}


@CASES.case()
def sounds() -> dict[str, Any]:
    """Return spectrograms of tones, transformed."""
    values = {}
    for length in ("pad", "stretch"):
        maker = LogSpectrogram(n_bins=24, n_frames=12, length=length)
        values[length] = maker.fit(tones()).transform(tones())
    maker = LogSpectrogram(
        4000, n_bins=20, bins_per_octave=6, fmin=80, n_frames=8, window=0.064, dynamic_range=40
    )
    X = values["other"] = maker.fit(tones()).transform(tones())
    family = PitchShift(200, bins_per_octave=6, shape=(20, 8)) * TimeStretch(shape=(20, 8))
    return {**values, "orbit": family.orbit(X), "random": family.sample(2, random_state=0)(X)}


@CASES.case()
def polar_images() -> dict[str, Any]:
    """Return rotated images in polar coordinates."""
    X = digits()[0][:3]
    polar = to_polar(X, 7, 24)
    return {"polar": polar, "orbit": PolarRotation(2, shape=(7, 24)).orbit(polar)}


@CASES.case()
def actions() -> dict[str, Any]:
    """Return rows transformed by each kind of action, and by compositions of them."""
    X = uniform(2)[:, :12]
    down, mirror = np.eye(3), np.diag([1.0, -1.0, 1.0])
    down[0, 2] = 0.5
    kinds = {
        "affine": Affine(np.stack([np.eye(3), down, mirror @ down]), (3, 2, 2), "edge"),
        "gather": Gather(np.stack([np.arange(12), np.arange(12)[::-1]]).astype(np.int32)),
        "functions": Functions([np.copy, double]),
    }
    kinds["joined"] = Joined(list(kinds.values()))
    kinds["picked"] = Picked([kinds["gather"], kinds["functions"]], np.array([1, 0]))
    kinds["composed"] = Composed(kinds["affine"], kinds["functions"], False)
    kinds["merged"] = compose(kinds["affine"], compose(kinds["affine"], kinds["gather"]))
    kinds["pairwise"] = compose(kinds["gather"], kinds["functions"], pairwise=True)
    return {name: kind.act(X, 0, len(kind)) for name, kind in kinds.items()}


@CASES.case()
def domains() -> dict[str, Any]:
    """Return the axes and padding of each domain."""
    every = (BAG, IMAGE, POLAR_IMAGE, ROWS, SEQUENCE, SPECTROGRAM)
    return {str(one): f"{', '.join(one.axes)}; {one.padding}" for one in every}


@CASES.case()
def made_data() -> dict[str, Any]:
    """Return generated data sets at a seed, and the packaged sample."""
    X = digits()[0]
    values = {
        "rotated": rotated(X[:4], canvas=40, random_state=0),
        "translated": translated(X[:4], canvas=48, noise=0.2, random_state=1),
        "digits": X,
        "labels": digits()[1],
    }
    for name, made in (
        ("moons", make_two_moons(60, 4, random_state=1)),
        ("xperm", make_xperm(4, 5, 2, random_state=0)),
    ):
        values |= {f"{name}_{one}": v for one, v in made.items() if isinstance(v, np.ndarray)}
    return values
