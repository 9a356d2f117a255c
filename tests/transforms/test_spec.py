"""Family specifications, and the table of families."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from invarlearn.transforms import (
    CyclicShift,
    Family,
    FeatureScaling,
    Identity,
    Permutation,
    PitchShift,
    Reflection,
    Rotation,
    Sampled,
    Shear,
    TimeStretch,
    Translation,
    describe_families,
    format_family,
    parse_family,
)
from invarlearn.transforms.spec import FAMILIES


@pytest.mark.parametrize(
    ("text", "family"),
    [
        (
            "translation:2 rotation:15 shear:0.3",
            Translation(2) * Rotation(15) * Shear(0.3),
        ),
        ("rotation", Rotation()),
        ("Rotation:30,5", Rotation(30, n_steps=5)),
        ("rotation:n_steps=5,degrees=30", Rotation(30, n_steps=5)),
        ("rotation:n_steps=5,30", Rotation(30, n_steps=5)),
        ("translation:1,wrap=true", Translation(1, wrap=True)),
        ("translation:radius=none,wrap=true", Translation(None, wrap=True)),
        ("rotation:20,fill=edge", Rotation(20, fill="edge")),
        ("pitch-shift:400 time-stretch:0.85,1.18", PitchShift(400) * TimeStretch((0.85, 1.18))),
        ("PitchShift:-1e2", PitchShift(-100.0)),
        ("time_stretch:fill=edge,factors=0.9,1.1", TimeStretch((0.9, 1.1), fill="edge")),
        ("reflection:axis=0", Reflection(axis=0)),
        ("cyclic-shift", CyclicShift()),
        ("feature-scaling:.5,8,10", FeatureScaling(0.5, 8, budget=10)),
        ("  nothing ", Identity()),
    ],
)
def test_specifications_name_families(text, family):
    assert repr(parse_family(text)) == repr(family)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "specification is empty: choose families among blur"),
        ("rotate:3", "unknown family 'rotate'.*did you mean 'rotation'"),
        ("turn:3", "unknown family 'turn' in the specification: choose among blur"),
        ("nothing rotation", "'nothing' cannot be combined"),
        ("translatoin:2", "did you mean 'translation'"),
        ("translation 2", "translation:2"),
        ("translation:2,rotation:15", "families by spaces"),
        ("rotation:15:3", "values by commas"),
        ("rotation:a1", "'a1' is not a number"),
        ("rotation:inf", "'inf' is not a number"),
        ("rotation:1,", "'' is not a number"),
        ("rotation:1,3,edge,7", "too many values"),
        ("rotation:axis=1", "no parameter 'axis'"),
        ("rotation:shape=28", "no parameter 'shape'"),
        ("rotation:1,degrees=2", "states degrees twice"),
        ("rotation:1" + "0" * 400, "is not a number"),
    ],
)
def test_invalid_specifications_get_clear_errors(text, message):
    with pytest.raises(ValueError, match=message):
        parse_family(text)


def test_every_family_is_described_and_works():
    rows = describe_families()
    assert [row.specification.partition(":")[0] for row in rows] == list(FAMILIES)
    assert all(len(row.summary) > 10 for row in rows)
    for name, cls in FAMILIES.items():
        shape = cls.examples()[0].shape or 64
        X = np.random.RandomState(0).rand(3, int(np.prod(shape)))
        family = parse_family(name)
        shaped = family if shape == 64 else family.with_shape(shape)
        assert shaped.sample(2, random_state=0)(X).shape == (3, 2, X.shape[1])


def test_values_are_described():
    rows = {row.specification: row for row in describe_families()}
    assert rows["rotation:15"].value == "degrees: The largest angle on either side"
    assert rows["time-stretch:0.9,1.1"].value.startswith("factors: Durations relative")
    # the first parameter of every family is documented
    assert all(len(row.value.partition(": ")[2]) > 10 for row in rows.values())


@pytest.mark.parametrize("name", list(FAMILIES))
def test_specifications_of_a_family_are_read_back(name):
    family = parse_family(name) * Rotation(12.5, n_steps=5)
    text = format_family(family)
    assert text.startswith(name)
    parsed, expected = parse_family(text).parts[0], family.parts[0]
    assert type(parsed) is type(expected)
    assert parsed.get_params() == expected.get_params()


def test_specifications_state_the_first_parameter_and_leave_out_defaults():
    family = Translation(1, fill="edge") * Rotation(15)
    assert format_family(family) == "translation:1,fill=edge rotation:15"
    assert format_family(family, fill="edge") == "translation:1 rotation:15,fill=zero"
    assert format_family(Identity()) == "nothing"
    assert format_family(CyclicShift(1234567)) == "cyclic-shift:1234567"
    # families without a specification have their repr
    for other in (Permutation(2, random_state=np.random.RandomState(0)), Translation("far")):
        assert format_family(other) in (repr(other), "translation:far")
    assert format_family(TimeStretch(np.array([0.9, 1.1]))) == "time-stretch:0.9,1.1"
    assert format_family(Rotation(5) | Shear(0.1)) == repr(Rotation(5) | Shear(0.1))
    assert format_family(Sampled(Rotation(5), 3)) == repr(Sampled(Rotation(5), 3))


@pytest.mark.fuzz
@given(st.text(max_size=40))
def test_any_text_is_a_family_or_a_clear_error(text):
    # a family, or the documented error
    with suppress(ValueError):
        assert isinstance(parse_family(text), Family)


PIECES = [
    "rotation",
    "time-stretch",
    ":",
    ",",
    "=",
    "1",
    "-2.5",
    "edge",
    "factors",
    " ",
    "nan",
    "e9",
]


@pytest.mark.fuzz
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_nearly_right_specifications_are_a_family_or_a_clear_error(text):
    test_any_text_is_a_family_or_a_clear_error.hypothesis.inner_test(text)
