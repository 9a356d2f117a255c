"""Files that tests of readers share."""

import io

import numpy as np
import pytest
from PIL import Image
from scipy.io import wavfile

from invarlearn.datasets import load_mnist_sample

CSV = "a,b,class\n1,2.5,yes\n-3e2,4,no\n"


@pytest.fixture
def digits(tmp_path):
    """Three images of each of two digits, in a folder."""
    sample = load_mnist_sample()
    folder = tmp_path / "digits"
    for label in (3, 7):
        rows = sample.X_train[sample.y_train == label][:3]
        (folder / f"digit {label}").mkdir(parents=True)
        for i, row in enumerate(rows):
            pixels = np.round(255 * row).astype(np.uint8).reshape(28, 28)
            Image.fromarray(pixels).save(folder / f"digit {label}" / f"{i}.png")
    return folder


@pytest.fixture
def tone():
    """A function that writes a sine wave as a WAV file."""
    return write_tone


def write_tone(path, frequency, rate=8000, seconds=0.5, dtype=np.int16, channels=1):
    t = np.arange(int(rate * seconds)) / rate
    wave = 0.5 * np.sin(2 * np.pi * frequency * t)
    scale = np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else 1
    if dtype == np.uint8:
        wave, scale = wave + 1, 127
    samples = (scale * wave).astype(dtype)
    wavfile.write(path, rate, np.stack([samples] * channels, axis=1) if channels > 1 else samples)


@pytest.fixture
def csv_text():
    """A table with two features and a class."""
    return CSV


@pytest.fixture(scope="session")
def intact_files():
    """The content of a small file of each kind."""
    return {
        "a.csv": CSV.encode(),
        "a.npz": _bytes_of(lambda file: np.savez(file, X=np.eye(3), y=np.arange(3))),
        "a.wav": _bytes_of(lambda file: wavfile.write(file, 8000, np.arange(400, dtype=np.int16))),
        "a.png": _bytes_of(lambda file: Image.new("L", (8, 8), 7).save(file, format="PNG")),
        "a.tif": _bytes_of(lambda file: Image.new("L", (8, 8), 7).save(file, format="TIFF")),
        "a.parquet": _parquet(),
        "a.jpg": _bytes_of(lambda file: Image.new("L", (8, 8), 7).save(file, format="JPEG")),
    }


def _bytes_of(save):
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


def _parquet():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        return b"PAR1"
    table = pyarrow.table({"a": [1.0, 2.0], "class": ["x", "y"]})
    return _bytes_of(lambda file: pyarrow.parquet.write_table(table, file))
