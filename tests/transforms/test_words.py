"""Families in words."""

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
    explain_words,
    family_of_words,
    words_of_family,
)
from invarlearn.transforms.words import WORDS


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
def test_words_name_families(text, family):
    assert repr(family_of_words(text)) == repr(family)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no word says"),
        ("rotate:3", "'rotate' is no word"),
        ("nothing rotation", "'nothing' is no word"),
        ("translatoin:2", "did you mean 'translation'"),
        ("translation 2", "translation:2"),
        ("translation:2,rotation:15", "between spaces"),
        ("rotation:15:3", "between commas"),
        ("rotation:a1", "'a1' is not a number"),
        ("rotation:inf", "'inf' is not a number"),
        ("rotation:1,", "'' is not a number"),
        ("rotation:1,3,edge,7", "too many values"),
        ("rotation:axis=1", "no parameter 'axis'"),
        ("rotation:shape=28", "no parameter 'shape'"),
        ("rotation:1,degrees=2", "degrees twice"),
        ("rotation:1" + "0" * 400, "is not a number"),
    ],
)
def test_mistakes_get_clear_errors(text, message):
    with pytest.raises(ValueError, match=message):
        family_of_words(text)


def test_every_word_is_explained_and_works():
    rows = explain_words()
    assert [row["word"].partition(":")[0] for row in rows] == list(WORDS)
    assert all(len(row["what_may_change"]) > 10 for row in rows)
    X = np.random.RandomState(0).rand(3, 64)
    for word in WORDS:
        moved = family_of_words(word).sample(2, random_state=0)(X)
        assert moved.shape == (3, 2, 64)


def test_values_are_explained():
    rows = {row["word"]: row for row in explain_words()}
    assert rows["rotation:15"]["value"] == "degrees: The largest angle on either side"
    assert rows["time-stretch:0.9,1.1"]["value"].startswith("factors: Durations relative")
    # every first value is documented
    assert all(len(row["value"].partition(": ")[2]) > 10 for row in rows.values())


@pytest.mark.parametrize("word", list(WORDS))
def test_words_of_a_family_are_read_back(word):
    family = family_of_words(word) * Rotation(12.5, n_steps=5)
    told = words_of_family(family)
    assert told.startswith(word)
    read, given = family_of_words(told).parts[0], family.parts[0]
    assert type(read) is type(given)
    assert read.get_params() == given.get_params()


def test_words_tell_how_far_and_leave_out_what_is_usual():
    family = Translation(1, fill="edge") * Rotation(15)
    assert words_of_family(family) == "translation:1,fill=edge rotation:15"
    assert words_of_family(family, fill="edge") == "translation:1 rotation:15,fill=zero"
    assert words_of_family(Identity()) == "nothing"
    assert words_of_family(CyclicShift(1234567)) == "cyclic-shift:1234567"
    # values that words cannot have are told as in Python
    for other in (Permutation(2, random_state=np.random.RandomState(0)), Translation("far")):
        assert words_of_family(other) in (repr(other), "translation:far")
    assert words_of_family(TimeStretch(np.array([0.9, 1.1]))) == "time-stretch:0.9,1.1"
    assert words_of_family(Rotation(5) | Shear(0.1)) == repr(Rotation(5) | Shear(0.1))
    assert words_of_family(Sampled(Rotation(5), 3)) == repr(Sampled(Rotation(5), 3))


@pytest.mark.fuzz
@given(st.text(max_size=40))
def test_any_text_is_a_family_or_a_clear_error(text):
    # a family, or the one kind of error that says what is wrong
    with suppress(ValueError):
        assert isinstance(family_of_words(text), Family)


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
def test_nearly_right_words_are_a_family_or_a_clear_error(text):
    test_any_text_is_a_family_or_a_clear_error.hypothesis.inner_test(text)
