"""Data sets: a sample of MNIST in the package, downloaded data sets, and generators."""

from invarlearn.datasets._fetch import (
    fetch_letters,
    fetch_mnist,
    fetch_spam,
    fetch_spoken_digits,
    fetch_ssl,
    fetch_uci,
    load_mnist_sample,
)
from invarlearn.datasets._make import make_two_moons, make_xperm, rotated, translated
from invarlearn.datasets._tidigits import load_tidigits
from invarlearn.datasets.files import DataError, DataFile, data_files, fetch_file

__all__ = [
    "DataError",
    "DataFile",
    "data_files",
    "fetch_file",
    "fetch_letters",
    "fetch_mnist",
    "fetch_spam",
    "fetch_spoken_digits",
    "fetch_ssl",
    "fetch_uci",
    "load_mnist_sample",
    "load_tidigits",
    "make_two_moons",
    "make_xperm",
    "rotated",
    "translated",
]
