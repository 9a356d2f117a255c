"""Folders of images, a subfolder a class."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from invarlearn.readers.base import Files, ReadError

ENDINGS = (".png", ".jpg", ".jpeg")
FORMATS = ("PNG", "JPEG")
ORIENTATION = 0x0112  # the tag that says how a photograph is turned
# Images of one size are taken as they are up to this side, others brought to a square.
LARGEST, SQUARE = 96, 64
# Of larger images nobody needs all pixels, and a small file can claim any number of them.
MOST_PIXELS = 50_000_000


class Images(Files):
    """PNG and JPEG files of a folder.

    Parameters
    ----------
    folder : path
        With a subfolder a class, or with the files themselves, which then have no class.
    size : tuple (height, width), optional
        What images are resized to. None: their own size if that is one and small, otherwise a
        square of 64 pixels.
    colour : bool, default=False
        Whether colours are kept.
    """

    kind = "images"

    def __init__(self, folder: Path, size: tuple[int, int] | None = None, colour: bool = False):
        super().__init__(folder, ENDINGS)
        height, width = self._common_size() if size is None else size
        self.shape = (height, width, 3) if colour else (height, width)
        self.settings = {"kind": self.kind, "size": [height, width], "colour": colour}

    def _row(self, path: Path) -> NDArray[np.float32]:
        """Give the brightness of the pixels."""
        return _pixels(path, self.shape)

    def _common_size(self) -> tuple[int, int]:
        sizes = Counter(_upright_size(path) for path in self.paths)
        (width, height), _ = sizes.most_common(1)[0]
        if len(sizes) == 1 and max(width, height) <= LARGEST:
            return height, width
        why = "have different sizes" if len(sizes) > 1 else "are large"
        self.note = f"images {why}: they are brought to {SQUARE}x{SQUARE}, or to --size"
        return SQUARE, SQUARE


def _upright_size(path: Path) -> tuple[int, int]:
    """Give width and height of an image when it is turned as its file says."""
    image = _opened(path)
    try:
        turned = image.getexif().get(ORIENTATION) in (5, 6, 7, 8)
    except Exception as error:  # a damaged header can fail anywhere in the decoder
        raise _damaged(path, error) from None
    return (image.height, image.width) if turned else image.size


def _opened(path: Path) -> Image.Image:
    """Open an image; its pixels are not read yet."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(path, formats=FORMATS)
    except Image.DecompressionBombError:
        raise _too_large(path) from None
    except OSError as error:
        raise ReadError(f"{path} is no PNG or JPEG image: {_reason(error)}; remove it") from None
    except Exception as error:  # a damaged header can fail anywhere in the decoder
        raise _damaged(path, error) from None
    if image.width * image.height > MOST_PIXELS:
        raise _too_large(path)
    return image


def _pixels(path: Path, shape: Any) -> NDArray[np.float32]:
    """Read an image, turned upright, in the wanted size: brightness from 0 to 1."""
    image = _opened(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image.load()
            image = _eight_bits(ImageOps.exif_transpose(image))
            image = image.convert("RGB" if len(shape) == 3 else "L")
            image = image.resize((shape[1], shape[0]), Image.Resampling.BILINEAR, reducing_gap=3.0)
            return np.asarray(image, dtype=np.float32) / np.float32(255)
    except Exception as error:  # a damaged file can fail anywhere in the decoder
        raise _damaged(path, error) from None


def _eight_bits(image: Image.Image) -> Image.Image:
    """Bring images of more depth, or with something transparent, to plain pixels."""
    if image.mode.startswith("I"):
        # 16 bits, as microscopes and scanners write them: no PNG or JPEG has more
        values = np.asarray(image, dtype=float).clip(0, 65535)
        return Image.fromarray(np.round(values * (255 / 65535)).astype(np.uint8))
    if image.has_transparency_data:
        # what is transparent is paper
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image


def _too_large(path: Path) -> ReadError:
    return ReadError(f"{path} has more than {MOST_PIXELS:,} pixels: make it smaller, or remove it")


def _damaged(path: Path, error: Exception) -> ReadError:
    return ReadError(f"{path} is damaged: {_reason(error)}; replace or remove it")


def _reason(error: Exception) -> str:
    """Give what an error says, without the name of the file, which is said already."""
    text = str(error).partition(": '")[0].partition("'/")[0].strip()
    return text or type(error).__name__
