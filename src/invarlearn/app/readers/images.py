"""Folders of images, with a subfolder for each class."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from invarlearn.app.messages import InputError, Message, Setting
from invarlearn.app.readers.base import Files, ReaderLimits, ReadOptions, are_counts
from invarlearn.transforms.domains import BAG, IMAGE, POLAR_IMAGE, ROWS

FORMATS = ("PNG", "JPEG", "TIFF")
# The EXIF tag of the orientation of a photograph, and its values for rotations by 90 degrees.
ORIENTATION, ROTATED = 0x0112, (5, 6, 7, 8)
# TIFF tags: bits per sample, photometric interpretation, planar configuration; and two values.
BITS, INTERPRETATION, PLANES = 258, 262, 284
WHITE_IS_ZERO, SEPARATE = 0, 2
# Largest pixel value of grey images of 12 or 16 bits. Floating-point pixels are at most 1.
MAX_12_BITS, MAX_16_BITS = 4095, 65535


class Images(Files):
    """PNG, JPEG and TIFF images in a folder.

    Parameters
    ----------
    folder : path
        A folder with a subfolder for each class, or a folder of images without classes.
    size : tuple (height, width), optional
        Size that images are resized to. None: the size of most images, if it is not large, and
        otherwise a square (see :class:`ReaderLimits`).
    colour : bool, default=False
        Whether to keep colours.
    limits : ReaderLimits, optional
    """

    kind = "images"
    domains = (IMAGE, POLAR_IMAGE, BAG, ROWS)
    suffixes = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
    formats = "PNG, JPEG or TIFF images"

    def __init__(
        self,
        folder: Path,
        size: tuple[int, int] | None = None,
        colour: bool = False,
        limits: ReaderLimits | None = None,
    ):
        super().__init__(folder, limits or ReaderLimits())
        height, width = self._common_size() if size is None else size
        if not colour and self._have_colours():
            self.notes.append(
                Message(
                    "Only the brightness of the images is used. Keep their colours with ",
                    Setting("colour", True),
                    ".",
                )
            )
        self.shape = (height, width, 3) if colour else (height, width)
        self.settings = {
            "kind": self.kind,
            "size": [height, width],
            "colour": colour,
            "n_features": self.n_features,
        }

    @classmethod
    def open(cls, folder: Path, options: ReadOptions, settings: dict[str, Any]) -> Self:
        """Open a folder; ``settings`` of another source take precedence over options."""
        size = options.size
        if "size" in settings:
            size = (int(settings["size"][0]), int(settings["size"][1]))
        return cls(folder, size, bool(settings.get("colour", options.colour)), options.limits)

    @classmethod
    def accepts_settings(cls, settings: dict[str, Any]) -> bool:
        """Return whether settings, which may be forged, have a size."""
        size = settings.get("size")
        has_size = isinstance(size, list) and len(size) == 2 and are_counts(*size)
        return has_size and super().accepts_settings(settings)

    def decode(self, path: Path) -> NDArray[np.float32]:
        """Return the pixels of an image, with values from 0 to 1."""
        assert self.shape is not None
        return _pixels(path, self.shape, self.limits)

    def _common_size(self) -> tuple[int, int]:
        """Return the default height and width, and add a note if images are resized."""
        limits = self.limits
        sizes = [_upright_size(path, limits)[::-1] for path in self.paths]
        common, count = Counter(sizes).most_common(1)[0]
        is_small = max(common) <= limits.large_side
        is_usable = is_small and count >= limits.common_share * len(sizes)
        size = common if is_usable else (limits.square_side, limits.square_side)
        by_area = sorted(set(sizes), key=lambda sides: (sides[0] * sides[1], sides))
        if len(by_area) > 1:
            text = (
                f"Images have {len(by_area)} different sizes (smallest {_size_text(by_area[0])}, "
                f"largest {_size_text(by_area[-1])}); all are resized to {_size_text(size)}."
            )
        elif not is_usable:
            text = f"Images of {_size_text(common)} pixels are resized to {_size_text(size)}."
        else:
            return size
        self.notes.append(Message(f"{text} Choose another size with ", Setting("size"), "."))
        return size

    def _have_colours(self) -> bool:
        """Return whether an image has colours, among a few at equal distances in the list."""
        step = 1 + len(self.paths) // self.limits.n_colour_checks
        return any(_has_colours(path, self.limits) for path in self.paths[::step])


def _size_text(size: tuple[int, int]) -> str:
    """Return a size as text, such as "28 x 28"."""
    return f"{size[0]} x {size[1]}"


def _upright_size(path: Path, limits: ReaderLimits) -> tuple[int, int]:
    """Return the width and height of an image, rotated as its EXIF orientation states."""
    image = _open_image(path, limits)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            is_rotated = image.getexif().get(ORIENTATION) in ROTATED
    except Exception as error:  # a damaged header can fail anywhere in the decoder
        raise _damaged(path, error) from None
    return (image.height, image.width) if is_rotated else image.size


def _tags(image: Image.Image) -> Mapping[int, Any]:
    """Return the tags of a TIFF image, and an empty dict for other formats."""
    return dict(image.tag_v2) if image.format == "TIFF" else {}  # type: ignore[attr-defined]


def _open_image(path: Path, limits: ReaderLimits) -> Image.Image:
    """Open an image without reading its pixels, and check its size."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(path, formats=FORMATS)
            # JPEG files of some cameras have a preview as a second image
            n_pages = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
    except Image.DecompressionBombError:
        raise _too_large(path, limits) from None
    except OSError as error:
        raise InputError(
            f"{path} cannot be read as a PNG, JPEG or TIFF image: {_reason(error)}. Save it in "
            "another format or remove it."
        ) from None
    except Exception as error:  # a damaged header can fail anywhere in the decoder
        raise _damaged(path, error) from None
    if n_pages > 1:
        raise InputError(f"{path} has {n_pages} pages. Save each page as a separate image.")
    if image.width * image.height > limits.max_pixels:
        raise _too_large(path, limits)
    return image


