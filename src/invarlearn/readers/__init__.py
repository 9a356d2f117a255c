"""Samples from files: folders of images and sounds, NPZ, CSV and Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from invarlearn.readers import images, sounds
from invarlearn.readers.arrays import read_csv, read_npz, read_parquet
from invarlearn.readers.base import ReadError, Source, class_folders, files_in
from invarlearn.readers.images import Images
from invarlearn.readers.sounds import Sounds

__all__ = ["Images", "ReadError", "Sounds", "Source", "open_samples"]

TABLES = {".csv": read_csv, ".parquet": read_parquet}


def open_samples(
    path: Path | str,
    like: dict[str, Any] | None = None,
    size: tuple[int, int] | None = None,
    colour: bool = False,
    rate: int = 8000,
    label: str | None = None,
    shape: tuple[int, ...] | None = None,
    groups: str | None = None,
    ignore: Sequence[str] = (),
) -> Source:
    """Open samples, whatever they are in.

    Parameters
    ----------
    path : path
        A folder of PNG, JPEG or TIFF images, or of WAV files, with a subfolder a class; an NPZ file
        with X and y; a table in CSV or Parquet, with names of columns.
    like : dict, optional
        Settings of another source: samples are read as those were.
    size, colour : optional
        Of images: (height, width) that they are resized to, and whether colours are kept.
    rate : int, default=8000
        Of sounds: samples a second.
    label : str, optional
        Of tables: the column with the class. None: one called label, class, target or y.
    shape : tuple, optional
        Of tables and arrays: (height, width) or (height, width, channels) of a row.
    groups : str, optional
        What says the slide, patient or speaker of a sample. Of tables a column, of NPZ files an
        array (None: ``groups``, if it is there), of folders a regular expression for names.
    ignore : sequence of str
        Of tables: columns that are left out.

    Returns
    -------
    Source

    Raises
    ------
    ReadError
        If something cannot be read; it names the file and says what to do.
    """
    path = Path(path)
    if not path.exists():
        raise ReadError(f"{path} does not exist")
    if ignore and path.suffix.lower() not in TABLES:
        raise ReadError(f"{path} is no table: --ignore is for columns")
    source = _opened(path, like or {}, size, colour, rate, label, shape, groups, list(ignore))
    source.settings["n_features"] = source.n_features
    if like is not None:
        _check_alike(path, source, like)
    return source


def _opened(
    path: Path,
    like: dict[str, Any],
    size: tuple[int, int] | None,
    colour: bool,
    rate: int,
    label: str | None,
    shape: tuple[int, ...] | None,
    groups: str | None,
    ignore: list[str],
) -> Source:
    if path.is_dir():
        kind = like.get("kind") or _kind_of(path)
        if kind == "images":
            known = like.get("size")
            size = size if known is None else (int(known[0]), int(known[1]))
            files: Images | Sounds = Images(path, size, bool(like.get("colour", colour)))
        elif kind == "sounds":
            names = ("rate", "n_bins", "n_frames")
            files = Sounds(
                path, **{name: int(like[name]) for name in names} if like else {"rate": rate}
            )
        else:
            raise ReadError(
                f"{path} is a folder, and the model was trained with a table or an array"
            )
        if groups is not None:
            files.group_by(groups)
        return files
    ending = path.suffix.lower()
    if like.get("shape"):
        shape = tuple(map(int, like["shape"]))
    if ending == ".npz":
        return read_npz(path, shape, like, groups)
    if ending in TABLES:
        # a model that was trained with something else needs no classes of a table
        wanted = (like.get("label", label), like.get("columns"))
        return TABLES[ending](path, *wanted, shape, not like, groups, ignore)
    raise ReadError(
        f"{path}: {ending or 'a file without ending'} is not understood; pass a folder of images "
        "or of WAV files, or a .npz, .csv or .parquet file"
    )


def _kind_of(folder: Path) -> str:
    """Say what a folder has more of: images or sounds."""
    folders = [folder, *class_folders(folder)]
    counts = {
        kind: sum(len(files_in(one, endings)) for one in folders)
        for kind, endings in (("images", images.ENDINGS), ("sounds", sounds.ENDINGS))
    }
    if all(counts.values()):
        raise ReadError(f"{folder} has both images and sounds in it: use a folder for each")
    if not any(counts.values()):
        raise ReadError(f"{folder} has no PNG, JPEG or TIFF images and no WAV files in it")
    return max(counts, key=lambda kind: counts[kind])


def _check_alike(path: Path, source: Source, like: dict[str, Any]) -> None:
    """Say so if rows are not as long as those of another source."""
    if like.get("n_features", source.n_features) != source.n_features:
        raise ReadError(
            f"{path}: rows have {source.n_features} numbers, and those that the model was trained "
            f"with have {like['n_features']}: prepare both in the same way"
        )
