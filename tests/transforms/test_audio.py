"""Spectrograms, and shifts of pitch and stretches of time against synthetic tones."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from invarlearn.transforms import LogSpectrogram, PitchShift, TimeStretch


def tone(frequency, seconds=0.5, rate=8000):
    t = np.arange(int(seconds * rate)) / rate
    harmonics = (np.sin(2 * np.pi * frequency * h * t) / h for h in (1, 2, 3))
    return sum(harmonics) * np.hanning(len(t))


def test_another_pitch_is_a_shift_along_frequency():
    clips = [tone(400), tone(400 * 2 ** (3 / 12)), tone(400 * 2 ** (-3 / 12))]
    spectrogram = LogSpectrogram()
    X = spectrogram.fit_transform(clips)
    family = PitchShift(300, n_steps=3, shape=spectrogram.shape_)
    lower, higher = family.orbit(X[:1])[0, 1:]
    distance = np.linalg.norm(X[1] - X[0])
    assert np.linalg.norm(X[1] - higher) < 0.35 * distance
    assert np.linalg.norm(X[2] - lower) < 0.35 * np.linalg.norm(X[2] - X[0])
    peak = X.reshape(3, 64, 32)[:, :, 16].argmax(axis=1)
    assert list(peak - peak[0]) == [0, 3, -3]


def test_half_the_speed_is_a_stretch_along_time():
    short = np.concatenate([tone(300, 0.2), tone(900, 0.2)])
    long = np.concatenate([tone(300, 0.4), tone(900, 0.4)])
    spectrogram = LogSpectrogram(duration=1.0, n_frames=50)
    X = spectrogram.fit_transform([short, long])
    stretched = TimeStretch((2.0,), shape=spectrogram.shape_).orbit(X[:1])[0, 1]
    assert np.linalg.norm(stretched - X[1]) < 0.45 * np.linalg.norm(X[0] - X[1])
    filled = LogSpectrogram(length="stretch", n_frames=50).fit_transform([short, long])
    assert np.linalg.norm(filled[0] - filled[1]) < 0.3 * np.linalg.norm(X[0] - X[1])


def test_volume_does_not_matter_and_silence_is_zero():
    X = LogSpectrogram().fit_transform([tone(300), 7 * tone(300), np.zeros(4000)])
    np.testing.assert_allclose(X[0], X[1], atol=1e-5)
    assert not X[2].any()
    assert X.dtype == np.float32
    assert X.min() >= 0
    assert X.max() == 1


def test_clips_of_any_length_have_one_shape():
    rng = np.random.RandomState(0)
    clips = [rng.randn(n) for n in (1, 50, 2000, 8000)]
    spectrogram = LogSpectrogram(n_frames=20).fit(clips)
    assert spectrogram.duration_ == 1.0
    assert spectrogram.transform(clips).shape == (4, 64 * 20)
    assert spectrogram.transform([rng.randn(12000)]).shape == (1, 64 * 20)
    assert spectrogram.transform(np.array(clips, dtype=object)).shape == (4, 64 * 20)
    assert len(spectrogram.get_feature_names_out()) == 64 * 20
    alone = spectrogram.transform([clips[2], clips[0]])[0]
    np.testing.assert_array_equal(alone, spectrogram.transform(clips)[2])


@pytest.mark.parametrize(
    ("clips", "message"),
    [
        ([np.ones(5), np.ones((2, 2))], "waveform 1 has shape"),
        ([np.ones(5), np.ones(0)], "waveform 1 has shape"),
        ([np.ones(5), np.array([1.0, np.nan])], "waveform 1"),
        ([], "minimum of 1|0 sample|empty|Expected 2D"),
    ],
)
def test_bad_waveforms_are_named(clips, message):
    with pytest.raises(ValueError, match=message):
        LogSpectrogram().fit(clips)


def test_wrong_settings_get_clear_errors():
    with pytest.raises(ValueError, match="above half the sample rate"):
        LogSpectrogram(n_bins=100).fit([tone(300)])
    with pytest.raises(ValueError, match="length='cut' is unknown"):
        LogSpectrogram(length="cut").fit([tone(300)])
    with pytest.raises(ValueError, match="positive numbers"):
        TimeStretch((0.0,)).orbit(np.ones((1, 4)))


@parametrize_with_checks([LogSpectrogram()])
def test_log_spectrogram_is_a_scikit_learn_transformer(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("window", "frequency"), [(0.064, 120), (0.032, 200), (0.032, 400)])
def test_another_pitch_is_a_shift_above_the_frequency_that_a_window_resolves(window, frequency):
    clips = [tone(frequency), tone(frequency * 2 ** (3 / 12))]
    X = LogSpectrogram(window=window).fit_transform(clips)
    higher = PitchShift(300, n_steps=3, shape=(64, 32)).orbit(X[:1])[0, 2]
    assert np.linalg.norm(X[1] - higher) < 0.5 * np.linalg.norm(X[1] - X[0])


def test_a_stretch_leaves_the_first_frame():
    X = np.ones((1, 8))
    orbit = TimeStretch((0.5, 2.0), shape=(1, 8)).orbit(X)[0]
    np.testing.assert_allclose(orbit[:, 0], 1)
    np.testing.assert_allclose(orbit[2], 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"dynamic_range": 0},
        {"fmin": 0},
        {"duration": -1},
        {"window": 0},
        {"n_bins": 2.5},
        {"n_frames": 0},
        {"bins_per_octave": 0},
        {"sample_rate": "8k"},
    ],
    ids=str,
)
def test_errors_name_the_bad_setting(wrong):
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        LogSpectrogram(**wrong).fit([tone(300)])


def test_clips_of_one_length_may_come_as_an_array():
    clips = [tone(300), tone(400)]
    listed = LogSpectrogram().fit_transform(clips)
    objects = np.empty(2, dtype=object)
    objects[:] = clips
    np.testing.assert_array_equal(LogSpectrogram().fit_transform(objects), listed)
    np.testing.assert_array_equal(LogSpectrogram().fit_transform(np.array(clips)), listed)
