"""Reader of TIDIGITS, a corpus that needs a licence of its publisher."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.io import wavfile
from scipy.signal import resample_poly
from sklearn.utils import Bunch

from invarlearn._utils.validation import check_number
from invarlearn.datasets.files import DataError

_GROUPS = ("man", "woman", "boy", "girl")
_DIGITS = {**{str(i): i for i in range(1, 10)}, "z": 0}


def load_tidigits(folder: str | Path, sample_rate: int = 8000) -> Bunch:
    """Read the isolated digits of TIDIGITS from a folder.

    Paths of clips end like ``man/ae/1a.wav``: the group of the speaker (man, woman, boy or girl),
    the speaker, the digit (1 to 9, z for zero) and the take (a or b). Sequences of digits and the
    word "oh" are left out. NIST SPHERE files with uncompressed samples and RIFF files are read;
    compressed SPHERE files must be unpacked first.

    Parameters
    ----------
    folder : str or Path
        Folder of the corpus, or of a part of it.
    sample_rate : int, default=8000
        Sample rate that clips are resampled to, in Hz.

    Returns
    -------
    Bunch
        ``X``: list of float32 waveforms, with a full scale of 1. ``y`` (the digits), ``speaker``,
        ``group`` and ``take``: arrays of shape (n_clips,). ``sample_rate``: int.
    """
    sample_rate = int(check_number(sample_rate, "sample_rate", low=1, whole=True))
    root = Path(folder)
    if not root.is_dir():
        raise DataError(f"{root} is not a folder: pass the folder that contains TIDIGITS")
    clips = []
    for path in sorted(root.rglob("*")):
        name = path.stem.lower()
        group = path.parent.parent.name.lower()
        is_digit = group in _GROUPS and len(name) == 2 and name[0] in _DIGITS and name[1] in "ab"
        if is_digit and path.suffix.lower() == ".wav":
            clips.append((path, group, path.parent.name.lower(), name))
    if not clips:
        raise DataError(
            f"{root} has no isolated digits of TIDIGITS: pass a folder with files such as "
            "man/ae/1a.wav, at any depth"
        )
    return Bunch(
        X=[_read(path, sample_rate) for path, _, _, _ in clips],
        y=np.array([_DIGITS[name[0]] for _, _, _, name in clips]),
        speaker=np.array([speaker for _, _, speaker, _ in clips]),
        group=np.array([group for _, group, _, _ in clips]),
        take=np.array([name[1] for _, _, _, name in clips]),
        sample_rate=sample_rate,
        DESCR="TIDIGITS, isolated digits",
    )


def _read(path: Path, sample_rate: int) -> NDArray[np.float32]:
    """Return the samples of one clip, resampled to a sample rate."""
    data = path.read_bytes()
    rate, samples = _sphere(data, path) if data.startswith(b"NIST_1A") else _riff(path)
    if not len(samples):
        raise DataError(f"{path} has no samples: copy it again from the corpus")
    ratio = Fraction(sample_rate, rate)
    return resample_poly(samples, ratio.numerator, ratio.denominator).astype(np.float32)


def _riff(path: Path) -> tuple[int, NDArray[np.float64]]:
    try:
        rate, samples = wavfile.read(path)
    except Exception as error:
        raise DataError(f"{path} cannot be read as a sound ({error})") from error
    if samples.ndim != 1 or samples.dtype != np.int16:
        raise DataError(
            f"{path} has {samples.dtype} samples of shape {samples.shape}: "
            "one channel of 16 bits is expected"
        )
    return rate, samples / 32768


def _sphere(data: bytes, path: Path) -> tuple[int, NDArray[np.float64]]:
    """Read a NIST SPHERE file: a header of lines "name -type value", then samples."""
    try:
        size = int(data[8:16])
        lines = data[16:size].decode("ascii", "replace").split("end_head")[0].splitlines()
        fields = dict([*line.split(None, 2), "", ""][0:3:2] for line in lines if line.strip())
        rate, width = int(fields["sample_rate"]), int(fields.get("sample_n_bytes", 2))
        count, channels = int(fields["sample_count"]), int(fields.get("channel_count", 1))
        if rate < 1 or count < 0 or size < 16:
            raise ValueError("numbers out of range")
    except (ValueError, KeyError) as error:
        raise DataError(f"{path} has a damaged SPHERE header: copy it again") from error
    coding = fields.get("sample_coding", "pcm")
    if coding != "pcm" or width != 2 or channels != 1:
        raise DataError(
            f"{path} is coded as {coding!r} with {width} bytes and {channels} channel(s): unpack "
            "it to plain 16-bit samples first (sph2pipe -p -f wav)"
        )
    order = ">" if fields.get("sample_byte_format", "01") == "10" else "<"
    if len(data) < size + 2 * count:
        raise DataError(f"{path} is cut short: copy it again from the corpus")
    return rate, np.frombuffer(data, f"{order}i2", count, size) / 32768