def _pixels(path: Path, shape: tuple[int, ...], limits: ReaderLimits) -> NDArray[np.float32]:
    """Return the pixels of an image, upright and resized, with values from 0 to 1."""
    image = _open_image(path, limits)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tags = _tags(image)
            # Pillow decodes the following two kinds of images incorrectly
            if tags.get(PLANES) == SEPARATE and max(tags[BITS]) > 8:
                raise _Refused(
                    "has colours of 16 bits in separate planes. Save it with interleaved colours."
                )
            if tags.get(ORIENTATION) in ROTATED:
                raise _Refused("is stored rotated by 90 degrees. Save it upright.")
            image.load()
            image = ImageOps.exif_transpose(image)
            if image.mode[0] in "IF":
                image = _high_depth_image(image, tags)
                max_value = 1.0
            else:
                image = _on_white(image).convert("RGB" if len(shape) == 3 else "L")
                max_value = 255.0
            image = image.resize((shape[1], shape[0]), Image.Resampling.BILINEAR, reducing_gap=3.0)
            pixels = np.asarray(image, dtype=np.float32) / np.float32(max_value)
    except _Refused as error:
        raise InputError(f"{path} {error}") from None
    except Exception as error:  # a damaged file can fail anywhere in the decoder
        raise _damaged(path, error) from None
    return pixels if pixels.ndim == len(shape) else np.repeat(pixels[:, :, None], 3, axis=2)


class _Refused(Exception):
    """Error for an undamaged image that cannot be used, with the reason."""


def _high_depth_image(image: Image.Image, tags: Mapping[int, Any]) -> Image.Image:
    """Return a grey image of 12 bits, 16 bits or floats with values from 0 to 1."""
    values = np.asarray(image, dtype=np.float32)
    if image.mode == "F":
        max_value = 1
    else:
        max_value = MAX_12_BITS if tags.get(BITS) == (12,) else MAX_16_BITS
    if not (values.min() >= 0 and values.max() <= max_value):
        raise _Refused(
            f"has pixels outside the range from 0 to {max_value}. Rescale them to floats from 0 "
            "to 1, or to 16 bits."
        )
    values = values / np.float32(max_value)
    return Image.fromarray(1 - values if tags.get(INTERPRETATION) == WHITE_IS_ZERO else values)


def _on_white(image: Image.Image) -> Image.Image:
    """Return an image with transparent pixels replaced by white."""
    if not image.has_transparency_data:
        return image
    image = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)


def _has_colours(path: Path, limits: ReaderLimits) -> bool:
    """Return whether an image has pixels that are not grey."""
    pixels = _pixels(path, (limits.square_side, limits.square_side, 3), limits)
    return bool(np.ptp(pixels, axis=2).max() > limits.grey_range)


def _too_large(path: Path, limits: ReaderLimits) -> InputError:
    return InputError(
        f"{path} has more than {limits.max_pixels:,} pixels. Make it smaller or remove it."
    )


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"{path} is damaged: {_reason(error)}. Replace or remove it.")


def _reason(error: Exception) -> str:
    """Return the text of an error without the file name, which the message has anyway."""
    text = str(error).partition(": '")[0].partition("'/")[0].strip()
    return text or type(error).__name__
