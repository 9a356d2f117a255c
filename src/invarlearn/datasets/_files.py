"""Where data files come from, and that they are what they should be.

A file is looked for in the folder that INVARLEARN_DATA names, then in the cache, then downloaded.
Wherever it comes from, it is used only if its sha256 is right.
"""

from __future__ import annotations

import hashlib
import os
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

# Releases of the project hold the files; INVARLEARN_DATA_URL names another place.
DATA_URL = "https://github.com/invarlearn/invarlearn/releases/download/data-v1/"

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
    """A data file is missing, damaged or out of reach; the message says what to do."""


def locate(name: str) -> Path:
    """Give the path of a verified data file, downloading it if need be.

    Raises
    ------
    DataError
        If the file is damaged, or cannot be had.
    """
    folder = data_folder()
    if folder is not None and (folder / name).exists():
        verify(folder / name, SHA256[name])
        return folder / name
    return download(name)


def data_folder() -> Path | None:
    """Give the folder that INVARLEARN_DATA names, if it names one."""
    name = os.environ.get("INVARLEARN_DATA")
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise DataError(f"INVARLEARN_DATA={name} is not a folder: correct the name, or unset it")
    return folder


def verify(path: Path, sha256: str) -> None:
    """Raise a DataError unless the file has this sha256."""
    if not path.is_file():
        raise DataError(f"{path} should be a file: move what is there out of the way")
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise DataError(
            f"{path} is damaged or cut short: its sha256 is {found[:12]}..., not {sha256[:12]}... "
            f"({path.stat().st_size:,} bytes were read). Nothing was loaded. Delete the file so "
            "that it is downloaded again, or copy it anew."
        )


def download(name: str) -> Path:
    """Give the cached file, downloaded first if it is not there or is damaged."""
    import pooch

    store = pooch.create(
        path=cache_folder(),
        base_url=os.environ.get("INVARLEARN_DATA_URL", DATA_URL).rstrip("/") + "/",
        registry={name: f"sha256:{SHA256[name]}"},
        retry_if_failed=1,
    )
    try:
        return Path(store.fetch(name, downloader=pooch.HTTPDownloader(timeout=30)))
    except Exception as error:
        # requests, urllib3, sockets and pooch's own check each raise a kind of their own
        raise DataError(
            f"{name} could not be downloaded from {store.get_url(name)} "
            f"({type(error).__name__}: {error}). Nothing was loaded. Set INVARLEARN_DATA to a "
            "folder that holds the file, or INVARLEARN_DATA_URL to a server that does."
        ) from error


def cache_folder() -> Path:
    """Give the folder of downloaded files: INVARLEARN_CACHE, or the system's cache."""
    import pooch

    return Path(os.environ.get("INVARLEARN_CACHE") or pooch.os_cache("invarlearn")).expanduser()


def load_arrays(path: Path) -> dict[str, NDArray]:
    """Read all arrays of an .npz file, without pickles."""
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def choose(name: str, known: list[str], what: str) -> str:
    """Give the name back, or say which there are."""
    if name not in known:
        near = get_close_matches(str(name).lower(), known, n=1)
        meant = f"did you mean {near[0]!r}? or " if near else ""
        raise ValueError(f"{what} {name!r} is unknown: {meant}choose one of {', '.join(known)}")
    return name
