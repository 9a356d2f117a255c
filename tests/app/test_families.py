"""The family of samples: declared, or the default for their kind."""

import numpy as np
import pytest
from PIL import Image
from scipy.io import wavfile

from invarlearn.app.families import NEEDS_SHAPE, family_for, specification_of
from invarlearn.app.messages import InputError
from invarlearn.app.readers import SOURCES, open_samples
from invarlearn.transforms import CyclicShift, Domain, Identity
from invarlearn.transforms.domains import DOMAINS


def test_fill_can_be_set_for_each_family(digits):
    source = digits(10)

    def fills(spec):
        return [part.fill for part in family_for(source, spec).parts]

    assert fills("translation:2 rotation:15") == ["edge", "edge"]
    assert fills("translation:2 rotation:15,3,zero") == ["edge", "zero"]
    assert fills("translation:2,fill=wrap rotation:15") == ["wrap", "edge"]


def test_families_must_match_the_kind_of_samples(tmp_path):
    Image.new("L", (8, 8)).save(tmp_path / "a.png")
    source = open_samples(tmp_path)
    for spec, kind in (
        ("cyclic-shift:2", "sequences"),
        ("rotation:15 cyclic-shift:2", "sequences"),
        ("pitch-shift:200", "sounds"),
    ):
        with pytest.raises(InputError, match=f"{spec}' is for {kind}, but the samples are images"):
            family_for(source, spec)


def test_families_of_images_need_a_shape(waves):
    message = r"'rotation:15' is for images or sounds, but the samples are rows of 24 numbers"
    with pytest.raises(InputError, match=message):
        family_for(waves(), "rotation:15")


def test_every_domain_is_known():
    assert set(NEEDS_SHAPE) == set(DOMAINS)
    for kind, source in SOURCES.items():
        assert source.kind == kind
        assert set(source.domains) <= set(DOMAINS)


def test_a_domain_that_is_not_known_gets_one_warning(waves, monkeypatch):
    monkeypatch.setattr(CyclicShift, "domain", Domain("sentence", ("words",), "none"))
    message = "which samples families of the domain 'sentence' can transform"
    with pytest.warns(UserWarning, match=message) as caught:
        family_for(waves(), "cyclic-shift:1")
    assert len(caught) == 1


def test_sources_declare_their_default_family(tmp_path, waves, digits):
    wavfile.write(tmp_path / "a.wav", 8000, np.arange(400, dtype=np.int16))
    sounds = family_for(open_samples(tmp_path))
    assert (
        specification_of(sounds) == "pitch-shift:400,n_steps=5 time-stretch:0.85,1.18 translation:1"
    )
    images = family_for(digits(3))
    assert specification_of(images) == "rotation:15 scaling:1.15 shear:0.25 translation:2"
    assert isinstance(family_for(waves()), Identity)
