"""Families of spectrograms, pitch shifts and time stretches; log-frequency spectrograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._utils.validation import Shape, check_choice, check_number
from invarlearn.transforms.actions import Rows
from invarlearn.transforms.base import Family
from invarlearn.transforms.domains import SPECTROGRAM
from invarlearn.transforms.grid import DOWN, AffineFamily, Grid, generator_matrix, steps


class PitchShift(AffineFamily):
    """Shifts of a log-frequency spectrogram along frequency: another voice, another key.

    The element with shift c, in cents, moves every bin up by ``c bins_per_octave / 1200`` bins.
    Shifts are evenly spaced from ``-cents`` to ``cents``; random elements have any shift in the
    range. Bins are lost at the borders, so the family is neither unitary nor a group.

    Parameters
    ----------
    cents : float, default=200
        The largest shift up or down; 100 cents are a semitone, 1200 an octave.
    n_steps : int, default=3
        Number of shifts from -cents to cents; odd.
    bins_per_octave : int, default=12
        Resolution of the spectrogram, as in :class:`LogSpectrogram`.
    fill : {"zero", "edge", "wrap"}, default="zero"
        Values of bins outside the range of frequencies.
    shape : tuple, optional
        Shape (n_bins, n_frames) of a row, low frequencies first. None: a square.

    Examples
    --------
    >>> family = PitchShift(100, shape=(3, 1))
    >>> family.orbit([[1.0, 2.0, 3.0]])
    array([[[1., 2., 3.],
            [2., 3., 0.],
            [0., 1., 2.]]])
    """

    spec_name = "pitch-shift"
    domain = SPECTROGRAM
    axes = "n_bins, n_frames"

    ranges_about_zero = ("cents",)

    def __init__(
        self,
        cents: float = 200,
        n_steps: int = 3,
        bins_per_octave: int = 12,
        fill: str = "zero",
        shape: Shape = None,
    ):
        self.cents = cents
        self.n_steps = n_steps
        self.bins_per_octave = bins_per_octave
        self.fill = fill
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls(150, n_steps=5), cls(100, shape=(32, 2))]

    def generators(self, grid: Grid) -> NDArray[np.float64]:
        return DOWN[None]

    def coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        per_octave = check_number(self.bins_per_octave, "bins_per_octave", low=1)
        bins = steps(self.cents, self.n_steps, "cents") / 1200 * per_octave
        return bins[:, None]


class TimeStretch(AffineFamily):
    """Time stretches of a spectrogram: slower and faster; the first frame stays.

    The element with duration f moves frame j to frame ``f j``. Random elements have any duration
    between the shortest and the longest, on a logarithmic scale. The family is neither unitary nor
    a group.

    Parameters
    ----------
    factors : sequence of float, default=(0.9, 1.1)
        Durations relative to the original; 1 is always included, first.
    fill : {"zero", "edge", "wrap"}, default="zero"
        Values of frames after the end.
    shape : tuple, optional
        Shape (n_bins, n_frames) of a row. None: a square.

    Examples
    --------
    >>> TimeStretch((0.5, 2), shape=(1, 4)).orbit([[1.0, 1.0, 3.0, 3.0]])
    array([[[1., 1., 3., 3.],
            [1., 3., 0., 0.],
            [1., 1., 1., 2.]]])
    """

    spec_name = "time-stretch"
    domain = SPECTROGRAM
    axes = "n_bins, n_frames"

    ranges_about_one = ("factors",)

    def __init__(
        self,
        factors: Sequence[float] = (0.9, 1.1),
        fill: str = "zero",
        shape: Shape = None,
    ):
        self.factors = factors
        self.fill = fill
        self.shape = shape

    @classmethod
    def examples(cls) -> list[Family]:
        return [cls((0.8, 1.25)), cls((0.5, 2.0), shape=(2, 32))]

    def generators(self, grid: Grid) -> NDArray[np.float64]:
        # the first frame is the fixed point
        return generator_matrix((1, 1, 1.0), (1, 2, (grid[1] - 1) / 2))[None]

    def coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        factors = np.asarray(self.factors, dtype=float)
        if factors.ndim != 1 or not np.all(np.isfinite(factors) & (factors > 0)):
            raise ValueError(f"factors={self.factors!r} must be a sequence of positive numbers")
        other_factors = np.unique(factors[factors != 1])
        return np.log(np.concatenate([[1.0], other_factors]))[:, None]


class LogSpectrogram(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Transform waveforms of any length into log-frequency spectrograms of one shape.

    Frequencies are evenly spaced on a logarithmic scale, so that a change of pitch is a shift. The
    values are ``1 + L / dynamic_range``, at least 0, where L is the energy in decibels relative to
    the largest energy of the clip. They do not depend on the volume.

    The number of frames is fixed, so that rows have one length. :class:`scipy.signal.ShortTimeFFT`
    places frames at whole steps instead, so that their number depends on the length of the clip;
    it is also slower (``python benchmarks/run.py libraries``).

    Parameters
    ----------
    sample_rate : float, default=8000
        Samples per second of the waveforms.
    n_bins : int, default=64
        Number of frequencies, from ``fmin`` upwards.
    bins_per_octave : int, default=12
        Frequencies per octave.
    fmin : float, default=100
        The lowest frequency, in hertz.
    n_frames : int, default=32
        Number of frames of the spectrogram.
    length : {"pad", "stretch"}, default="pad"
        "pad": every clip is cut, or padded with silence, to ``duration``. This preserves the tempo,
        as :class:`TimeStretch` requires. "stretch": every clip fills all frames.
    duration : float, optional
        Duration of a row in seconds, with ``length="pad"``. None: that of the longest clip in
        ``fit``.
    window : float, default=0.032
        Duration of a frame in seconds. With 0.032, which suits speech, a change of pitch is a shift
        for tones above about 150 Hz; with 0.064, for tones above about 100 Hz.
    dynamic_range : float, default=60
        Number of decibels below the loudest point at which values become 0.

    Attributes
    ----------
    shape_ : tuple (n_bins, n_frames)
        The ``shape`` of a row for :class:`PitchShift` and :class:`TimeStretch`.
    duration_ : float
        Duration of a row in seconds, with ``length="pad"``.

    Examples
    --------
    >>> import numpy as np
    >>> clips = [np.sin(np.arange(3000)), np.sin(np.arange(2000))]
    >>> LogSpectrogram().fit_transform(clips).shape
    (2, 2048)
    """

    def __init__(
        self,
        sample_rate: float = 8000,
        n_bins: int = 64,
        bins_per_octave: int = 12,
        fmin: float = 100,
        n_frames: int = 32,
        length: str = "pad",
        duration: float | None = None,
        window: float = 0.032,
        dynamic_range: float = 60,
    ):
        self.sample_rate = sample_rate
        self.n_bins = n_bins
        self.bins_per_octave = bins_per_octave
        self.fmin = fmin
        self.n_frames = n_frames
        self.length = length
        self.duration = duration
        self.window = window
        self.dynamic_range = dynamic_range

    def fit(self, X: Sequence[ArrayLike], y: object = None) -> LogSpectrogram:
        """Store the duration of a row, and build the filters.

        Parameters
        ----------
        X : list of 1-D arrays, or array of shape (n_samples, n_points)
            Waveforms.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        clips = self._waveforms(X, reset=True)
        highest = self.fmin * 2 ** ((self.n_bins - 1) / self.bins_per_octave)
        if highest > self.sample_rate / 2:
            raise ValueError(
                f"n_bins={self.n_bins} ends at {highest:.0f} Hz, above half the sample rate of "
                f"{self.sample_rate} Hz: choose a smaller n_bins or a lower fmin"
            )
        longest = max(map(len, clips)) / self.sample_rate
        self.duration_ = longest if self.duration is None else float(self.duration)
        self.shape_ = (self.n_bins, self.n_frames)
        self._n_features_out = self.n_bins * self.n_frames
        size = max(2, round(self.window * self.sample_rate))
        self._window = np.hanning(size + 2)[1:-1]
        # zero-padded to four times the window, so that neighbouring low bins differ
        self._n_fft = 4 * 2 ** int(np.ceil(np.log2(size)))
        self._filters = log_filters(
            self.n_bins, self.bins_per_octave, self.fmin, self.sample_rate, self._n_fft
        )
        return self

    def _check_parameters(self) -> None:
        positive = np.finfo(float).tiny
        for name in ("n_bins", "n_frames"):
            check_number(getattr(self, name), name, low=1, whole=True)
        for name in ("sample_rate", "bins_per_octave", "fmin", "window", "dynamic_range"):
            check_number(getattr(self, name), name, low=positive)
        if self.duration is not None:
            check_number(self.duration, "duration", low=positive)
        check_choice(self.length, ("pad", "stretch"), "length")

    def transform(self, X: Sequence[ArrayLike]) -> Rows:
        """Return the spectrograms.

        Parameters
        ----------
        X : list of 1-D arrays, or array of shape (n_samples, n_points)
            Waveforms.

        Returns
        -------
        array of float32 of shape (n_samples, n_bins * n_frames)
        """
        check_is_fitted(self)
        clips = self._waveforms(X, reset=False)
        return np.stack([self._spectrogram(clip).ravel() for clip in clips])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _spectrogram(self, clip: NDArray[np.floating]) -> NDArray[np.float32]:
        span = len(clip) if self.length == "stretch" else self.duration_ * self.sample_rate
        size = len(self._window)
        centres = (np.arange(self.n_frames) + 0.5) * span / self.n_frames
        starts = np.round(centres - size / 2).astype(int)
        index = starts[:, None] + np.arange(size)
        is_inside = (index >= 0) & (index < len(clip))
        frames = np.where(is_inside, clip[index.clip(0, len(clip) - 1)], 0.0)
        power = np.abs(np.fft.rfft(frames * self._window, self._n_fft)) ** 2
        energy = (power @ self._filters).T
        loudest = energy.max()
        if not loudest > 0:
            return np.zeros(energy.shape, dtype=np.float32)
        floor = 10 ** (-self.dynamic_range / 10)
        decibels = 10 * np.log10(np.maximum(energy / loudest, floor))
        return (1 + decibels / self.dynamic_range).astype(np.float32)

    def _waveforms(self, X: Any, reset: bool) -> list[NDArray[np.floating]]:
        """Validate the clips: rows of an array, or a list of 1-D arrays of different lengths."""
        is_object_array = isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1
        if not isinstance(X, (list, tuple)) and not is_object_array:
            return list(validate_data(self, X, dtype=float, reset=reset))
        if len(X) and isinstance(X[0], (str, bytes)):
            raise TypeError(
                f"waveforms must be arrays of samples, not file names such as {X[0]!r}: read the "
                "files first, for instance with scipy.io.wavfile.read"
            )
        if len(X) == 0 or np.ndim(X[0]) == 0:
            raise ValueError(
                "Expected 2D array or a list of waveforms, got 1D array or an empty list instead. "
                "Reshape your data: a single waveform is a list of one"
            )
        # the clips of a list may have other lengths than those in fit
        if reset and hasattr(self, "n_features_in_"):
            del self.n_features_in_
        clips = [np.asarray(clip) for clip in X]
        for i, clip in enumerate(clips):
            if clip.ndim != 1 or not len(clip):
                raise ValueError(
                    f"waveform {i} has shape {clip.shape}: it must be a 1-D array of one or more "
                    "samples"
                )
            check_array(clip[None], input_name=f"waveform {i}")
        return [clip.astype(float) for clip in clips]


def log_filters(
    n_bins: int, bins_per_octave: int, fmin: float, sample_rate: float, n_fft: int
) -> NDArray[np.float64]:
    """Return triangular filters from FFT bins to log-frequency bins: (n_fft // 2 + 1, n_bins)."""
    frequencies = np.arange(n_fft // 2 + 1) * sample_rate / n_fft
    centres = fmin * 2 ** (np.arange(n_bins) / bins_per_octave)
    # at least as wide as two FFT bins, so that every filter contains one
    width = np.maximum(centres * (2 ** (1 / bins_per_octave) - 1), sample_rate / n_fft)
    filters = np.maximum(0.0, 1 - np.abs(frequencies[:, None] - centres) / width)
    return filters / filters.sum(axis=0)
