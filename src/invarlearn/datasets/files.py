"""Data files: folders, downloads and checksums.

A file is looked up in the folder that the environment variable ``INVARLEARN_DATA`` names, then in
the cache (``INVARLEARN_CACHE``), and downloaded otherwise. Its sha256 is verified before each use.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.validation import check_choice

# The server of the files, unless the environment variable INVARLEARN_DATA_URL names another one.
DATA_URL = "https://github.com/invarlearn/invarlearn/releases/download/data-v1/"

# The files of this library and their sha256.
SHA256 = {
    "audiomnist_8k.npz": "a28a3af73647177aad61444a498dabc73baf4ffc0fb00ac724e49732785fd6bd",
    "ecml06_task_a_users.npz": "6992aa307c678beffea2b633d9b6f22458f09a2f9bd410dd4b4982943b34de70",
    "ecml06_task_b.npz": "82060fe80453284710d6e48ea406949045c7b51349b9bd93fdf5cfb09c29cad9",
    "mnist.npz": "d2fc8bab397b964798b4c839bd1e705e10a4bb65f4d56a88002229d145796751",
    "nist_letters_subset_28.npz": (
        "c5c255e5b6c0c320946ac330ff83d13e350e0ca568e896ff510e587aef4f4cec"
    ),
    "ssl_bci.npz": "287c8c444a75dd45aa029341303fb2f8a293deba41827f05cabf884fcbbe79a0",
    "ssl_digit1.npz": "7b3d84cbdef5afe8e445316bd5cc05e9748240fd5f84d5c43cb8af7f608e9042",
    "ssl_g241c.npz": "3ff832a3f7b86b0b339de2b1624f20a7b7693b0318c0fc0b83a362edc828b3cb",
    "ssl_g241n.npz": "fcdbbde4ce05ca4a4eac9c59898579f5e063070e557a8fc6a13469373194a61c",
    "ssl_text.npz": "28125cbbbc9ba5792b41e39db07a04e8ace4d1747dca5ce5265b7a51cdf1fe2a",
    "ssl_usps.npz": "c76c6a9551b45d7c19952252cf7cecd010704ced3ad8ee7a2582d9445d23b787",
    "uci_australian.csv": "55490e28adda7d88bf1e9da47a0c5776366711ab0117382c0f71bc5042210cde",
    "uci_bupa.csv": "e19cb3547bb2d43be41fa24e2be8b51cb6c8772252e257b743338f5771217a5e",
    "uci_heart.csv": "b416971df986a10ad7530b4c9093266fca61a1d4f98e53b347e9aee2cbe0dac2",
    "uci_ionosphere.csv": "c3c36b692d178f83a1dc212112fa2c703a8b236a60b7146bf969e43b19efd3e1",
    "uci_sonar.csv": "44708832eef6ecbbffb2f00c8a799fcc8e88d3a0bd49bda8542e11c3e6d2152e",
}


class DataError(OSError):
    """A data file is missing, damaged or cannot be downloaded; the message says what to do."""


@dataclass(frozen=True)
class DataFile:
    """The state of one data file on this machine.

    Attributes
    ----------
    name : str
        Name of the file.
    state : {"whole", "damaged", "missing"}
        "whole": the sha256 is as expected. "damaged": it is not. "missing": the file is in neither
        folder; :func:`fetch_file` downloads it.
    source : {"INVARLEARN_DATA", "cache", ""}
        Folder that contains the file; empty if the file is missing.
    path : Path or None
        Path of the file; None if it is missing.
    """

    name: str
    state: str
    source: str = ""
    path: Path | None = None


def data_files(checksums: Mapping[str, str] = SHA256) -> list[DataFile]:
    """Return the state of every data file, without downloading any.

    Parameters
    ----------
    checksums : dict from str to str
        Names of files, and the sha256 of each. The default is the files of this library.

    Returns
    -------
    list of DataFile
        In alphabetical order.
    """
    folders = {"INVARLEARN_DATA": data_folder(), "cache": cache_folder()}
    return [_data_file(name, checksums[name], folders) for name in sorted(checksums)]


def _data_file(name: str, sha256: str, folders: dict[str, Path | None]) -> DataFile:
    for source, folder in folders.items():
        if folder is None or not (folder / name).exists():
            continue
        try:
            verify(folder / name, sha256)
        except DataError:
            return DataFile(name, "damaged", source, folder / name)
        return DataFile(name, "whole", source, folder / name)
    return DataFile(name, "missing")


def fetch_file(name: str, checksums: Mapping[str, str] = SHA256) -> Path:
    """Return the path of a verified data file, and download the file if it is missing.

    Parameters
    ----------
    name : str
        Such as "mnist.npz"; :func:`data_files` lists all names.
    checksums : dict from str to str
        Names of files, and the sha256 of each. The default is the files of this library.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If no data file has this name.
    DataError
        If the file is damaged or cannot be downloaded.
    """
    check_choice(name, list(checksums), "name")
    folder = data_folder()
    if folder is not None and (folder / name).exists():
        verify(folder / name, checksums[name])
        return folder / name
    return download(name, checksums[name])


def data_folder() -> Path | None:
    """Return the folder that ``INVARLEARN_DATA`` names; None if the variable is not set."""
    name = os.environ.get("INVARLEARN_DATA")
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise DataError(
            f"INVARLEARN_DATA={name} is not a folder: set it to a folder that exists, or unset it"
        )
    return folder


def verify(path: Path, sha256: str) -> None:
    """Raise a DataError unless the file has this sha256."""
    if not path.is_file():
        raise DataError(f"{path} should be a file, but is a folder: rename or remove the folder")
    with open(path, "rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual != sha256:
        raise DataError(
            f"{path} is damaged or cut short: its sha256 is {actual[:12]}..., not {sha256[:12]}... "
            f"({path.stat().st_size:,} bytes were read). Nothing was loaded. Delete the file so "
            "that it is downloaded again, or copy it again."
        )


def download(name: str, sha256: str) -> Path:
    """Return the path of the cached file; download it first if it is missing or damaged."""
    import pooch

    store = pooch.create(
        path=cache_folder(),
        base_url=os.environ.get("INVARLEARN_DATA_URL", DATA_URL).rstrip("/") + "/",
        registry={name: f"sha256:{sha256}"},
        retry_if_failed=1,
    )
    try:
        return Path(store.fetch(name, downloader=pooch.HTTPDownloader(timeout=30)))
    except Exception as error:
        # requests, urllib3, sockets and pooch's test of the checksum raise different exceptions
        raise DataError(
            f"{name} could not be downloaded from {store.get_url(name)} "
            f"({type(error).__name__}: {error}). Nothing was loaded. Set INVARLEARN_DATA to a "
            "folder that holds the file, or INVARLEARN_DATA_URL to a server that does."
        ) from error


def cache_folder() -> Path:
    """Return the folder of downloaded files: ``INVARLEARN_CACHE``, or the system's cache."""
    import pooch

    return Path(os.environ.get("INVARLEARN_CACHE") or pooch.os_cache("invarlearn")).expanduser()


def load_arrays(path: Path) -> dict[str, NDArray]:
    """Return all arrays of an .npz file, read without pickles."""
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file.files}
