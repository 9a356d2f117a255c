"""What is read from files, against what was written into them."""

import io
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy.io import wavfile

from invarlearn.datasets import load_mnist_sample
from invarlearn.readers import ReadError, open_samples
from invarlearn.readers import images as images_module


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


def test_images_are_what_was_written(digits):
    source = open_samples(digits)
    sample = load_mnist_sample()
    expected = np.concatenate([sample.X_train[sample.y_train == label][:3] for label in (3, 7)])
    assert source.shape == (28, 28)
    assert len(source) == 6
    assert source.labels.tolist() == ["digit 3"] * 3 + ["digit 7"] * 3
    assert source.names[4] in ("digit 7/1.png", "digit 7\\1.png")
    np.testing.assert_allclose(source.read_all(), expected, atol=0.5 / 255 + 1e-6)
    np.testing.assert_array_equal(source.read(slice(2, 4)), source.read_all()[2:4])
    assert source.read_all().dtype == np.float32
    assert source.settings["size"] == [28, 28]


def test_hidden_files_and_others_are_passed_over(digits):
    (digits / ".DS_Store").write_bytes(b"x")
    (digits / "digit 3" / ".hidden.png").write_bytes(b"x")
    (digits / "digit 3" / "notes.txt").write_text("notes")
    (digits / ".git").mkdir()
    (digits / "empty class").mkdir()
    assert len(open_samples(digits)) == 6


def test_a_flat_folder_has_no_classes(digits):
    source = open_samples(digits / "digit 3")
    assert source.labels is None
    assert source.names == ["0.png", "1.png", "2.png"]


def test_images_of_many_sizes_become_squares_and_colours_are_kept_if_wanted(tmp_path):
    for i, size in enumerate([(40, 30), (100, 200)]):
        Image.new("RGB", size, (255, 0, 51)).save(tmp_path / f"{i}.jpg", quality=95)
    grey = open_samples(tmp_path)
    assert grey.shape == (64, 64)
    # what people see of red and a little blue
    np.testing.assert_allclose(grey.read_all(), (0.299 * 255 + 0.114 * 51) / 255, atol=0.02)
    colour = open_samples(tmp_path, size=(10, 20), colour=True)
    assert colour.shape == (10, 20, 3)
    pixels = colour.read_all().reshape(2, 10, 20, 3)
    np.testing.assert_allclose(pixels.mean(axis=(0, 1, 2)), [1, 0, 0.2], atol=0.03)


@pytest.mark.parametrize("ending", ["png", "tif"])
@pytest.mark.parametrize("mode", ["I;16", "I", "F", "RGB", "RGBA", "LA", "P", "1", "CMYK"])
def test_images_of_every_kind_have_the_same_brightness(tmp_path, mode, ending):
    """A grey ramp from black to white, however it is stored."""
    ramp = np.tile(np.linspace(0, 255, 32).round(), (32, 1)).astype(np.uint8)
    if mode == "1":
        ramp = np.where(ramp > 127, 255, 0).astype(np.uint8)
    image = Image.fromarray(ramp)
    deep = {"I;16": (np.uint16, 257), "I": (np.int32, 257), "F": (np.float32, 1 / 255)}
    if mode in deep:
        dtype, factor = deep[mode]
        image = Image.fromarray((ramp.astype(float) * factor).astype(dtype))
    elif mode != "L":
        image = image.convert(mode)
    if ending == "png":
        # there are no such files of some
        ending = {"CMYK": "jpg", "F": "tif", "I": "tif"}.get(mode, ending)
    image.save(tmp_path / f"a.{ending}")
    found = open_samples(tmp_path).read_all().reshape(32, 32)
    np.testing.assert_allclose(found, ramp / 255, atol=0.03)
    colours = open_samples(tmp_path, colour=True).read_all().reshape(32, 32, 3)
    np.testing.assert_allclose(colours, np.repeat(found[:, :, None], 3, axis=2), atol=0.03)


