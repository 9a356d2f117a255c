"""Mel-frequency cepstral coefficients, the baseline features of speech."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, rfft

# Length of a window, step between windows, and length of the Fourier transform, in samples.
_WINDOW, _HOP, _N_FFT = 200, 80, 256


def mfcc(
    clips: Sequence[NDArray],
    sample_rate: float = 8000,
    n_filters: int = 26,
    n_coefficients: int = 13,
    n_frames: int = 30,
) -> NDArray[np.float32]:
    """Return cepstral coefficients and their time differences, one row per clip.

    At 8 kHz, windows are 25 ms long and start every 10 ms. Coefficients are interpolated to
    ``n_frames`` times. The mean of each coefficient over time is subtracted, which removes the
    frequency response of room and microphone.

    Parameters
    ----------
    clips : sequence of arrays of shape (n_times,)
        Waveforms.
    sample_rate : float, default=8000
        In Hz.
    n_filters, n_coefficients, n_frames : int
        Numbers of mel filters, of coefficients, and of times in a row.

    Returns
    -------
    array of shape (n_clips, 2 * n_frames * n_coefficients)
    """
    filters = mel_filters(n_filters, sample_rate)
    rows = []
    for clip in clips:
        samples = np.asarray(clip, dtype=float)
        samples = samples / max(np.abs(samples).max(), 1e-9)
        samples = np.append(samples[0], samples[1:] - 0.97 * samples[:-1])
        samples = np.pad(samples, (0, max(0, _WINDOW - len(samples))))
        windows = np.lib.stride_tricks.sliding_window_view(samples, _WINDOW)[::_HOP]
        power = np.abs(rfft(windows * np.hamming(_WINDOW), _N_FFT)) ** 2
        cepstra = dct(np.log(power @ filters.T + 1e-8), axis=1, norm="ortho")[:, :n_coefficients]
        cepstra -= cepstra.mean(axis=0)
        times = np.arange(len(cepstra))
        new_times = np.linspace(0, len(cepstra) - 1, n_frames)
        resampled = np.stack([np.interp(new_times, times, column) for column in cepstra.T], axis=1)
        rows.append(np.concatenate([resampled, np.gradient(resampled, axis=0)], axis=None))
    return np.array(rows, dtype=np.float32)


def mel_filters(n_filters: int, sample_rate: float) -> NDArray[np.float64]:
    """Return triangular filters, evenly spaced in mel from 60 Hz: shape (n_filters, n_bins)."""
    low, high = (2595 * np.log10(1 + f / 700) for f in (60.0, sample_rate / 2))
    edges = 700 * (10 ** (np.linspace(low, high, n_filters + 2) / 2595) - 1)
    bins = np.fft.rfftfreq(_N_FFT, 1 / sample_rate)
    left, centre, right = (edges[i : i + n_filters, None] for i in range(3))
    rising, falling = (bins - left) / (centre - left), (right - bins) / (right - centre)
    return np.clip(np.minimum(rising, falling), 0, None)
