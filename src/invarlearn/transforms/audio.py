"""What may happen to a sound: its pitch moves, its tempo changes. And its spectrogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn.transforms._actions import Rows
from invarlearn.transforms._checks import Shape, check_number
from invarlearn.transforms.grid import DOWN, AffineFamily, Grid, generator, steps


class PitchShift(AffineFamily):
    """Shifts of a log-frequency spectrogram along frequency: another voice, another key.

    Parameters
    ----------
    cents : float
        The largest shift up or down; 100 cents are a semitone, 1200 an octave.
    n_steps : int, default=3
        How many shifts from -cents to cents; odd.
    bins_per_octave : int, default=12
        Of the spectrogram, as in :class:`LogSpectrogram`.
    fill : {"zero", "edge", "wrap"}, default="zero"
        What comes in from outside the range of frequencies.
    shape : tuple, optional
        (n_bins, n_frames) of a row, low frequencies first. None: a square.

    Examples
    --------
    >>> family = PitchShift(100, shape=(3, 1))
    >>> family.orbit([[1.0, 2.0, 3.0]])
    array([[[1., 2., 3.],
            [2., 3., 0.],
            [0., 1., 2.]]])
    """

    domain = "spectrogram"
    axes = "n_bins, n_frames"

    _limits = ("cents",)

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

    def _generators(self, grid: Grid) -> NDArray[np.float64]:
        return DOWN[None]

    def _coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        per_octave = check_number(self.bins_per_octave, "bins_per_octave", low=1)
        bins = steps(self.cents, self.n_steps, "cents") / 1200 * per_octave
        return bins[:, None]


class TimeStretch(AffineFamily):
    """Faster and slower: a spectrogram is stretched along time; its first frame stays.

    Parameters
    ----------
    factors : sequence of float
        Durations relative to the original; 1 is put first by itself.
    fill : {"zero", "edge", "wrap"}, default="zero"
        What comes in after the end.
    shape : tuple, optional
        (n_bins, n_frames) of a row. None: a square.

    Examples
    --------
    >>> TimeStretch((0.5, 2), shape=(1, 4)).orbit([[1.0, 1.0, 3.0, 3.0]])
    array([[[1., 1., 3., 3.],
            [1., 3., 0., 0.],
            [1., 1., 1., 2.]]])
    """

    domain = "spectrogram"
    axes = "n_bins, n_frames"

    _factors = ("factors",)

    def __init__(
        self,
        factors: Sequence[float] = (0.9, 1.1),
        fill: str = "zero",
        shape: Shape = None,
    ):
        self.factors = factors
        self.fill = fill
        self.shape = shape

    def _generators(self, grid: Grid) -> NDArray[np.float64]:
        # the first frame stays where it is
        return generator((1, 1, 1.0), (1, 2, (grid[1] - 1) / 2))[None]

    def _coordinates(self, grid: Grid | None) -> NDArray[np.float64]:
        factors = np.asarray(self.factors, dtype=float)
        if factors.ndim != 1 or not np.all(np.isfinite(factors) & (factors > 0)):
            raise ValueError(f"factors={self.factors!r} must be a list of positive numbers")
        others = np.unique(factors[factors != 1])
        return np.log(np.concatenate([[1.0], others]))[:, None]


class LogSpectrogram(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Turn waveforms of any length into log-frequency spectrograms of one shape.

    Frequencies are spaced evenly in octaves, so that another pitch is a shift; loudness is in
    decibels below the loudest point of the clip, scaled to [0, 1], so that volume does not
    matter.

    Parameters
    ----------
    sample_rate : float, default=8000
        Of the waveforms, in hertz.
    n_bins, bins_per_octave : int
        The frequencies: ``n_bins`` of them from ``fmin`` upwards.
    fmin : float, default=100
        The lowest frequency, in hertz.
    n_frames : int, default=32
        Time steps of the spectrogram.
    length : {"pad", "stretch"}, default="pad"
        "pad": every clip is cut or padded with silence to ``duration``, so tempo is kept and
        :class:`TimeStretch` makes sense; "stretch": every clip fills all frames.
    duration : float, optional
        Seconds, with ``length="pad"``. None: the longest clip seen in ``fit``.
    window : float, default=0.032
        Seconds of sound in one frame. 32 ms suit speech, and make another pitch a shift for tones
        above 150 Hz or so; 64 ms do so above 100 Hz.
    dynamic_range : float, default=60
        Decibels below the loudest point that become 0.

    Attributes
    ----------
    shape_ : tuple (n_bins, n_frames)
        The ``shape`` to give to :class:`PitchShift` and :class:`TimeStretch`.
    duration_ : float
        Seconds that a row covers, with ``length="pad"``.

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
        """Learn how long a row must be, and build the filters.

        Parameters
        ----------
        X : list of 1-D arrays, or array of shape (n_samples, n_points)
        """
        self._check_parameters()
        clips = self._waveforms(X, reset=True)
        top = self.fmin * 2 ** ((self.n_bins - 1) / self.bins_per_octave)
        if top > self.sample_rate / 2:
            raise ValueError(
                f"the highest of {self.n_bins} bins would be {top:.0f} Hz, above half the sample "
                f"rate of {self.sample_rate} Hz: use fewer bins or a lower fmin"
            )
        longest = max(map(len, clips)) / self.sample_rate
        self.duration_ = longest if self.duration is None else float(self.duration)
        self.shape_ = (self.n_bins, self.n_frames)
        self._n_features_out = self.n_bins * self.n_frames
        size = max(2, round(self.window * self.sample_rate))
        self._window = np.hanning(size + 2)[1:-1]
        # zero-padded to four times the window, so that low bins have frequencies of their own
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
        if self.length not in ("pad", "stretch"):
            raise ValueError(f"length={self.length!r} is unknown: choose 'pad' or 'stretch'")

    def transform(self, X: Sequence[ArrayLike]) -> Rows:
        """Give the spectrograms as float32 rows: (n_samples, n_bins * n_frames)."""
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
        first = np.round(centres - size / 2).astype(int)
        index = first[:, None] + np.arange(size)
        heard = (index >= 0) & (index < len(clip))
        frames = np.where(heard, clip[index.clip(0, len(clip) - 1)], 0.0)
        power = np.abs(np.fft.rfft(frames * self._window, self._n_fft)) ** 2
        energy = (power @ self._filters).T
        loudest = energy.max()
        if not loudest > 0:
            return np.zeros(energy.shape, dtype=np.float32)
        floor = 10 ** (-self.dynamic_range / 10)
        decibels = 10 * np.log10(np.maximum(energy / loudest, floor))
        return (1 + decibels / self.dynamic_range).astype(np.float32)

    def _waveforms(self, X: Any, reset: bool) -> list[NDArray[np.floating]]:
        """Check the clips: rows of an array, or a list of 1-D arrays of different lengths."""
        objects = isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1
        if not isinstance(X, (list, tuple)) and not objects:
            return list(validate_data(self, X, dtype=float, reset=reset))
        if len(X) and isinstance(X[0], (str, bytes)):
            raise TypeError(
                f"waveforms are arrays of samples, not names such as {X[0]!r}: read the files "
                "first, with scipy.io.wavfile.read or another reader"
            )
        if len(X) == 0 or np.ndim(X[0]) == 0:
            raise ValueError(
                "Expected 2D array or a list of waveforms, got 1D array or an empty list instead. "
                "Reshape your data: a single waveform is a list of one"
            )
        # a list may hold clips of any length, whatever those in fit were
        if reset and hasattr(self, "n_features_in_"):
            del self.n_features_in_
        clips = [np.asarray(clip) for clip in X]
        for i, clip in enumerate(clips):
            if clip.ndim != 1 or not len(clip):
                raise ValueError(
                    f"waveform {i} has shape {clip.shape}: it must be a 1-D array of one sample "
                    "or more"
                )
            check_array(clip[None], input_name=f"waveform {i}")
        return [clip.astype(float) for clip in clips]


def log_filters(
    n_bins: int, bins_per_octave: int, fmin: float, sample_rate: float, n_fft: int
) -> NDArray[np.float64]:
    """Build triangular filters from FFT bins to log-frequency bins: (n_fft // 2 + 1, n_bins)."""
    frequencies = np.arange(n_fft // 2 + 1) * sample_rate / n_fft
    centres = fmin * 2 ** (np.arange(n_bins) / bins_per_octave)
    # at least as wide as two FFT bins, so that no filter falls between them
    width = np.maximum(centres * (2 ** (1 / bins_per_octave) - 1), sample_rate / n_fft)
    filters = np.maximum(0.0, 1 - np.abs(frequencies[:, None] - centres) / width)
    return filters / filters.sum(axis=0)