def test_of_images_of_16_bits_all_are_kept(tmp_path):
    """Cameras of 12 bits use a sixteenth of the range."""
    ramp = np.arange(64, dtype=np.uint16).reshape(8, 8)
    for ending in ("png", "tif"):
        Image.fromarray(ramp).save(tmp_path / f"a.{ending}")
    found = open_samples(tmp_path).read_all()
    np.testing.assert_allclose(found, np.stack([ramp.ravel() / 65535] * 2), rtol=1e-6)


@pytest.mark.parametrize("top", [np.int32(65536), np.int32(-1), np.float32(1.5), np.float32("nan")])
def test_images_of_which_nobody_knows_what_is_white_are_refused(tmp_path, top):
    Image.fromarray(np.full((8, 8), top)).save(tmp_path / "a.tif")
    with pytest.raises(ReadError, match=r"a\.tif has pixels that are not from 0 to"):
        open_samples(tmp_path).read_all()


def tiff(shape, bits, kind, content, planes=1):
    """Give the bytes of a TIFF file of one strip, which Pillow reads but does not write."""
    height, width, channels = shape
    tags = [
        (256, 3, 1, width),
        (257, 3, 1, height),
        (258, 3, 1, bits) if channels == 1 else (258, 3, 3, 8 + 2 + 10 * 12 + 4),
        (259, 3, 1, 1),
        (262, 3, 1, kind),
        (273, 4, 1, 200) if planes == 1 else (273, 4, 3, 150),
        (277, 3, 1, channels),
        (278, 3, 1, height),
        (279, 4, 1, len(content)) if planes == 1 else (279, 4, 3, 162),
        (284, 3, 1, planes),
    ]
    entries = b"".join(
        struct.pack("<HHIHH", tag, of, count, value, 0) for tag, of, count, value in tags
    )
    start = struct.pack("<2sHIH", b"II", 42, 8, len(tags)) + entries + struct.pack("<I", 0)
    start += struct.pack("<3H", bits, bits, bits)
    part = len(content) // 3
    start = start.ljust(150, b"\0") + struct.pack("<3I", *(200 + part * i for i in range(3)))
    start += struct.pack("<3I", part, part, part)
    return start.ljust(200, b"\0") + content


def test_deep_images_say_what_is_white(tmp_path):
    values = np.array([0, 1000, 4095, 65535], dtype="<u2")
    path = tmp_path / "a.tif"
    for kind, expected in ((1, values / 65535), (0, 1 - values / 65535)):
        path.write_bytes(tiff((1, 4, 1), 16, kind, values.tobytes()))
        np.testing.assert_allclose(open_samples(tmp_path).read_all()[0], expected, atol=1e-6)
    # 12 bits: three bytes hold two pixels, 0x123 and 0xfff
    path.write_bytes(tiff((1, 2, 1), 12, 1, b"\x12\x3f\xff"))
    np.testing.assert_allclose(open_samples(tmp_path).read_all()[0], [0x123 / 4095, 1], atol=1e-6)


def test_deep_colours_in_separate_planes_are_refused(tmp_path):
    path = tmp_path / "a.tif"
    path.write_bytes(tiff((8, 8, 3), 16, 2, bytes(384), planes=2))
    with pytest.raises(ReadError, match=r"a\.tif has colours of 16 bits in separate planes: save"):
        open_samples(tmp_path)
    path.write_bytes(tiff((8, 8, 3), 16, 2, bytes(384)))
    np.testing.assert_array_equal(open_samples(tmp_path).read_all(), 0)


def test_images_of_many_pages_are_refused(tmp_path):
    pages = [Image.new("L", (8, 8), i) for i in range(3)]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:])
    with pytest.raises(ReadError, match=r"a\.tif has 3 pages: save each"):
        open_samples(tmp_path)


