"""Data: a sample inside the package, fetched sets, and makers."""

from invarlearn.datasets._fetch import (
    fetch_letters,
    fetch_mnist,
    fetch_spam,
    fetch_spoken_digits,
    fetch_ssl,
    fetch_uci,
    load_mnist_sample,
)
from invarlearn.datasets._files import DataError
from invarlearn.datasets._make import make_two_moons, make_xperm, rotated, translated
from invarlearn.datasets._tidigits import load_tidigits

__all__ = [
    "DataError",
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
