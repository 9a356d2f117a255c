"""Images in folders."""

import struct

import numpy as np
import pytest
from PIL import Image

from invarlearn.app.messages import InputError
from invarlearn.app.readers import ReaderLimits, open_samples
from invarlearn.datasets import load_mnist_sample


def test_images_are_read_back(digits):
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


def test_images_of_several_sizes_become_squares_and_colours_are_optional(tmp_path):
    for i, size in enumerate([(40, 30), (100, 200)]):
        Image.new("RGB", size, (255, 0, 51)).save(tmp_path / f"{i}.jpg", quality=95)
    grey = open_samples(tmp_path)
    assert grey.shape == (64, 64)
    # the luminance of red with a little blue
    np.testing.assert_allclose(grey.read_all(), (0.299 * 255 + 0.114 * 51) / 255, atol=0.02)
    colour = open_samples(tmp_path, size=(10, 20), colour=True)
    assert colour.shape == (10, 20, 3)
    pixels = colour.read_all().reshape(2, 10, 20, 3)
    np.testing.assert_allclose(pixels.mean(axis=(0, 1, 2)), [1, 0, 0.2], atol=0.03)


@pytest.mark.parametrize("ending", ["png", "tif"])
@pytest.mark.parametrize("mode", ["I;16", "I", "F", "RGB", "RGBA", "LA", "P", "1", "CMYK"])
def test_images_of_every_mode_have_the_same_brightness(tmp_path, mode, ending):
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
        # PNG and TIFF do not have every mode
        ending = {"CMYK": "jpg", "F": "tif", "I": "tif"}.get(mode, ending)
    image.save(tmp_path / f"a.{ending}")
    grey = open_samples(tmp_path).read_all().reshape(32, 32)
    np.testing.assert_allclose(grey, ramp / 255, atol=0.03)
    colours = open_samples(tmp_path, colour=True).read_all().reshape(32, 32, 3)
    np.testing.assert_allclose(colours, np.repeat(grey[:, :, None], 3, axis=2), atol=0.03)


def test_all_16_bits_of_images_are_kept(tmp_path):
    """Images of 12-bit cameras use a sixteenth of the range."""
    ramp = np.arange(64, dtype=np.uint16).reshape(8, 8)
    for ending in ("png", "tif"):
        Image.fromarray(ramp).save(tmp_path / f"a.{ending}")
    rows = open_samples(tmp_path).read_all()
    np.testing.assert_allclose(rows, np.stack([ramp.ravel() / 65535] * 2), rtol=1e-6)


@pytest.mark.parametrize("top", [np.int32(65536), np.int32(-1), np.float32(1.5), np.float32("nan")])
def test_images_with_pixels_outside_the_range_are_refused(tmp_path, top):
    Image.fromarray(np.full((8, 8), top)).save(tmp_path / "a.tif")
    with pytest.raises(InputError, match=r"a\.tif has pixels outside the range from 0 to"):
        open_samples(tmp_path).read_all()


def tiff(shape, bits, kind, content, planes=1):
    """Return the bytes of a TIFF file of one strip, which Pillow reads but does not write."""
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


def test_deep_tiff_images_are_scaled_by_their_range(tmp_path):
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
    with pytest.raises(InputError, match=r"a\.tif has colours of 16 bits in separate planes. Save"):
        open_samples(tmp_path)
    path.write_bytes(tiff((8, 8, 3), 16, 2, bytes(384)))
    np.testing.assert_array_equal(open_samples(tmp_path).read_all(), 0)


def test_images_with_several_pages_are_refused(tmp_path):
    pages = [Image.new("L", (8, 8), i) for i in range(3)]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:])
    with pytest.raises(InputError, match=r"a\.tif has 3 pages. Save each"):
        open_samples(tmp_path)


def test_images_whose_colours_are_dropped_get_a_note(tmp_path):
    Image.new("RGB", (8, 8), (200, 0, 100)).save(tmp_path / "a.png")
    # not the first image
    Image.new("L", (8, 8)).save(tmp_path / "0.png")
    (note,) = open_samples(tmp_path).notes
    assert str(note) == (
        "Only the brightness of the images is used. Keep their colours with colour=True."
    )
    assert not open_samples(tmp_path, colour=True).notes
    Image.new("RGB", (8, 8), (100, 100, 100)).save(tmp_path / "a.png")
    assert not open_samples(tmp_path).notes


