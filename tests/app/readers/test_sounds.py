"""Sounds in folders."""

import struct

import numpy as np
import pytest
from scipy.io import wavfile

from invarlearn.app.messages import InputError
from invarlearn.app.readers import Sounds, open_samples


def test_sounds_of_every_format_become_the_same_spectrogram(tone, tmp_path):
    kinds = [(8000, np.int16, 1), (44100, np.int16, 2), (16000, np.float32, 1), (8000, np.uint8, 1)]
    for i, (rate, dtype, channels) in enumerate(kinds):
        tone(tmp_path / f"{i}.wav", 440, rate, 0.5 + 0.1 * i, dtype, channels)
    source = open_samples(tmp_path)
    assert source.kind == "sounds"
    spectrograms = source.read_all().reshape(4, *source.shape)
    loudest = spectrograms.mean(axis=2).argmax(axis=1)
    # 440 Hz in twelfths of an octave above the lowest bin
    lowest = 0.475 * 8000 / 2 ** (63 / 12)
    assert np.abs(loudest - 12 * np.log2(440 / lowest)).max() < 1
    # samples of 8 bits have quantisation noise
    np.testing.assert_allclose(
        spectrograms[:3, loudest[0]], spectrograms[[0], loudest[0]].repeat(3, 0), atol=0.1
    )


@pytest.mark.parametrize("content", [b"", b"RIFF", b"RIFF\x24\x00\x00\x00WAVEfmt "])
def test_damaged_sounds_are_named(tmp_path, content):
    (tmp_path / "bad.wav").write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.wav cannot be read as a WAV file"):
        open_samples(tmp_path).read_all()


def test_empty_and_invalid_sounds_are_named(tmp_path):
    wavfile.write(tmp_path / "a.wav", 8000, np.zeros(0, dtype=np.int16))
    with pytest.raises(InputError, match=r"a\.wav is"):
        open_samples(tmp_path).read_all()
    wavfile.write(tmp_path / "a.wav", 8000, np.full(100, np.nan, dtype=np.float32))
    with pytest.raises(InputError, match=r"a\.wav has samples that are not finite"):
        open_samples(tmp_path).read_all()
    wavfile.write(tmp_path / "a.wav", 3, np.zeros(100, dtype=np.int16))
    with pytest.raises(InputError, match="a sample rate of 3 Hz"):
        open_samples(tmp_path).read_all()


def test_a_truncated_sound_is_refused(intact_files, tmp_path):
    whole, path = intact_files["a.wav"], tmp_path / "a.wav"
    shorter = struct.pack("<I", len(whole) - 208)
    for cut in (whole[:-200], whole[:4] + shorter + whole[8:-200]):
        path.write_bytes(cut)
        with pytest.raises(InputError, match="truncated by 200 bytes"):
            open_samples(tmp_path).read_all()


@pytest.mark.parametrize("stated", [True, False])
def test_a_complete_sound_with_a_wrong_header_is_read(intact_files, stated, tmp_path):
    whole, path = intact_files["a.wav"], tmp_path / "a.wav"
    path.write_bytes(whole)
    expected = open_samples(tmp_path).read_all()
    path.write_bytes(
        whole[:4] + struct.pack("<I", len(whole) if stated else 0xFFFFFFFF) + whole[8:]
    )
    np.testing.assert_array_equal(open_samples(tmp_path).read_all(), expected)


def test_the_bands_of_spectrograms_are_settings(tone, tmp_path):
    tone(tmp_path / "a.wav", 1000)
    default = Sounds(tmp_path)
    assert default.spectrogram.fmin == 0.475 * 8000 / 2 ** (63 / 12)
    fine = Sounds(tmp_path, bins_per_octave=24, top_frequency=0.4)
    assert fine.spectrogram.fmin == 0.4 * 8000 / 2 ** (63 / 24)
    again = open_samples(tmp_path, like=fine.settings)
    np.testing.assert_array_equal(again.read_all(), fine.read_all())
    assert not np.array_equal(fine.read_all(), default.read_all())
    # settings of earlier models have the defaults
    earlier = {
        name: value
        for name, value in default.settings.items()
        if name not in ("bins_per_octave", "top_frequency")
    }
    np.testing.assert_array_equal(
        open_samples(tmp_path, like=earlier).read_all(), default.read_all()
    )
