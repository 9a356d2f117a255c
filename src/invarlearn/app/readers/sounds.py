"""Folders of WAV files, with a subfolder for each class."""

from __future__ import annotations

import os
import struct
import warnings
from math import gcd
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.io import wavfile
from scipy.signal import resample_poly

from invarlearn.app.messages import InputError, first_line
from invarlearn.app.readers.base import Files, ReaderLimits, ReadOptions, are_counts
from invarlearn.transforms import Family, LogSpectrogram, PitchShift, TimeStretch, Translation
from invarlearn.transforms.domains import BAG, IMAGE, POLAR_IMAGE, ROWS, SPECTROGRAM

# Names of the settings of spectrograms.
COUNTS = ("rate", "n_bins", "n_frames")
BANDS = ("bins_per_octave", "top_frequency")


class Sounds(Files):
    """WAV files in a folder, as log-frequency spectrograms.

    Spectrograms are stretched in time so that each clip fills the same number of frames.

    Parameters
    ----------
    folder : path
        A folder with a subfolder for each class, or a folder of WAV files without classes.
    rate : int, default=8000
        Sample rate that clips are resampled to, in Hz. Frequencies are below half of it.
    n_bins : int, default=64
        Number of frequency bands.
    n_frames : int, default=32
        Number of time steps.
    bins_per_octave : int, default=12
        Number of frequency bands per octave.
    top_frequency : float, default=0.475
        Highest frequency, divided by ``rate``. It must be less than one half.
    limits : ReaderLimits, optional
    """

    kind = "sounds"
    domains = (IMAGE, SPECTROGRAM, POLAR_IMAGE, BAG, ROWS)
    suffixes = (".wav",)
    formats = "WAV files"

    def __init__(
        self,
        folder: Path,
        rate: int = 8000,
        n_bins: int = 64,
        n_frames: int = 32,
        bins_per_octave: int = 12,
        top_frequency: float = 0.475,
        limits: ReaderLimits | None = None,
    ):
        super().__init__(folder, limits or ReaderLimits())
        self.shape = (n_bins, n_frames)
        self.settings = {
            "kind": self.kind,
            "rate": rate,
            "n_bins": n_bins,
            "n_frames": n_frames,
            "bins_per_octave": bins_per_octave,
            "top_frequency": top_frequency,
            "n_features": self.n_features,
        }
        self.rate = rate
        self.spectrogram = LogSpectrogram(
            sample_rate=rate,
            n_bins=n_bins,
            bins_per_octave=bins_per_octave,
            fmin=top_frequency * rate / 2 ** ((n_bins - 1) / bins_per_octave),
            n_frames=n_frames,
            length="stretch",
        ).fit([np.ones(rate)])

    @classmethod
    def open(cls, folder: Path, options: ReadOptions, settings: dict[str, Any]) -> Self:
        """Open a folder; ``settings`` of another source take precedence over options."""
        if not settings:
            return cls(folder, options.rate, limits=options.limits)
        # models of earlier versions have no bands per octave and no highest frequency
        values = {name: settings[name] for name in (*COUNTS, *BANDS) if name in settings}
        return cls(folder, **values, limits=options.limits)

    @classmethod
    def accepts_settings(cls, settings: dict[str, Any]) -> bool:
        """Return whether settings, which may be forged, are those of spectrograms."""
        bins = settings.get("bins_per_octave", 1)
        top = settings.get("top_frequency", 0.25)
        return (
            are_counts(*(settings.get(name) for name in COUNTS), bins)
            and isinstance(top, float)
            and 0 < top < 0.5
            and super().accepts_settings(settings)
        )

    def default_family(self) -> Family:
        """Return small changes of pitch and tempo, and shifts by one frame or band."""
        return PitchShift(400, n_steps=5) * TimeStretch((0.85, 1.18)) * Translation(1)

    def decode(self, path: Path) -> NDArray[np.float32]:
        """Return the spectrogram of a clip."""
        return self.spectrogram.transform([_clip(path, self.rate, self.limits)])[0]


def _clip(path: Path, rate: int, limits: ReaderLimits) -> NDArray[np.float64]:
    """Return the mean of the channels of a WAV file, resampled to ``rate``."""
    if path.stat().st_size > limits.max_sound_bytes:
        raise InputError(
            f"{path} has more than {limits.max_sound_bytes:,} bytes. Cut it into clips."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            file_rate, samples = wavfile.read(path)
    except Exception as error:  # a damaged file can fail anywhere in the reader
        raise InputError(
            f"{path} cannot be read as a WAV file: {first_line(error)}. Remove it."
        ) from None
    if missing := _missing_bytes(path):
        raise InputError(f"{path} is truncated by {missing:,} bytes. Copy it again or remove it.")
    samples = np.asarray(samples, dtype=float)
    if samples.ndim == 2:
        samples = samples.mean(axis=1) if samples.shape[1] else samples[:, :0].ravel()
    if not len(samples) or not np.isfinite(samples).all():
        problem = "has samples that are not finite" if len(samples) else "is empty"
        raise InputError(f"{path} {problem}. Record it again or remove it.")
    lowest, highest = limits.sample_rates
    if not lowest <= file_rate <= highest:
        raise InputError(
            f"{path} has a sample rate of {file_rate} Hz, which is not between {lowest:,} and "
            f"{highest:,}. Record it again or remove it."
        )
    if file_rate != rate:
        divisor = gcd(int(file_rate), rate)
        samples = resample_poly(samples, rate // divisor, int(file_rate) // divisor)
    return samples


def _missing_bytes(path: Path) -> int:
    """Return the number of bytes that are missing from the samples, by the header of a WAV file."""
    with open(path, "rb") as file:
        format_id = file.read(12)[:4]
        file_size = os.fstat(file.fileno()).st_size
        while len(head := file.read(8)) == 8:
            name, size = struct.unpack(">4sI" if format_id == b"RIFX" else "<4sI", head)
            if name == b"data":
                # files that were streamed do not state the size of their samples
                has_size = format_id in (b"RIFF", b"RIFX") and size != 0xFFFFFFFF
                return max(0, size - (file_size - file.tell())) if has_size else 0
            # chunks have an even number of bytes
            file.seek(size + size % 2, os.SEEK_CUR)
    return 0
