"""Classes of strings whose characters may be edited, with an exact worst edit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from invarlearn._utils.validation import check_number
from invarlearn.oracles.structured import StructuredProblem

__all__ = ["EditedStrings"]

# Markers of the beginning and the end of a string, in n-grams.
START, END = "\x02", "\x03"


@dataclass(frozen=True)
class _Path:
    """The best string so far that ends with some characters: its score, and how to spell it."""

    score: float
    last: str
    previous: _Path | None


# Best paths by their last characters and the number of edits.
_Paths = dict[tuple[str, int], _Path]


class EditedStrings(StructuredProblem):
    """Classification of strings, up to ``budget`` of whose characters may be edited.

    The score of a class for a string is linear in the counts of its character n-grams. An edit
    substitutes, inserts or deletes one character, such as "Viagra" to "V1agra" or "Viag.ra" (Teo et
    al., 2007, section 2.1). The training loss is that of the worst edited string. Dynamic
    programming finds it: the state is the position, the last ``width - 1`` characters of the edited
    string, and the number of edits. Its time grows linearly with the length of the string. Pass
    the problem to :func:`~invarlearn.estimators.structured.fit_structured`.

    Parameters
    ----------
    n_classes : int
        Number of classes; classes are numbers from 0.
    substitutions : mapping of str to str, optional
        For a character, those that may replace it: ``{"i": "1l!"}``. None: no substitutions.
    insertions : str, default=""
        Characters that may be inserted anywhere, such as ".-".
    deletions : str, default=""
        Characters that may be deleted.
    budget : int, default=1
        Largest number of edits. 0: no edits, a multiclass SVM.
    width : int, default=3
        Number of characters of an n-gram. Strings begin and end with ``width - 1`` markers.
    n_buckets : int, default=4096
        Number of features of a class. n-grams are hashed to them.

    Examples
    --------
    >>> from invarlearn.estimators.structured import fit_structured
    >>> sorted(EditedStrings(2, {"i": "1"}, insertions=".").edited("hi"))
    ['.hi', 'h.i', 'h1', 'hi', 'hi.']
    >>> problem = EditedStrings(2, {"i": "1", "a": "@"}, insertions=".", budget=2)
    >>> words, classes = ["viagra", "casino", "meeting", "agenda"], [1, 1, 0, 0]
    >>> model = fit_structured(problem, words, classes, lam=0.1)
    >>> model.predict(["v1agra", "c@s.ino", "agenda"])
    [1, 1, 0]
    """

    def __init__(
        self,
        n_classes: int,
        substitutions: Mapping[str, str] | None = None,
        insertions: str = "",
        deletions: str = "",
        budget: int = 1,
        width: int = 3,
        n_buckets: int = 4096,
    ):
        self.n_classes = int(check_number(n_classes, "n_classes", low=2, whole=True))
        self.substitutions = dict(substitutions or {})
        self.insertions = insertions
        self.deletions = deletions
        self.budget = int(check_number(budget, "budget", low=0, whole=True))
        self.width = int(check_number(width, "width", low=1, whole=True))
        self.n_buckets = int(check_number(n_buckets, "n_buckets", low=1, whole=True))
        check_characters("substitutions", self.substitutions)
        for character, others in self.substitutions.items():
            check_characters(f"substitutions[{character!r}]", others)
        check_characters("insertions", insertions)
        check_characters("deletions", deletions)

    @property
    def n_features(self) -> int:
        return self.n_classes * self.n_buckets

    def counts(self, x: str) -> NDArray[np.float64]:
        """Return the counts of the n-grams of a string, by their buckets: (n_buckets,)."""
        if not isinstance(x, str):
            raise TypeError(f"inputs must be strings, not {x!r:.100}")
        padding = self.width - 1
        text = START * padding + x + END * padding
        grams = (text[k : k + self.width] for k in range(len(text) - padding))
        buckets = [bucket_of(gram, self.n_buckets) for gram in grams]
        return np.bincount(buckets, minlength=self.n_buckets).astype(float)

    def features(self, x: Any, y: Any) -> NDArray[np.float64]:
        out = np.zeros((self.n_classes, self.n_buckets))
        out[self._check_class(y)] = self.counts(x)
        return out.ravel()

    def worst(self, w: NDArray, x: Any, y: Any) -> tuple[str, int, float]:
        table = w.reshape(self.n_classes, -1)
        own = self._check_class(y)
        best, text, other = 0.0, x, own
        for rival in range(self.n_classes):
            if rival != own:
                edited, score = self.highest(table[rival] - table[own], x)
                if 1.0 + score > best:
                    best, text, other = 1.0 + score, edited, rival
        return text, other, float(other != own)

    def predict(self, w: NDArray, x: Any) -> int:
        return int((w.reshape(self.n_classes, -1) @ self.counts(x)).argmax())

    def _check_class(self, y: Any) -> int:
        """Return a validated class."""
        if not isinstance(y, (int, np.integer)) or not 0 <= y < self.n_classes:
            raise ValueError(f"classes must be numbers from 0 to {self.n_classes - 1}, not {y!r}")
        return int(y)

    def highest(self, weights: NDArray[np.float64], x: str) -> tuple[str, float]:
        """Return the edited string with the highest score, and the score.

        Parameters
        ----------
        weights : array of shape (n_buckets,)
            The score of a string is ``weights @ counts(string)``.
        x : str

        Returns
        -------
        text : str
        score : float
        """
        start = START * (self.width - 1)
        paths: _Paths = {(start, 0): _Path(0.0, "", None)}
        for character in x:
            paths = self._inserted(weights, paths)
            following: _Paths = {}
            for (context, n_edits), path in paths.items():
                for last, n_used in self._choices(character):
                    if n_edits + n_used <= self.budget:
                        self._extend(weights, following, context, n_edits + n_used, path, last)
            paths = following
        paths = self._inserted(weights, paths)
        best: _Path | None = None
        for (context, _), path in paths.items():
            ending = context + END * (self.width - 1)
            score = path.score + sum(
                self._weight(weights, ending[k : k + self.width]) for k in range(self.width - 1)
            )
            if best is None or score > best.score:
                best = _Path(score, path.last, path.previous)
        assert best is not None
        return spelled(best), best.score

    def _choices(self, character: str) -> Iterator[tuple[str, int]]:
        """Yield what may stand for a character, and the number of edits."""
        yield character, 0
        for other in self.substitutions.get(character, ""):
            yield other, 1
        if character in self.deletions:
            yield "", 1

    def _inserted(self, weights: NDArray, paths: _Paths) -> _Paths:
        """Return the paths, and those with characters inserted after them."""
        result = dict(paths)
        # paths with fewer edits first, so that several characters can be inserted
        for n_edits in range(self.budget if self.insertions else 0):
            for (context, n_used), path in list(result.items()):
                if n_used == n_edits:
                    for other in self.insertions:
                        self._extend(weights, result, context, n_used + 1, path, other)
        return result

    def _extend(
        self, weights: NDArray, paths: _Paths, context: str, n_edits: int, path: _Path, last: str
    ) -> None:
        """Add the path with one more character to ``paths``, if it is the best of its state."""
        score, gram = path.score, context + last
        if last:
            score += self._weight(weights, gram)
            context = gram[1:]
        state = (context, n_edits)
        if state not in paths or score > paths[state].score:
            paths[state] = _Path(score, last, path)

    def _weight(self, weights: NDArray, gram: str) -> float:
        return float(weights[bucket_of(gram, self.n_buckets)])

    def edited(self, x: str) -> set[str]:
        """Return all strings that at most ``budget`` edits make of a string, itself included.

        Their number grows exponentially with the budget.
        """
        results = {("", 0)}
        for character in x:
            results = {
                (text + last, n_edits + n_used)
                for text, n_edits in self._with_insertions(results)
                for last, n_used in self._choices(character)
                if n_edits + n_used <= self.budget
            }
        return {text for text, _ in self._with_insertions(results)}

    def _with_insertions(self, results: set[tuple[str, int]]) -> set[tuple[str, int]]:
        """Return pairs of a string and its edits, and those with characters inserted at the end."""
        every = set(results)
        for n_edits in range(self.budget):
            every |= {
                (text + other, n_edits + 1)
                for text, n_used in every
                if n_used == n_edits
                for other in self.insertions
            }
        return every


def check_characters(name: str, characters: Iterable[str]) -> None:
    """Raise a ValueError unless all items are single characters."""
    for character in characters:
        if not isinstance(character, str) or len(character) != 1:
            raise ValueError(f"{name} must contain single characters only, not {character!r}")


def spelled(path: _Path | None) -> str:
    """Return the string of a path."""
    characters = []
    while path is not None:
        characters.append(path.last)
        path = path.previous
    return "".join(reversed(characters))


@lru_cache(maxsize=2**16)
def bucket_of(gram: str, n_buckets: int) -> int:
    """Return the bucket of an n-gram, which is the same in every process."""
    return crc32(gram.encode("utf-8", "surrogatepass")) % n_buckets