def test_colours_that_are_left_out_are_told_of(tmp_path):
    Image.new("RGB", (8, 8), (200, 0, 100)).save(tmp_path / "a.png")
    # not the first
    Image.new("L", (8, 8)).save(tmp_path / "0.png")
    assert "--colour keeps them" in open_samples(tmp_path).note
    assert not open_samples(tmp_path, colour=True).note
    Image.new("RGB", (8, 8), (100, 100, 100)).save(tmp_path / "a.png")
    assert not open_samples(tmp_path).note


@pytest.mark.parametrize(
    ("ending", "depth"), [("jpg", np.uint8), ("png", np.uint8), ("png", np.uint16)]
)
def test_turned_photographs_keep_their_size(tmp_path, ending, depth):
    pixels = np.zeros((20, 40), dtype=depth)
    pixels[:, :8] = np.iinfo(depth).max
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise
    Image.fromarray(pixels).save(tmp_path / f"a.{ending}", exif=exif)
    source = open_samples(tmp_path)
    assert source.shape == (40, 20)
    found = source.read_all().reshape(40, 20)
    np.testing.assert_allclose(found[:7], 1, atol=0.1)
    np.testing.assert_allclose(found[9:], 0, atol=0.1)


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw"])
def test_tiff_images_are_turned_around_but_not_on_their_side(tmp_path, compression):
    pixels = np.zeros((10, 20), dtype=np.uint8)
    pixels[:3] = 255
    image = Image.fromarray(pixels)
    image.save(tmp_path / "a.tif", tiffinfo={0x0112: 3}, compression=compression)
    found = open_samples(tmp_path).read_all().reshape(10, 20)
    np.testing.assert_array_equal(found, pixels[::-1] / 255)
    image.save(tmp_path / "a.tif", tiffinfo={0x0112: 6}, compression=compression)
    with pytest.raises(ReadError, match=r"a\.tif is to be turned by 90 degrees: save it upright"):
        open_samples(tmp_path)


def test_what_is_transparent_is_white(tmp_path):
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(open_samples(tmp_path).read_all(), 1)


def test_photographs_are_turned_upright(tmp_path):
    pixels = np.zeros((16, 16), dtype=np.uint8)
    pixels[:4] = 255  # bright at the top
    turned = Image.fromarray(np.rot90(pixels))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise
    turned.save(tmp_path / "a.jpg", exif=exif, quality=95)
    found = open_samples(tmp_path).read_all().reshape(16, 16)
    np.testing.assert_allclose(found, pixels / 255, atol=0.1)


def tone(path, frequency, rate=8000, seconds=0.5, dtype=np.int16, channels=1):
    t = np.arange(int(rate * seconds)) / rate
    wave = 0.5 * np.sin(2 * np.pi * frequency * t)
    scale = np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else 1
    if dtype == np.uint8:
        wave, scale = wave + 1, 127
    samples = (scale * wave).astype(dtype)
    wavfile.write(path, rate, np.stack([samples] * channels, axis=1) if channels > 1 else samples)


def test_sounds_are_spectrograms_whatever_they_are_stored_in(tmp_path):
    kinds = [(8000, np.int16, 1), (44100, np.int16, 2), (16000, np.float32, 1), (8000, np.uint8, 1)]
    for i, (rate, dtype, channels) in enumerate(kinds):
        tone(tmp_path / f"{i}.wav", 440, rate, 0.5 + 0.1 * i, dtype, channels)
    source = open_samples(tmp_path)
    assert source.kind == "sounds"
    found = source.read_all().reshape(4, *source.shape)
    loudest = found.mean(axis=2).argmax(axis=1)
    # 440 Hz are so many twelfths of an octave above the lowest bin
    lowest = 0.475 * 8000 / 2 ** (63 / 12)
    assert np.abs(loudest - 12 * np.log2(440 / lowest)).max() < 1
    # bytes have noise of their own
    np.testing.assert_allclose(found[:3, loudest[0]], found[[0], loudest[0]].repeat(3, 0), atol=0.1)


