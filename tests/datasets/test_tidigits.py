"""The reader of TIDIGITS, on synthetic files of its formats."""

import numpy as np
import pytest
from scipy.io import wavfile

from invarlearn.datasets import DataError, load_tidigits


def tone(n=2000, rate=20000):
    return (8000 * np.sin(2 * np.pi * 440 * np.arange(n) / rate)).astype(np.int16)


def write_sphere(path, samples, byte_format="01", coding=None, rate=20000):
    fields = [
        "NIST_1A",
        "   1024",
        f"sample_count -i {len(samples)}",
        "sample_n_bytes -i 2",
        "channel_count -i 1",
        f"sample_byte_format -s2 {byte_format}",
        f"sample_rate -i {rate}",
    ]
    if coding:
        fields.append(f"sample_coding -s{len(coding)} {coding}")
    header = ("\n".join([*fields, "end_head\n"])).encode().ljust(1024)
    order = ">" if byte_format == "10" else "<"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + samples.astype(f"{order}i2").tobytes())


def test_reads_isolated_digits_of_both_kinds_of_file(tmp_path):
    write_sphere(tmp_path / "train" / "man" / "ae" / "1a.wav", tone())
    write_sphere(tmp_path / "train" / "WOMAN" / "AC" / "ZB.WAV", tone(), byte_format="10")
    riff = tmp_path / "test" / "girl" / "aj" / "9a.wav"
    riff.parent.mkdir(parents=True)
    wavfile.write(riff, 20000, tone())
    # sequences of digits, "oh" and other files are skipped
    write_sphere(tmp_path / "train" / "man" / "ae" / "12a.wav", tone())
    write_sphere(tmp_path / "train" / "man" / "ae" / "oa.wav", tone())
    (tmp_path / "readme.txt").write_text("hello")
    sounds = load_tidigits(tmp_path)
    assert sounds.y.tolist() == [9, 0, 1]
    assert sounds.group.tolist() == ["girl", "woman", "man"]
    assert sounds.speaker.tolist() == ["aj", "ac", "ae"]
    assert sounds.take.tolist() == ["a", "b", "a"]
    assert [len(x) for x in sounds.X] == [800, 800, 800]
    # the sound does not depend on byte order and container: 440 Hz at 8 kHz
    for x in sounds.X:
        np.testing.assert_allclose(x, sounds.X[0], atol=1e-6)
        spectrum = np.abs(np.fft.rfft(x))
        assert np.fft.rfftfreq(len(x), 1 / 8000)[spectrum.argmax()] == 440


def test_the_spectrogram_accepts_the_sounds(tmp_path):
    from invarlearn.transforms import LogSpectrogram

    for digit in "123":
        write_sphere(tmp_path / "man" / "ae" / f"{digit}a.wav", tone(4000))
    assert LogSpectrogram(n_bins=20).fit_transform(load_tidigits(tmp_path).X).shape == (3, 640)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: write_sphere(path, tone(), coding="pcm,embedded-shorten-v2.00"), "unpack"),
        (lambda path: path.write_bytes(path.read_bytes()[:1500]), "cut short"),
        (lambda path: path.write_bytes(b"NIST_1A\n   1024\nnothing"), "damaged SPHERE header"),
        (lambda path: path.write_bytes(b"RIFF????WAVE"), "cannot be read as a sound"),
        (lambda path: wavfile.write(path, 8000, np.zeros((5, 2), np.int16)), "one channel"),
        (lambda path: write_sphere(path, tone(0)), "no samples"),
    ],
)
def test_damaged_files_are_named(tmp_path, damage, message):
    path = tmp_path / "man" / "ae" / "1a.wav"
    write_sphere(path, tone())
    damage(path)
    with pytest.raises(DataError, match=message) as caught:
        load_tidigits(tmp_path)
    assert "1a.wav" in str(caught.value)


def test_a_wrong_folder_gets_a_clear_error(tmp_path):
    with pytest.raises(DataError, match=r"man/ae/1a\.wav"):
        load_tidigits(tmp_path)
    with pytest.raises(DataError, match="not a folder"):
        load_tidigits(tmp_path / "nowhere")
