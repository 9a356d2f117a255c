"""Folders of images, a subfolder a class."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from invarlearn.readers.base import Files, ReadError

ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
FORMATS = ("PNG", "JPEG", "TIFF")
# The tag that says how a photograph is turned, and when by 90 degrees.
ORIENTATION, TURNED = 0x0112, (5, 6, 7, 8)
# A size that so many have is taken up to this side; others are brought to a square.
NEARLY_ALL, LARGEST, SQUARE = 0.9, 96, 64
# Channels of grey pixels differ by less, which is looked for in so many images.
_GREY, _LOOKED_AT = 0.1, 5
# What a TIFF file says of itself.
BITS, KIND, PLANES = 258, 262, 284
WHITE_IS_ZERO, SEPARATE = 0, 2
# Of larger images nobody needs all pixels, and a small file can claim any number of them.
MOST_PIXELS = 50_000_000


class Images(Files):
    """PNG, JPEG and TIFF files of a folder.

    Parameters
    ----------
    folder : path
        With a subfolder a class, or with the files themselves, which then have no class.
    size : tuple (height, width), optional
        What images are resized to. None: the size that nine of ten have, if that is small, and
        otherwise a square of 64 pixels.
    colour : bool, default=False
        Whether colours are kept.
    """

    kind = "images"

    def __init__(self, folder: Path, size: tuple[int, int] | None = None, colour: bool = False):
        super().__init__(folder, ENDINGS)
        notes: list[str] = []
        height, width = self._common_size(notes) if size is None else size
        if not colour and any(map(_has_colours, self.paths[:: 1 + len(self.paths) // _LOOKED_AT])):
            notes.append("of colours only the brightness is taken; --colour keeps them")
        self.note = "; ".join(notes)
        self.shape = (height, width, 3) if colour else (height, width)
        self.settings = {"kind": self.kind, "size": [height, width], "colour": colour}

    def _row(self, path: Path) -> NDArray[np.float32]:
        """Give the brightness of the pixels."""
        return _pixels(path, self.shape)

    def _common_size(self, notes: list[str]) -> tuple[int, int]:
        """Give the height and width that nearly all have, if small, and otherwise a square's."""
        sizes = [_upright_size(path)[::-1] for path in self.paths]
        common, count = Counter(sizes).most_common(1)[0]
        usual = max(common) <= LARGEST and count >= NEARLY_ALL * len(sizes)
        size = common if usual else (SQUARE, SQUARE)
        if count < len(sizes):
            other = next(i for i, one in enumerate(sizes) if one != common)
            told = f"{count} of {_by(common)}, but {self.names[other]} of {_by(sizes[other])}"
            notes.append(
                f"images have different sizes, {told}: they are brought to {_by(size)}, or to "
                "--size"
            )
        elif not usual:
            notes.append(f"images are large: they are brought to {_by(size)}, or to --size")
        return size


def _by(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def _upright_size(path: Path) -> tuple[int, int]:
    """Give width and height of an image when it is turned as its file says."""
    image = _opened(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            turned = image.getexif().get(ORIENTATION) in TURNED
    except Exception as error:  # a damaged header can fail anywhere in the decoder
        raise _damaged(path, error) from None
    return (image.height, image.width) if turned else image.size


def _tags(image: Image.Image) -> Mapping[int, Any]:
    """Give what a TIFF file says of itself, and nothing of others."""
    return dict(image.tag_v2) if image.format == "TIFF" else {}  # type: ignore[attr-defined]


def _opened(path: Path) -> Image.Image:
    """Open an image; its pixels are not read yet."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(path, formats=FORMATS)
            # some photographs have a second image, a small one
            pages = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
    except Image.DecompressionBombError:
        raise _too_large(path) from None
    except OSError as error:
        raise ReadError(
            f"{path} is no PNG, JPEG or TIFF image that can be read: {_reason(error)}; save it in "
            "another way, or remove it"
        ) from None
    except Exception as error:  # a damaged header can fail anywhere in the decoder
        raise _damaged(path, error) from None
    if pages > 1:
        raise ReadError(f"{path} has {pages} pages: save each as an image of its own")
    if image.width * image.height > MOST_PIXELS:
        raise _too_large(path)
    return image


def _pixels(path: Path, shape: Any) -> NDArray[np.float32]:
    """Read an image, turned upright, in the wanted size: brightness from 0 to 1."""
    image = _opened(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tags = _tags(image)
            # what Pillow reads wrongly
            if tags.get(PLANES) == SEPARATE and max(tags[BITS]) > 8:
                raise _Refused("has colours of 16 bits in separate planes: save them together")
            if tags.get(ORIENTATION) in TURNED:
                raise _Refused("is to be turned by 90 degrees: save it upright")
            image.load()
            image = ImageOps.exif_transpose(image)
            if image.mode[0] in "IF":
                image = _deep(image, tags)
                top = 1.0
            else:
                image = _on_paper(image).convert("RGB" if len(shape) == 3 else "L")
                top = 255.0
            image = image.resize((shape[1], shape[0]), Image.Resampling.BILINEAR, reducing_gap=3.0)
            pixels = np.asarray(image, dtype=np.float32) / np.float32(top)
    except _Refused as error:
        raise ReadError(f"{path} {error}") from None
    except Exception as error:  # a damaged file can fail anywhere in the decoder
        raise _damaged(path, error) from None
    return pixels if pixels.ndim == len(shape) else np.repeat(pixels[:, :, None], 3, axis=2)


class _Refused(Exception):
    """Why an image that is whole is not read."""


def _deep(image: Image.Image, tags: Mapping[int, Any]) -> Image.Image:
    """Bring grey images of 12 or 16 bits, as microscopes and scanners write them, or of numbers."""
    values = np.asarray(image, dtype=np.float32)
    top = 1 if image.mode == "F" else 4095 if tags.get(BITS) == (12,) else 65535
    if not (values.min() >= 0 and values.max() <= top):
        raise _Refused(
            f"has pixels that are not from 0 to {top}: bring its numbers to 0 to 1, or to 16 bits"
        )
    values = values / np.float32(top)
    return Image.fromarray(1 - values if tags.get(KIND) == WHITE_IS_ZERO else values)


def _on_paper(image: Image.Image) -> Image.Image:
    """Put what is transparent on white."""
    if not image.has_transparency_data:
        return image
    image = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)


def _has_colours(path: Path) -> bool:
    """Say whether an image has pixels that are not grey."""
    pixels = _pixels(path, (SQUARE, SQUARE, 3))
    # what is stored with loss is never quite grey
    return bool(np.ptp(pixels, axis=2).max() > _GREY)


def _too_large(path: Path) -> ReadError:
    return ReadError(f"{path} has more than {MOST_PIXELS:,} pixels: make it smaller, or remove it")


def _damaged(path: Path, error: Exception) -> ReadError:
    return ReadError(f"{path} is damaged: {_reason(error)}; replace or remove it")


def _reason(error: Exception) -> str:
    """Give what an error says, without the name of the file, which is said already."""
    text = str(error).partition(": '")[0].partition("'/")[0].strip()
    return text or type(error).__name__