def test_arrays_are_what_was_written(tmp_path):
    rng = np.random.RandomState(0)
    X, y = rng.randint(256, size=(5, 6, 7)).astype(np.uint8), np.array(["a", "b", "a", "b", "a"])
    np.savez(tmp_path / "a.npz", X=X, y=y)
    source = open_samples(tmp_path / "a.npz")
    assert source.shape == (6, 7)
    np.testing.assert_allclose(source.read_all(), X.reshape(5, -1) / 255, rtol=1e-6)
    assert source.labels.tolist() == y.tolist()
    assert list(source.names) == ["1", "2", "3", "4", "5"]
    np.savez_compressed(tmp_path / "b.npz", X=X.reshape(5, -1).astype(int))
    source = open_samples(tmp_path / "b.npz", shape=(6, 7))
    assert source.labels is None
    assert source.shape == (6, 7)
    np.testing.assert_array_equal(source.read_all(), X.reshape(5, -1))


CSV = "a,b,class\n1,2.5,yes\n-3e2,4,no\n"


@pytest.mark.parametrize("between", [",", ";", "\t"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_tables_are_what_was_written(tmp_path, between, start):
    path = tmp_path / "a.csv"
    path.write_text(start + CSV.replace(",", between), encoding="utf-8")
    source = open_samples(path)
    np.testing.assert_array_equal(source.read_all(), [[1, 2.5], [-300, 4]])
    assert source.labels.tolist() == ["yes", "no"]
    assert source.settings["columns"] == ["a", "b"]
    assert source.settings["label"] == "class"


def test_other_tables_are_read_by_the_names_of_their_columns(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    like = open_samples(tmp_path / "a.csv").settings
    (tmp_path / "b.csv").write_text("b,more,a\n2,9,1\n")
    source = open_samples(tmp_path / "b.csv", like=like)
    np.testing.assert_array_equal(source.read_all(), [[1, 2]])
    assert source.labels is None
    (tmp_path / "c.csv").write_text("b,class\n2,yes\n")
    with pytest.raises(ReadError, match="no column 'a', which the model was trained with"):
        open_samples(tmp_path / "c.csv", like=like)


def test_parquet_is_the_same_as_csv(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_text(CSV)
    pandas.read_csv(tmp_path / "a.csv").to_parquet(tmp_path / "a.parquet")
    one, other = (open_samples(tmp_path / f"a.{kind}") for kind in ("csv", "parquet"))
    np.testing.assert_array_equal(one.read_all(), other.read_all())
    assert one.labels.tolist() == other.labels.tolist()
    assert one.settings == other.settings


def test_parquet_with_other_things_than_numbers_is_refused(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    frame = pandas.DataFrame({"a": pandas.to_datetime(["2020-01-01"]), "class": ["x"]})
    frame.to_parquet(path)
    with pytest.raises(ReadError, match="column 'a' has other things"):
        open_samples(path)
    pandas.DataFrame({"a": [1.0], "class": [np.nan]}).to_parquet(path)
    with pytest.raises(ReadError, match="no 'class'"):
        open_samples(path)


def test_samples_like_others_are_read_as_those_were(digits, tmp_path):
    like = open_samples(digits, size=(14, 14)).settings
    source = open_samples(digits / "digit 3", like=like)
    assert source.shape == (14, 14)
    np.savez(tmp_path / "a.npz", X=np.zeros((2, 14, 14)))
    assert open_samples(tmp_path / "a.npz", like=like).n_features == 196
    np.savez(tmp_path / "b.npz", X=np.zeros((2, 15, 14)))
    with pytest.raises(ReadError, match=r"210 numbers.*196"):
        open_samples(tmp_path / "b.npz", like=like)


def test_bytes_and_numbers_are_not_mixed_up(tmp_path):
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 4)
    np.savez(tmp_path / "a.npz", X=pixels)
    np.savez(tmp_path / "b.npz", X=pixels.astype(float))
    like = open_samples(tmp_path / "a.npz").settings
    assert open_samples(tmp_path / "a.npz", like=like).read_all().max() < 1
    with pytest.raises(ReadError, match=r"trained with bytes.*save both alike"):
        open_samples(tmp_path / "b.npz", like=like)


def test_a_table_needs_no_classes_for_a_model_of_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(2))
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    like = open_samples(tmp_path / "a.npz").settings
    assert open_samples(tmp_path / "b.csv", like=like).labels is None


def test_hidden_folders_do_not_count(tmp_path):
    tone(tmp_path / "a.wav", 400)
    (tmp_path / ".thumbs").mkdir()
    Image.new("L", (8, 8)).save(tmp_path / ".thumbs" / "a.png")
    assert open_samples(tmp_path).kind == "sounds"


def test_blocks_cover_all_rows(digits, monkeypatch):
    source = open_samples(digits)
    whole = source.read_all()
    monkeypatch.setattr("invarlearn.readers.base.BLOCK_BYTES", 4 * 784 * 4)
    assert [some.stop for some in source.blocks()] == [4, 6]
    np.testing.assert_array_equal(source.read_all(), whole)


# -- what cannot be read -------------------------------------------------------------------------


def written(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        path.write_text(content)
    elif isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.savez(path, **content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "a,class\n", "no rows under its header"),
        ("a.csv", "a,class\n1,x\nred,y\n", "line 3: column 'a' has 'red'"),
        ("a.csv", "a,class\n1,x\nnan,y\n", "line 3: column 'a' has 'nan'"),
        ("a.csv", "a,class\n1,x\n1_5,y\n", "line 3: column 'a' has '1_5'"),
        ("a.csv", "a,class\n1,x\n,y\n", "line 3: column 'a' has ''"),
        ("a.csv", "a,class\n1,x\n2,\n", "line 3: no 'class'"),
        ("a.csv", "a,class\n1,x\n2\n", "line 3: 1 fields where 2"),
        ("a.csv", "a,b\n1,2\n", "which column is the class"),
        ("a.csv", "class,y,a\n1,2,3\n", "which column is the class"),
        ("a.csv", "class\nx\n", "no columns but"),
        ("a.csv", "a,a,class\n1,2,x\n", "two columns called 'a'"),
        ("a.csv", b"a,class\n1,\xff\xfe\n", "no table in CSV"),
        ("a.csv", 'a,class\n1,"x\n', "no table in CSV"),
        ("a.npz", b"no archive", "no NPZ file"),
        ("a.npz", b"", "no NPZ file"),
        ("a.npz", {"Z": np.zeros(3)}, "no array X, only 'Z'"),
        ("a.npz", {"X": np.zeros(3)}, "X has shape"),
        ("a.npz", {"X": np.zeros((0, 3))}, "X has shape"),
        ("a.npz", {"X": np.array([["a", "b"]])}, "X has shape"),
        ("a.npz", {"X": np.full((2, 3), np.nan)}, "row 0 of X"),
        ("a.npz", {"X": np.zeros((2, 3)), "y": np.zeros(3)}, "y has shape"),
        ("a.npz", {"X": np.zeros((2, 3)), "y": np.array([0, np.nan])}, "y has values"),
        ("a.npz", {"X": np.zeros((2, 1, 1, 1, 1))}, "5 axes"),
        ("a.npz", {"X": np.array([{}, {}], dtype=object)}, "objects of Python"),
        ("a.parquet", b"PAR1", "Parquet"),
        ("a.txt", "text", ".txt is not understood"),
    ],
)
def test_files_that_cannot_be_read_get_clear_errors(tmp_path, name, content, message):
    path = written(tmp_path / name, content)
    with pytest.raises(ReadError, match=message) as error:
        open_samples(path)
    assert str(path) in str(error.value)


def test_folders_that_cannot_be_read_get_clear_errors(tmp_path, digits):
    with pytest.raises(ReadError, match="does not exist"):
        open_samples(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReadError, match="no PNG, JPEG or TIFF images and no WAV"):
        open_samples(tmp_path / "empty")
    Image.new("L", (28, 28)).save(digits / "loose.png")
    with pytest.raises(ReadError, match=r"both beside and inside.*loose\.png"):
        open_samples(digits)
    (digits / "loose.png").unlink()
    tone(digits / "digit 3" / "a.wav", 400)
    with pytest.raises(ReadError, match="both images and sounds"):
        open_samples(digits)


@pytest.mark.parametrize("content", [b"", b"no image", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"])
def test_damaged_images_are_named(digits, content):
    path = digits / "digit 7" / "bad.png"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=r"bad\.png"):
        open_samples(digits)
    with pytest.raises(ReadError, match=r"bad\.png"):
        open_samples(digits, size=(8, 8)).read_all()


def test_images_cut_short_are_damaged(digits):
    path = digits / "digit 7" / "1.png"
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(ReadError, match=r"1\.png is damaged"):
        open_samples(digits).read_all()


def test_images_of_too_many_pixels_are_refused(digits, monkeypatch):
    monkeypatch.setattr(images_module, "MOST_PIXELS", 700)
    with pytest.raises(ReadError, match="more than 700 pixels"):
        open_samples(digits)


@pytest.mark.parametrize("content", [b"", b"RIFF", b"RIFF\x24\x00\x00\x00WAVEfmt "])
def test_damaged_sounds_are_named(tmp_path, content):
    (tmp_path / "bad.wav").write_bytes(content)
    with pytest.raises(ReadError, match=r"bad\.wav is no WAV file"):
        open_samples(tmp_path).read_all()


def test_sounds_without_sound_are_named(tmp_path):
    wavfile.write(tmp_path / "a.wav", 8000, np.zeros(0, dtype=np.int16))
    with pytest.raises(ReadError, match=r"a\.wav is"):
        open_samples(tmp_path).read_all()
    wavfile.write(tmp_path / "a.wav", 8000, np.full(100, np.nan, dtype=np.float32))
    with pytest.raises(ReadError, match=r"a\.wav is not numbers only"):
        open_samples(tmp_path).read_all()
    wavfile.write(tmp_path / "a.wav", 3, np.zeros(100, dtype=np.int16))
    with pytest.raises(ReadError, match="3 samples a second"):
        open_samples(tmp_path).read_all()


# -- anything at all -----------------------------------------------------------------------------


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


SEEDS = {
    "a.csv": CSV.encode(),
    "a.npz": _bytes_of(lambda file: np.savez(file, X=np.eye(3), y=np.arange(3))),
    "a.wav": _bytes_of(lambda file: wavfile.write(file, 8000, np.arange(400, dtype=np.int16))),
    "a.png": _bytes_of(lambda file: Image.new("L", (8, 8), 7).save(file, format="PNG")),
    "a.tif": _bytes_of(lambda file: Image.new("L", (8, 8), 7).save(file, format="TIFF")),
    "a.parquet": _parquet(),
    "a.jpg": _bytes_of(lambda file: Image.new("L", (8, 8), 7).save(file, format="JPEG")),
}


@st.composite
def damaged(draw, content):
    """Change some bytes of a file, cut it, or add to it."""
    content = bytearray(content)
    for _ in range(draw(st.integers(0, 4))):
        content[draw(st.integers(0, len(content) - 1))] = draw(st.integers(0, 255))
    content = content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content
    return bytes(content) + draw(st.binary(max_size=8))


def test_a_sound_cut_short_is_refused(tmp_path):
    whole, path = SEEDS["a.wav"], tmp_path / "a.wav"
    shorter = struct.pack("<I", len(whole) - 208)
    for cut in (whole[:-200], whole[:4] + shorter + whole[8:-200]):
        path.write_bytes(cut)
        with pytest.raises(ReadError, match="cut short by 200 bytes"):
            open_samples(tmp_path).read_all()


@pytest.mark.parametrize("size", [0xFFFFFFFF, len(SEEDS["a.wav"])])
def test_a_whole_sound_whose_header_errs_is_read(size, tmp_path):
    whole, path = SEEDS["a.wav"], tmp_path / "a.wav"
    path.write_bytes(whole)
    expected = open_samples(tmp_path).read_all()
    path.write_bytes(whole[:4] + struct.pack("<I", size) + whole[8:])
    np.testing.assert_array_equal(open_samples(tmp_path).read_all(), expected)


def test_resized_images_are_told_of(tmp_path):
    for side in (8, 9):
        Image.new("L", (side, side), 7).save(tmp_path / f"{side}.png")
    told = "different sizes, 1 of 8x8, but 9.png of 9x9: they are brought to 64x64"
    assert told in open_samples(tmp_path).note
    assert not open_samples(tmp_path, size=(8, 8)).note


def test_one_image_of_another_size_is_brought_to_that_of_the_others(tmp_path):
    for i in range(9):
        Image.new("L", (8, 6), 7).save(tmp_path / f"{i}.png")
    Image.new("L", (10, 12), 7).save(tmp_path / "other.png")
    source = open_samples(tmp_path)
    assert source.shape == (6, 8)
    assert "9 of 6x8, but other.png of 12x10: they are brought to 6x8" in source.note
    assert source.read_all().shape == (10, 48)
    Image.new("L", (10, 12), 7).save(tmp_path / "second.png")
    assert open_samples(tmp_path).shape == (64, 64)


def test_of_many_columns_the_last_are_named_too(tmp_path):
    path = tmp_path / "a.csv"
    names = [f"c{i}" for i in range(20)]
    path.write_text(",".join([*names, "kind"]) + "\n" + ",".join(["1"] * 21) + "\n")
    with pytest.raises(ReadError, match=r"'c0', .* 9 more, 'c18', 'c19', 'kind'"):
        open_samples(path)


def test_parquet_with_text_that_is_no_utf8_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    content = SEEDS["a.parquet"]
    assert content.count(b"\x01\x00\x00\x00y") == 1
    path = tmp_path / "a.parquet"
    path.write_bytes(content.replace(b"\x01\x00\x00\x00y", b"\x01\x00\x00\x00\x80"))
    with pytest.raises(ReadError, match="UTF8"):
        open_samples(path)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", list(SEEDS))
def test_any_file_is_read_or_gets_a_clear_error(name, tmp_path):
    path = tmp_path / "folder" / name
    path.parent.mkdir()
    target = path if name.endswith(("csv", "npz", "parquet")) else path.parent

    @given(st.one_of(damaged(SEEDS[name]), st.binary(max_size=60)))
    def check(content):
        path.write_bytes(content)
        try:
            rows = open_samples(target).read_all()
        except ReadError as error:
            message = str(error)
            assert str(path.parent) in message
            assert "\n" not in message
        else:
            assert rows.ndim == 2
            assert np.isfinite(rows).all()

    check()


def test_an_archive_that_would_run_code_is_refused(tmp_path):
    class Harm:
        def __reduce__(self):
            return (open, (str(tmp_path / "harm"), "w"))

    np.savez(tmp_path / "a.npz", X=np.array([Harm()], dtype=object))
    with pytest.raises(ReadError, match="objects of Python"):
        open_samples(tmp_path / "a.npz")
    assert not (tmp_path / "harm").exists()


def test_an_archive_that_claims_too_much_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as file:
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000, 100), }"
        content = b"\x93NUMPY\x01\x00" + (len(header) + 1).to_bytes(2, "little") + header + b"\n"
        file.writestr("X.npy", content)
    with pytest.raises(ReadError, match="no NPZ file"):
        open_samples(tmp_path / "a.npz")


def test_numbers_of_rows_are_left_out_of_tables(tmp_path):
    (tmp_path / "a.csv").write_text(",a,b,label\n0,5,1,x\n1,7,2,y\n2,5,9,x\n")
    source = open_samples(tmp_path / "a.csv")
    assert source.settings["columns"] == ["a", "b"]
    assert "columns: 'a', 'b'; '', numbers of rows as it seems, is left out" in source.note
    again = open_samples(tmp_path / "a.csv", like=source.settings)
    np.testing.assert_array_equal(again.read_all(), source.read_all())
    (tmp_path / "b.csv").write_text("id,a,label\n10,5,x\n11,7,y\n12,5,x\n")
    source = open_samples(tmp_path / "b.csv")
    assert source.settings["columns"] == ["id", "a"]
    assert "'id' counts the rows: leave it out, by --ignore 'id'" in source.note
    source = open_samples(tmp_path / "b.csv", ignore=["id"])
    assert source.settings["columns"] == ["a"]
    assert source.note == "columns: 'a'"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_groups_of_tables_are_no_numbers(tmp_path, ending):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    text = "patient,a,note,label\np1,5,good,x\np2,7,bad,y\np1,5,,x\n"
    (tmp_path / "a.csv").write_text(text)
    pandas.read_csv(tmp_path / "a.csv").to_parquet(tmp_path / "a.parquet")
    path = tmp_path / f"a.{ending}"
    source = open_samples(path, groups="patient", ignore=["note"])
    assert source.groups.tolist() == ["p1", "p2", "p1"]
    assert source.labels.tolist() == ["x", "y", "x"]
    assert source.settings["columns"] == ["a"]
    assert open_samples(path, like=source.settings).groups is None
    with pytest.raises(ReadError, match="--ignore 'patient'"):
        open_samples(path, ignore=["note"])
    with pytest.raises(ReadError, match="no column 'speaker'"):
        open_samples(path, groups="speaker")
    with pytest.raises(ReadError, match="'label' is the class, and cannot be left out"):
        open_samples(path, label="label", groups="label", ignore=["note", "patient"])
    with pytest.raises(ReadError, match="no 'note'"):
        open_samples(path, groups="note", ignore=["patient"])


def test_groups_of_arrays(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, X=np.eye(4), y=[0, 1, 0, 1], groups=[3, 3, 4, 4], slide=["a", "b", "c", "d"])
    assert open_samples(path).groups.tolist() == [3, 3, 4, 4]
    source = open_samples(path, groups="slide")
    assert source.groups.tolist() == ["a", "b", "c", "d"]
    assert open_samples(path, like=source.settings).groups is None
    with pytest.raises(ReadError, match="no array 'patient'; there are 'X', 'y', 'groups'"):
        open_samples(path, groups="patient")
    with pytest.raises(ReadError, match="--ignore is for columns"):
        open_samples(path, ignore=["slide"])
    np.savez(path, X=np.eye(2), y=np.array(["a", "b"], dtype=object))
    with pytest.raises(ReadError, match=r"y has objects of Python in it.*save y.astype\(str\)"):
        open_samples(path)


def test_groups_of_files_are_in_their_names(digits):
    for path in digits.glob("*/*.png"):
        path.rename(path.with_name(f"patient{int(path.stem) // 2}_{path.name}"))
    names = open_samples(digits, groups="patient[0-9]+").groups
    assert names.tolist() == ["patient0", "patient0", "patient1"] * 2
    assert open_samples(digits, groups="patient([0-9]+)_").groups.tolist() == ["0", "0", "1"] * 2
    with pytest.raises(ReadError, match="--groups 'slide' is not in the name"):
        open_samples(digits, groups="slide")
    with pytest.raises(ReadError, match="is no regular expression"):
        open_samples(digits, groups="(")
