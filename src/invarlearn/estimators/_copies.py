"""Least squares on copies of the samples: what InvariantClassifier and InvariantRegressor share."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from invarlearn._progress import Clock, Progress
from invarlearn._readable import Readable
from invarlearn._shares import chance_of_gain
from invarlearn.estimators._images import (
    NOISE_ROWS,
    moves_far,
    on_ground,
    seems_noisy,
    warn_if_channels_first,
    warn_if_unlike_images,
)
from invarlearn.estimators._leave_out import (
    CHOICE_COPIES,
    GAMMA_ROWS,
    LeftOut,
    evenly,
    left_out,
)
from invarlearn.estimators._moved import Moved, unmoved
from invarlearn.estimators._summary import summary_of
from invarlearn.estimators._targets import check_family, check_rows
from invarlearn.features.compress import principal_directions, whitening
from invarlearn.features.defaults import default_family, default_features, has_edges
from invarlearn.kernels._gaussian import (
    SIMILARITY_ROWS,
    lower_similarity,
    median_square,
    similarity,
)
from invarlearn.solvers.groups import ridge
from invarlearn.solvers.landmarks import landmark_weights
from invarlearn.transforms import Family, Identity
from invarlearn.transforms._checks import Shape, check_generator, check_number
from invarlearn.transforms._threads import in_threads, n_threads, one_thread_of_blas, slices

# Copies of each sample, itself among them, and virtual samples in all. Up to so many, each has a
# weight of its own; time grows with the cube of their number. Beyond, so many landmarks stand for
# them.
FEWEST_COPIES, MOST_COPIES, MOST_ROWS, LANDMARKS = 2, 150, 9000, 6000
# Copies are made with so many random elements in all, but no more than so many for one copy of the
# samples: where samples are many and copies few, different samples are moved differently.
ELEMENTS, MOST_ELEMENTS = 512, 64
# Features, principal directions, ranges and lam are found with so many virtual samples.
CHOICE_ROWS = 2000
# The accuracy is estimated with so many: many copies that are wrong do more harm than few.
ESTIMATE_ROWS = 4500
LAMS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
# What images may need is tried with fewer landmarks, of so many rows, and must be so much better.
FEW_LANDMARKS, FEW_ROWS, GAIN = 100, 100, 0.95
# Directions in which copies do not differ count no more than by this.
FLOOR = 0.3
# Directions in which samples of a class differ count less, half as much less with so many samples.
PRIOR_SAMPLES = 300
# Up to so many virtual samples double precision costs little.
DOUBLE_ROWS = 4000
# Rows whose features are in memory at a time, and what these may take.
BLOCK, BYTES = 2048, 2**29


class LearnsFromCopies(Readable):
    """Least squares with a Gaussian kernel of features, on copies of the samples."""

    # told how far the solution has come, where it takes long
    _progress: Progress | None = None
    # whether targets have their mean taken off
    _about_mean = False
    # how many groups samples are of, if that was said
    _n_groups: int | None = None
    # whether what lies around images is taken off them
    _grounded = False

    def __init__(
        self,
        family: Family | None = None,
        features: Any = None,
        n_copies: int | None = None,
        ranges: Sequence[float] = (1.0,),
        lam: float | None = None,
        whitening: float = 0.5,
        n_average: int = 1,
        n_components: int = 1024,
        n_landmarks: int | None = None,
        shape: Shape = None,
        random_state: Any = 0,
    ):
        self.family = family
        self.features = features
        self.n_copies = n_copies
        self.ranges = ranges
        self.lam = lam
        self.whitening = whitening
        self.n_average = n_average
        self.n_components = n_components
        self.n_landmarks = n_landmarks
        self.shape = shape
        self.random_state = random_state

    # -- what classifiers and regressors say -------------------------------------------------

    @abstractmethod
    def _losses(self, predicted: NDArray, Y: NDArray) -> NDArray:
        """Give what a left-out prediction costs: (n,)."""
        raise NotImplementedError

    def _classes_of(self, Y: NDArray) -> NDArray | None:
        """Give the class of each sample, if there are classes."""
        return None

    def _counted(self, Y: NDArray, parts: list[NDArray]) -> NDArray[np.bool_]:
        """Say which samples count where things are chosen, if parts are left out in turn."""
        return np.ones(len(Y), dtype=bool)

    @abstractmethod
    def _estimate(self, left: LeftOut, Y: NDArray, groups: NDArray | None) -> None:
        """Keep what left-out predictions say of new samples, or of those of new groups."""
        raise NotImplementedError

    @abstractmethod
    def _estimate_in_words(self) -> str:
        raise NotImplementedError

    @abstractmethod
    def _in_words(self, predicted: NDArray, Y: NDArray) -> str:
        """Say how good left-out predictions are; nothing if that cannot be said."""
        raise NotImplementedError

    # -- learning ----------------------------------------------------------------------------

    def _learn(self, X: NDArray, Y: NDArray, groups: NDArray | None) -> None:
        """Draw copies, choose ranges and lam, and solve, for targets Y of shape (n, targets).

        Samples of one group are left out together.
        """
        self._check_parameters(X)
        rng = check_generator(self.random_state)
        # in random order, so that the first samples are any samples
        self._order = evenly(rng.permutation(len(X)), groups)
        self._seed = int(rng.randint(2**31 - 1))
        family = self._family_of(X.shape[1])
        if family.domain == "image":
            shape = family.resolve_shape(X.shape[1])
            warn_if_channels_first(shape, stacklevel=3)
            if self.shape is None and (self.family is None or self.family.shape is None):
                warn_if_unlike_images(X[self._order[:NOISE_ROWS]], shape, stacklevel=3)
        self.n_copies_ = self._copies_of(family, len(X))
        rows = len(X) * self.n_copies_
        self._precision = np.dtype(np.float64 if rows <= DOUBLE_ROWS else np.float32)
        self.seconds_: dict[str, float] = {}
        clock = _Clock(self.seconds_)
        # matrices are small until the solution: threads of BLAS cost more than they bring
        with one_thread_of_blas():
            X, Y, known = self._prepare(X, Y, groups, family, rng, clock)
        self._solve(X, Y, rng, clock, known)

    def _prepare(
        self,
        X: NDArray,
        Y: NDArray,
        groups: NDArray | None,
        family: Family,
        rng: np.random.RandomState,
        clock: _Clock,
    ) -> tuple[NDArray, NDArray, NDArray]:
        """Find features and choose; give the samples in another order, and what is known."""
        candidates = self._candidates(family)
        self.family_ = candidates[-1]  # the widest: what features must cope with
        # pixels need no more than single precision; columns of a table may be far from zero
        self._edges = has_edges(self.family_, X.shape[1])
        self._dtype = np.dtype(np.float32 if self._edges else np.float64)
        X, Y = X[self._order].astype(self._dtype, copy=False), Y[self._order]
        self._grounded = self._edges and self.features is None and self.family_.domain == "image"
        X = self._on_ground(X)
        if self._edges and self.features is None and not X.any():
            raise ValueError(
                "all images are flat, and the default features compare edges: pass others, such as "
                "features=StandardScaler() for the pixels themselves"
            )
        groups = None if groups is None else groups[self._order]
        feature_seed = int(rng.randint(2**31 - 1))
        self._options = self._image_options(X, Y, groups, feature_seed)
        some, _ = self._few_copies(X, CHOICE_ROWS)
        new = self._new_features(self.family_, X.shape[1], feature_seed, self._options)
        self.features_ = new.fit(some)
        width = self.features_.transform(X[:1]).shape[1]
        self._block = _fitting(BLOCK, width, self._dtype)
        clock.tick("features")
        some, copies = self._few_copies(X, _fitting(CHOICE_ROWS, width, self._dtype))
        known = self._direct(self.features_.transform(some), copies)
        clock.tick("directions")
        known = self._choose(X, Y, groups, candidates, known)
        clock.tick("choice")
        more = self._judge(X, Y, groups, known, feature_seed)
        clock.tick("estimate")
        return X, Y, self._refine(copies, Y, more)

    def _image_options(
        self, X: NDArray, Y: NDArray, groups: NDArray | None, seed: int
    ) -> dict[str, Any]:
        """Find what the default features of images need: to centre them, to take noise off."""
        if not self._grounded:
            return {}
        some, copies = self._few_copies(X, GAMMA_ROWS)
        shape = self.family_.resolve_shape(X.shape[1])
        further: list[dict[str, Any]] = []
        if copies > 1 and moves_far(self._moves(CHOICE_COPIES)[1:], shape):
            further.append({"centred": True})
        if seems_noisy(X, shape):
            further.append({"noisy": True})
        best: dict[str, Any] = {}
        least = self._error_with(best, some, copies, Y, groups, seed) if further else 0.0
        for option in further:
            tried = {**best, **option}
            error = self._error_with(tried, some, copies, Y, groups, seed)
            if error < GAIN * least:
                best, least = tried, error
        return best

    def _error_with(
        self,
        options: dict[str, Any],
        some: NDArray,
        copies: int,
        Y: NDArray,
        groups: NDArray | None,
        seed: int,
    ) -> float:
        """Give the error at left-out samples, some samples with copies, by such features."""
        n, few = len(some) // copies, FEW_LANDMARKS
        if self.n_landmarks is not None:
            few = min(self.n_landmarks, few)
        features = default_features(self.family_, some.shape[1], few, seed, **options)
        features.fit(some[:: max(1, len(some) // FEW_ROWS)])
        known = self._direct(features.transform(some), copies)
        return self._left_out(known, Y[:n], None if groups is None else groups[:n]).error

    def _direct(self, F: NDArray, copies: int) -> NDArray:
        """Find what features are compressed to; give some, compressed: (copies, samples, numbers).

        F has all samples, and then one copy of all of them after the other.
        """
        self._mean, directions = principal_directions(F, int(self.n_components))
        F = (F - self._mean) @ directions
        samples = np.tile(np.arange(len(F) // copies), copies)
        white = whitening(F, samples, self.whitening, FLOOR)
        self._directions = directions @ white
        known = (F @ white).astype(self._precision)
        return known.reshape(copies, len(F) // copies, known.shape[1])

    def _without_family(self, X: NDArray, seed: int) -> NDArray:
        """Give samples compressed as if nothing were known: no copies, no orbits, nothing shrunk.

        Features of images and spectrograms stay, since they do not know the family; but images are
        not centred. (1, samples, numbers)
        """
        still = self.family_ if self._edges else Identity()
        known = {name: value for name, value in self._options.items() if name != "centred"}
        F = self._new_features(still, X.shape[1], seed, known).fit(X).transform(X)
        mean, directions = principal_directions(F, int(self.n_components))
        return ((F - mean) @ directions).astype(self._precision)[None]

    def _refine(self, copies: int, Y: NDArray, known: NDArray) -> NDArray:
        """Shrink also directions in which samples of one class differ; give what is known anew.

        Of what is known, so many copies tell. This looks at labels, so that samples left out would
        not be left out of it: everything is chosen, and the accuracy estimated, before. The fewer
        samples there are, the less is done.
        """
        n = known.shape[1]
        classes = self._classes_of(Y[:n])
        if copies == 1 or classes is None:
            return known
        freedom = n - len(np.unique(classes))
        strength = self.whitening * freedom / (freedom + PRIOR_SAMPLES)
        F = known[:copies].reshape(copies * n, -1)
        white = whitening(F, np.tile(classes, copies), strength, FLOOR)
        self._directions = self._directions @ white.astype(self._directions.dtype)
        self.gamma_ *= median_square(known[0]) / median_square(known[0] @ white)
        return known @ white

    def _check_parameters(self, X: NDArray) -> None:
        check_family(self.family)
        if self.features is not None and not hasattr(self.features, "transform"):
            raise TypeError(f"features={self.features!r} has no transform: pass a transformer")
        if self.lam is not None and check_number(self.lam, "lam", low=0) == 0:
            raise ValueError("lam=0 must be above 0; None chooses it")
        if self.n_landmarks is not None:
            check_number(self.n_landmarks, "n_landmarks", low=1, whole=True)
        for name in ("n_components", "n_average"):
            check_number(getattr(self, name), name, low=1, whole=True)
        check_number(self.whitening, "whitening", low=0, high=1)
        if np.ndim(self.ranges) != 1 or not len(self.ranges):
            raise ValueError(f"ranges={self.ranges!r} must be a list of numbers, such as (0.5, 1)")
        for factor in self.ranges:
            check_number(factor, "ranges", low=np.finfo(float).tiny)
        if np.abs(X).max() > np.finfo(np.float32).max:
            raise ValueError("rows are too large for single precision: scale them")

    def _family_of(self, n_features: int) -> Family:
        family = self.family
        if family is None:
            return default_family(self.shape, n_features, type(self).__name__)
        if self.shape is None:
            return family
        if family.shape is None:
            return family.with_shape(self.shape)
        if tuple(np.atleast_1d(family.shape)) != tuple(np.atleast_1d(self.shape)):
            raise ValueError(
                f"shape={self.shape!r} is not the family's, {family.shape!r}: pass one of them"
            )
        return family

    def _copies_of(self, family: Family, n: int) -> int:
        if isinstance(family, Identity):
            return 1
        if self.n_copies is not None:
            return int(check_number(self.n_copies, "n_copies", low=1, whole=True))
        return int(np.clip(MOST_ROWS // n, FEWEST_COPIES, MOST_COPIES))

    def _candidates(self, family: Family) -> list[Family]:
        """Give the families to choose from, the widest last."""
        if isinstance(family, Identity):
            return [family]
        return [family if f == 1 else family.scaled(f) for f in sorted(self.ranges)]

    def _new_features(self, family: Family, d: int, seed: int, options: dict[str, Any]) -> Any:
        if self.features is not None:
            return clone(self.features)
        return default_features(family, d, self.n_landmarks, seed, **options)

    def _choose(
        self,
        X: NDArray,
        Y: NDArray,
        groups: NDArray | None,
        candidates: list[Family],
        known: NDArray,
    ) -> NDArray:
        """Choose ranges, gamma and lam by leaving out samples.

        Copies of the first samples by the last candidate are known, compressed; gives those by the
        chosen one.
        """
        copies, n, _ = known.shape
        groups = None if groups is None else groups[:n]
        best: LeftOut | None = None
        for family in candidates:
            self.family_ = family
            F = known
            if family is not candidates[-1]:
                F = np.stack([self._compressed(move(X[:n])) for move in self._moves(copies)])
            found = self._left_out(F, Y[:n], groups)
            if best is None or found.error < best.error:
                best, chosen, rows = found, family, F
        assert best is not None  # there is a candidate
        self.family_, self.gamma_, self.lam_ = chosen, best.gamma, best.lam
        self.lams_, self.left_out_errors_ = best.lams, best.errors
        return rows

    def _judge(
        self, X: NDArray, Y: NDArray, groups: NDArray | None, known: NDArray, seed: int
    ) -> NDArray:
        """Estimate how good the model is, and see whether the family does good.

        More samples are left out, with more copies, than where things are chosen: many copies that
        are wrong do more harm than few. Gives these, compressed.
        """
        n, copies = self._few(len(X), ESTIMATE_ROWS)
        n = _fitting(n, self._mean.size, self._dtype)
        X, Y, groups = X[:n], Y[:n], None if groups is None else groups[:n]
        F = self._copied(X, copies, known)
        left = self._left_out(F, Y, groups, self.gamma_, self.lam_)
        self._left, self._without = (n, copies), ""
        self._n_groups = None if groups is None else len(np.unique(groups))
        self._estimate(left, Y, groups)
        if copies > 1:
            plain = self._left_out(self._without_family(X, seed), Y, groups).predicted
            self._without = self._in_words(plain, Y)
            self._warn_if_worse(left.predicted, plain, Y, groups)
        return F

    def _warn_if_worse(
        self, with_it: NDArray, without: NDArray, Y: NDArray, groups: NDArray | None
    ) -> None:
        """Warn if the family costs more, at more samples (or groups) than by chance."""
        cost, less = self._losses(with_it, Y), self._losses(without, Y)
        worse = np.sign(cost - less)
        if cost.mean() > less.mean() and worse.sum() > 0 and chance_of_gain(worse, groups) < 0.05:
            warnings.warn(
                f"the family seems to hurt: at samples left out, {self._in_words(with_it, Y)} "
                f"with it and {self._in_words(without, Y)} without; is what {self.family_!r} "
                "changes really without meaning?",
                stacklevel=6,
            )

    def _left_out(
        self,
        F: NDArray,
        Y: NDArray,
        groups: NDArray | None,
        gamma: float | None = None,
        lam: float | None = None,
    ) -> LeftOut:
        """Predict samples, each without its group and all copies.

        With the best gamma and lam, unless they are given.
        """
        lam = self.lam if lam is None else lam
        lams = LAMS if lam is None else (float(lam),)
        how = (self._counted, self._about_mean, self.n_copies_)
        return left_out(F, Y, groups, lams, *how, gamma)

    def _solve(
        self,
        X: NDArray,
        Y: NDArray,
        rng: np.random.RandomState,
        clock: _Clock,
        known: NDArray,
    ) -> None:
        """Find the weights; of the first copies of the first samples features are known."""
        rows = len(X) * self.n_copies_
        if rows <= MOST_ROWS:
            self._rows = self._copied(X, self.n_copies_, known).reshape(rows, -1)
            clock.tick("copies")
            K = lower_similarity(self._rows, self.gamma_)
            self._alpha = ridge(K, np.tile(Y, (self.n_copies_, 1)), self.lam_).alpha
            clock.tick("solution")
            return
        self._rows = self._landmarks(X, rng)
        K = similarity(self._rows, self._rows, self.gamma_)
        blocks = self._similar_blocks(X, Y)
        self._alpha = landmark_weights(blocks, K, self.lam_).astype(self._precision)
        clock.tick("copies and solution")

    def _similar_blocks(self, X: NDArray, Y: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
        """Give similarities of all copies to the landmarks, and targets, block by block."""
        moves, parts = self._moves(self.n_copies_), slices(len(X), self._block)
        clock = Clock(len(moves) * len(parts), 0, self._progress)
        for move in moves:
            for some in parts:
                F = self._compressed(move(X[some], some.start))
                yield similarity(F, self._rows, self.gamma_), Y[some]
                clock.tick()

    def _landmarks(self, X: NDArray, rng: np.random.RandomState) -> NDArray:
        """Give the compressed features of random virtual samples, as many of each copy."""
        each = -(-LANDMARKS // self.n_copies_)
        chosen = [
            self._compressed(move(X[np.sort(rng.permutation(len(X))[:each])]))
            for move in self._moves(self.n_copies_)
        ]
        return np.concatenate(chosen)[:LANDMARKS]

    # -- copies and their features -----------------------------------------------------------

    def _moves(self, count: int) -> list[Callable[..., NDArray]]:
        """Give what makes copies of rows, the rows themselves first."""
        if count == 1:
            return [unmoved]
        # the same elements, however many copies are wanted
        each = int(np.clip(ELEMENTS // (self.n_copies_ - 1), 1, MOST_ELEMENTS))
        return [unmoved, *(Moved(self.family_, each, self._seed + i) for i in range(count - 1))]

    def _few(self, n: int, n_rows: int) -> tuple[int, int]:
        """Give how many of n samples, and copies of each, are about so many rows."""
        fewest = min(CHOICE_COPIES, self.n_copies_)
        count = int(np.clip(n_rows // n, fewest, self.n_copies_))
        return min(n, n_rows // count), count

    def _few_copies(self, X: NDArray, n_rows: int) -> tuple[NDArray, int]:
        """Give random samples with copies, about so many rows; and how many copies of each."""
        n, count = self._few(len(X), _fitting(n_rows, X.shape[1], X.dtype))
        return np.concatenate([move(X[:n]) for move in self._moves(count)]), count

    def _copied(self, X: NDArray, count: int, known: NDArray) -> NDArray:
        """Give so many copies, compressed: (count, samples, numbers); some are known."""
        moves = self._moves(count)
        made = np.empty((count, len(X), known.shape[2]), dtype=self._precision)

        def make(copy: int) -> None:
            head = known[copy] if copy < len(known) else known[0, :0]
            made[copy, : len(head)] = head
            made[copy, len(head) :] = self._compressed(moves[copy](X[len(head) :], len(head)))

        self._each(make, range(count), len(X))
        return made

    def _on_ground(self, X: NDArray) -> NDArray:
        """Take what lies around images off them, which changes X."""
        return on_ground(X, self.family_.resolve_shape(X.shape[1])) if self._grounded else X

    def _compressed(self, X: NDArray) -> NDArray:
        out = np.empty((len(X), self._directions.shape[1]), dtype=self._precision)
        for some in slices(len(X), self._block):
            out[some] = (self.features_.transform(X[some]) - self._mean) @ self._directions
        return out

    # -- prediction --------------------------------------------------------------------------

    def _scores(self, X: ArrayLike) -> NDArray:
        """Predict the targets of rows, averaged over copies if asked for: (n, targets)."""
        check_is_fitted(self)
        check_rows(X)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        count = int(self.n_average) if self.n_copies_ > 1 else 1
        out = np.zeros((len(X), self._alpha.shape[1]), dtype=self._precision)
        flat = 0
        for some in slices(len(X), self._block):
            block = self._on_ground(X[some].astype(self._dtype))
            flat += int(self._grounded and (~block.any(axis=1)).sum())
            for copy in self._averaged(block, count):
                self._add_scores(copy, out[some])
        if flat:
            warnings.warn(
                f"{flat} of {len(X)} images are flat: what is predicted of them means nothing",
                stacklevel=3,
            )
        return out / count

    def _add_scores(self, X: NDArray, out: NDArray) -> None:
        def add(some: slice) -> None:
            F = self._compressed(X[some])
            out[some] += similarity(F, self._rows, self.gamma_) @ self._alpha

        self._each(add, slices(len(X), SIMILARITY_ROWS), SIMILARITY_ROWS)

    def _each(self, function: Callable[[Any], None], items: Sequence[Any], rows: int) -> None:
        """Call a function that takes features of so many rows at a time on all items.

        In threads, if what these take fits into memory, and features are not someone else's.
        """
        bytes_ = min(n_threads(), len(items)) * rows * self._mean.nbytes
        if self.features is None and bytes_ <= BYTES:
            in_threads(function, items)
            return
        for item in items:
            function(item)

    def _averaged(self, X: NDArray, count: int) -> Iterator[NDArray]:
        yield X
        if count > 1:
            # half as far
            yield from (g(X) for g in self.family_.scaled(0.5).sample(count - 1, self._seed))

    def summary(self) -> str:
        """Say what was done: features, copies, regularisation, what to expect, time."""
        check_is_fitted(self)
        return summary_of(self)


def _fitting(n_rows: int, width: int, dtype: np.dtype) -> int:
    """Give so many rows, or as many as may be in memory, but not too few to learn from."""
    return min(n_rows, max(100, BYTES // (width * dtype.itemsize)))


class _Clock:
    """Keep what takes how long."""

    def __init__(self, seconds: dict[str, float]):
        self.seconds = seconds
        self.last = time.perf_counter()

    def tick(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name] = now - self.last
        self.last = now
