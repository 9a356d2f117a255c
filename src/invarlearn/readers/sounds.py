"""Folders of WAV files, a subfolder a class."""

from __future__ import annotations

import os
import struct
import warnings
from math import gcd
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.io import wavfile
from scipy.signal import resample_poly

from invarlearn.readers.base import Files, ReadError
from invarlearn.transforms import LogSpectrogram

ENDINGS = (".wav",)
# A clip of more bytes than this is no clip.
MOST_BYTES = 2**28
RATES = (1_000, 768_000)


class Sounds(Files):
    """WAV files of a folder, as log-frequency spectrograms that every clip fills.

    Parameters
    ----------
    folder : path
        With a subfolder a class, or with the files themselves, which then have no class.
    rate : int, default=8000
        Samples a second that clips are brought to; half of it is the highest frequency.
    n_bins, n_frames : int
        Frequencies, twelve to an octave downwards from the highest, and time steps.
    """

    kind = "sounds"

    def __init__(self, folder: Path, rate: int = 8000, n_bins: int = 64, n_frames: int = 32):
        super().__init__(folder, ENDINGS)
        self.shape = (n_bins, n_frames)
        self.settings = {"kind": self.kind, "rate": rate, "n_bins": n_bins, "n_frames": n_frames}
        top = 0.475 * rate
        self._rate = rate
        self._spectrogram = LogSpectrogram(
            sample_rate=rate,
            n_bins=n_bins,
            fmin=top / 2 ** ((n_bins - 1) / 12),
            n_frames=n_frames,
            length="stretch",
        ).fit([np.ones(rate)])

    def _row(self, path: Path) -> NDArray[np.float32]:
        """Give the loudness of the tones; one clip at a time, since waveforms are large."""
        return self._spectrogram.transform([_clip(path, self._rate)])[0]


def _clip(path: Path, rate: int) -> NDArray[np.float64]:
    """Read one channel, at so many samples a second."""
    if path.stat().st_size > MOST_BYTES:
        raise ReadError(f"{path} has more than {MOST_BYTES:,} bytes: cut it into clips")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own, samples = wavfile.read(path)
    except Exception as error:  # a damaged file can fail anywhere in the reader
        raise ReadError(f"{path} is no WAV file that can be read: {error}; remove it") from None
    if missing := _missing_bytes(path):
        raise ReadError(f"{path} is cut short by {missing:,} bytes: copy it again, or remove it")
    samples = np.asarray(samples, dtype=float)
    if samples.ndim == 2:
        samples = samples.mean(axis=1) if samples.shape[1] else samples[:, :0].ravel()
    if not len(samples) or not np.isfinite(samples).all():
        what = "not numbers only" if len(samples) else "empty"
        raise ReadError(f"{path} is {what}: remove it, or record it again")
    if not RATES[0] <= own <= RATES[1]:
        raise ReadError(f"{path} says it has {own} samples a second: record it again")
    if own != rate:
        common = gcd(int(own), rate)
        samples = resample_poly(samples, rate // common, int(own) // common)
    return samples


def _missing_bytes(path: Path) -> int:
    """Say how many bytes of its samples a WAV file announces, and does not have."""
    with open(path, "rb") as file:
        kind = file.read(12)[:4]
        length = os.fstat(file.fileno()).st_size
        while len(head := file.read(8)) == 8:
            name, size = struct.unpack(">4sI" if kind == b"RIFX" else "<4sI", head)
            if name == b"data":
                # who writes a stream does not know how long it will be
                known = kind in (b"RIFF", b"RIFX") and size != 0xFFFFFFFF
                return max(0, size - (length - file.tell())) if known else 0
            # chunks have an even number of bytes
            file.seek(size + size % 2, os.SEEK_CUR)
    return 0
