"""Mel-frequency cepstral coefficients, the usual features of speech, as a baseline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, rfft

_WINDOW, _HOP, _N_FFT = 200, 80, 256


def mfcc(
    clips: Sequence[NDArray],
    sample_rate: float = 8000,
    n_filters: int = 26,
    n_coefficients: int = 13,
    n_frames: int = 30,
) -> NDArray[np.float32]:
    """Give coefficients and their differences in time, of clips stretched to one length.

    Windows of 25 ms every 10 ms, at 8 kHz; the mean over time of each coefficient is taken off,
    which removes room and microphone.
    """
    filters = mel_filters(n_filters, sample_rate)
    rows = []
    for clip in clips:
        sound = np.asarray(clip, dtype=float)
        sound = sound / max(np.abs(sound).max(), 1e-9)
        sound = np.append(sound[0], sound[1:] - 0.97 * sound[:-1])
        sound = np.pad(sound, (0, max(0, _WINDOW - len(sound))))
        frames = np.lib.stride_tricks.sliding_window_view(sound, _WINDOW)[::_HOP]
        power = np.abs(rfft(frames * np.hamming(_WINDOW), _N_FFT)) ** 2
        cepstra = dct(np.log(power @ filters.T + 1e-8), axis=1, norm="ortho")[:, :n_coefficients]
        cepstra -= cepstra.mean(axis=0)
        places = np.linspace(0, len(cepstra) - 1, n_frames)
        known = np.arange(len(cepstra))
        even = np.stack([np.interp(places, known, column) for column in cepstra.T], axis=1)
        rows.append(np.concatenate([even, np.gradient(even, axis=0)], axis=None))
    return np.array(rows, dtype=np.float32)


def mel_filters(n_filters: int, sample_rate: float) -> NDArray[np.float64]:
    """Give triangular filters, evenly spaced in mel from 60 Hz upwards: (n_filters, bins)."""
    low, high = (2595 * np.log10(1 + f / 700) for f in (60.0, sample_rate / 2))
    edges = 700 * (10 ** (np.linspace(low, high, n_filters + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(_N_FFT, 1 / sample_rate)
    left, centre, right = (edges[i : i + n_filters, None] for i in range(3))
    rising, falling = (bins - left) / (centre - left), (right - bins) / (right - centre)
    return np.clip(np.minimum(rising, falling), 0, None)