@pytest.mark.parametrize(
    ("ending", "depth"), [("jpg", np.uint8), ("png", np.uint8), ("png", np.uint16)]
)
def test_photographs_are_rotated_upright_without_resizing(tmp_path, ending, depth):
    pixels = np.zeros((20, 40), dtype=depth)
    pixels[:, :8] = np.iinfo(depth).max
    exif = Image.Exif()
    exif[0x0112] = 6  # to be rotated by 90 degrees clockwise
    Image.fromarray(pixels).save(tmp_path / f"a.{ending}", exif=exif)
    source = open_samples(tmp_path)
    assert source.shape == (40, 20)
    upright = source.read_all().reshape(40, 20)
    np.testing.assert_allclose(upright[:7], 1, atol=0.1)
    np.testing.assert_allclose(upright[9:], 0, atol=0.1)


@pytest.mark.parametrize("compression", ["raw", "tiff_lzw"])
def test_tiff_images_may_be_stored_rotated_by_180_but_not_by_90_degrees(tmp_path, compression):
    pixels = np.zeros((10, 20), dtype=np.uint8)
    pixels[:3] = 255
    image = Image.fromarray(pixels)
    image.save(tmp_path / "a.tif", tiffinfo={0x0112: 3}, compression=compression)
    upright = open_samples(tmp_path).read_all().reshape(10, 20)
    np.testing.assert_array_equal(upright, pixels[::-1] / 255)
    image.save(tmp_path / "a.tif", tiffinfo={0x0112: 6}, compression=compression)
    with pytest.raises(InputError, match=r"a\.tif is stored rotated by 90 degrees. Save it"):
        open_samples(tmp_path)


def test_transparent_pixels_are_white(tmp_path):
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).save(tmp_path / "a.png")
    np.testing.assert_array_equal(open_samples(tmp_path).read_all(), 1)


def test_resized_images_get_a_note(tmp_path):
    for side in (8, 9, 12):
        Image.new("L", (side, 8), 7).save(tmp_path / f"{side}.png")
    (note,) = open_samples(tmp_path).notes
    assert str(note) == (
        "Images have 3 different sizes (smallest 8 x 8, largest 8 x 12); all are resized to "
        "64 x 64. Choose another size with the parameter size."
    )
    assert not open_samples(tmp_path, size=(8, 8)).notes
    for path in tmp_path.iterdir():
        path.unlink()
    Image.new("L", (200, 100), 7).save(tmp_path / "a.png")
    (note,) = open_samples(tmp_path).notes
    assert str(note).startswith("Images of 100 x 200 pixels are resized to 64 x 64.")


def test_a_single_image_of_another_size_is_resized_to_the_common_size(tmp_path):
    for i in range(9):
        Image.new("L", (8, 6), 7).save(tmp_path / f"{i}.png")
    Image.new("L", (10, 12), 7).save(tmp_path / "other.png")
    source = open_samples(tmp_path)
    assert source.shape == (6, 8)
    assert "2 different sizes (smallest 6 x 8, largest 12 x 10); all are resized to 6 x 8" in str(
        source.notes[0]
    )
    assert source.read_all().shape == (10, 48)
    Image.new("L", (10, 12), 7).save(tmp_path / "second.png")
    assert open_samples(tmp_path).shape == (64, 64)


@pytest.mark.parametrize("content", [b"", b"no image", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"])
def test_damaged_images_are_named(digits, content):
    path = digits / "digit 7" / "bad.png"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.png"):
        open_samples(digits)
    with pytest.raises(InputError, match=r"bad\.png"):
        open_samples(digits, size=(8, 8)).read_all()


def test_truncated_images_are_named(digits):
    path = digits / "digit 7" / "1.png"
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(InputError, match=r"1\.png is damaged"):
        open_samples(digits).read_all()


def test_images_with_too_many_pixels_are_refused(digits):
    with pytest.raises(InputError, match="more than 700 pixels"):
        open_samples(digits, limits=ReaderLimits(max_pixels=700))
