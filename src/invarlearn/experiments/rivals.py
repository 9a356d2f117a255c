"""Competing methods: a small convolutional network, scattering features, and a tuned SVC.

The network needs torch, and scattering kymatio: ``pip install 'invarlearn[rivals]'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from invarlearn.transforms import Family


def torch_module() -> Any:
    """Return torch, limited to one thread."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "this method needs torch and kymatio: pip install 'invarlearn[rivals]'"
        ) from error
    torch.set_num_threads(1)
    return torch


def scattering_module() -> Any:
    """Return the class of kymatio's scattering transform.

    It is imported from its module, since the top-level package imports names that newer versions
    of scipy do not have.
    """
    torch_module()
    from kymatio.scattering2d.frontend.torch_frontend import ScatteringTorch2D

    return ScatteringTorch2D


class SmallCNN(ClassifierMixin, BaseEstimator):
    """A small convolutional network with batch norm and a one-cycle schedule.

    Two stages, each of two convolutions of 3 x 3 (or one of 5 x 5) with batch norm followed by max
    pooling, then a hidden layer with batch norm and dropout. Trained with AdamW, in one thread.

    Parameters
    ----------
    family : Family, optional
        Training rows are transformed by random elements, which are drawn again in every round.
        None: no augmentation.
    shape : tuple
        (height, width) or (height, width, channels) of a row.
    n_steps, batch, width : int
        Number of updates, rows in each, and channels of the first convolution.
    rate, decay, dropout, smoothing : float
        Maximal learning rate, weight decay, dropout probability and label smoothing.
    deep : bool
        Whether a stage has two convolutions of 3 x 3. Otherwise it has one of 5 x 5.
    round_size, n_elements : int
        Rows are augmented in rounds of at least ``round_size`` rows, with ``n_elements`` random
        elements in each round.
    random_state : int
    """

    def __init__(
        self,
        family: Family | None = None,
        shape: tuple[int, ...] = (28, 28),
        n_steps: int = 1500,
        batch: int = 64,
        width: int = 32,
        rate: float = 4e-3,
        decay: float = 1e-2,
        dropout: float = 0.3,
        smoothing: float = 0.1,
        deep: bool = True,
        round_size: int = 512,
        n_elements: int = 32,
        random_state: int = 0,
    ):
        self.family = family
        self.shape = shape
        self.n_steps = n_steps
        self.batch = batch
        self.width = width
        self.rate = rate
        self.decay = decay
        self.dropout = dropout
        self.smoothing = smoothing
        self.deep = deep
        self.round_size = round_size
        self.n_elements = n_elements
        self.random_state = random_state

    def fit(self, X: NDArray, y: NDArray) -> SmallCNN:
        """Train for ``n_steps`` updates."""
        torch = torch_module()
        torch.manual_seed(self.random_state)
        self.classes_, class_indices = np.unique(y, return_inverse=True)
        X = X.astype(np.float32)
        self._mean, self._spread = float(X.mean()), float(X.std()) or 1.0
        self.network_ = self._network()
        optimizer = torch.optim.AdamW(
            self.network_.parameters(), lr=self.rate, weight_decay=self.decay
        )
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, self.rate, total_steps=self.n_steps
        )
        self.network_.train()
        for rows, labels in self._batches(X, class_indices):
            loss = torch.nn.functional.cross_entropy(
                self.network_(self._images(rows)),
                torch.from_numpy(labels),
                label_smoothing=self.smoothing,
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        return self

    def predict(self, X: NDArray) -> NDArray:
        """Return the class of each row."""
        torch = torch_module()
        self.network_.eval()
        with torch.no_grad():
            indices = [
                self.network_(self._images(X[i : i + 500])).argmax(dim=1).numpy()
                for i in range(0, len(X), 500)
            ]
        return self.classes_[np.concatenate(indices)]

    def _network(self) -> Any:
        torch = torch_module()
        nn = torch.nn
        height, width, channels = (*self.shape, 1)[:3]

        def convolution(n_in: int, n_out: int, side: int) -> list[Any]:
            layer = nn.Conv2d(n_in, n_out, side, padding=side // 2, bias=False)
            return [layer, nn.BatchNorm2d(n_out), nn.ReLU()]

        def stage(n_in: int, n_out: int) -> list[Any]:
            if self.deep:
                layers = [*convolution(n_in, n_out, 3), *convolution(n_out, n_out, 3)]
            else:
                layers = convolution(n_in, n_out, 5)
            return [*layers, nn.MaxPool2d(2)]

        n_flat = (height // 4) * (width // 4) * 2 * self.width
        return nn.Sequential(
            *stage(channels, self.width),
            *stage(self.width, 2 * self.width),
            nn.Flatten(),
            nn.Linear(n_flat, 256, bias=False),
            nn.BatchNorm1d(256),
            nn.ReLU(),
            nn.Dropout(self.dropout),
            nn.Linear(256, len(self.classes_)),
        ).to(memory_format=torch.channels_last)

    def _images(self, X: NDArray) -> Any:
        """Return standardised images as a tensor of shape (n, channels, height, width)."""
        height, width, channels = (*self.shape, 1)[:3]
        images = (X.astype(np.float32) - self._mean) / self._spread
        tensor = torch_module().from_numpy(images.reshape(-1, height, width, channels))
        return tensor.permute(0, 3, 1, 2)

    def _batches(self, X: NDArray, class_indices: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield batches of augmented rows and class indices, from random orders of all rows."""
        rng = np.random.RandomState(self.random_state)
        rows, labels = X[:0], class_indices[:0]
        for _ in range(self.n_steps):
            while len(rows) < self.batch:
                repeats = -(-self.round_size // len(X))
                order = np.concatenate([rng.permutation(len(X)) for _ in range(repeats)])
                rows = np.concatenate([rows, self._augmented(X[order], rng)])
                labels = np.concatenate([labels, class_indices[order]])
            yield rows[: self.batch], labels[: self.batch]
            rows, labels = rows[self.batch :], labels[self.batch :]

    def _augmented(self, X: NDArray, rng: np.random.RandomState) -> NDArray:
        """Return each row transformed by one of ``n_elements`` random elements."""
        if self.family is None:
            return X
        n = self.n_elements
        elements = self.family.sample(n, rng)
        augmented = X.copy()
        for i in range(min(n, len(X))):
            augmented[i::n] = elements[i](X[i::n])
        return augmented


def scattering(X: NDArray, shape: tuple[int, ...], scale: int = 3) -> NDArray[np.float32]:
    """Return square roots of the scattering coefficients of grey images, up to second order.

    Parameters
    ----------
    X : array of shape (n_images, n_features)
    shape : tuple
        (height, width) of an image.
    scale : int, default=3
        Number of octaves. Images are padded to multiples of 2 ** scale pixels.

    Returns
    -------
    array of shape (n_images, n_coefficients)
    """
    torch, ScatteringTorch2D = torch_module(), scattering_module()
    height, width = (-(-side // 2**scale) * 2**scale for side in shape[:2])
    transform = ScatteringTorch2D(scale, (height, width))
    images = X.reshape(-1, *shape[:2]).astype(np.float32)
    padding = ((0, 0), (0, height - shape[0]), (0, width - shape[1]))
    padded = torch.from_numpy(np.pad(images, padding))
    with torch.no_grad():
        coefficients = [transform(block).numpy() for block in padded.split(500)]
    return np.sqrt(np.maximum(np.concatenate(coefficients), 0)).reshape(len(X), -1)


class TunedSVC(ClassifierMixin, BaseEstimator):
    """An RBF SVC on samples and augmented copies, with C and gamma chosen by cross-validation.

    All augmented copies of a sample are held out together, and accuracy is measured on the samples
    alone. With fewer than 20 samples, C is 10 and gamma scikit-learn's "scale". Squared distances
    are computed once, as matrix products, which is several times faster than in libsvm.

    Parameters
    ----------
    family : Family, optional
        Random elements of the family transform the augmented copies. None: no augmentation.
    standardize : bool, default=False
        Whether columns are divided by their standard deviations.
    features : callable, optional
        Maps rows of samples and of augmented copies to features. None: the rows themselves.
    Cs, gammas : sequences of float
        Candidates for C, and for gamma as multiples of scikit-learn's "scale".
    max_copies, max_rows : int
        Each sample has at most ``max_copies`` rows, including itself. All samples together have
        at most ``max_rows``.
    max_choice_rows : int
        C and gamma are chosen on at most this many rows: all samples and their first copies.
    random_state : int
    """

    def __init__(
        self,
        family: Family | None = None,
        standardize: bool = False,
        features: Callable[[NDArray], NDArray] | None = None,
        Cs: Sequence[float] = (1.0, 10.0, 100.0),
        gammas: Sequence[float] = (0.25, 1.0, 4.0),
        max_copies: int = 150,
        max_rows: int = 9000,
        max_choice_rows: int = 2000,
        random_state: int = 0,
    ):
        self.family = family
        self.standardize = standardize
        self.features = features
        self.Cs = Cs
        self.gammas = gammas
        self.max_copies = max_copies
        self.max_rows = max_rows
        self.max_choice_rows = max_choice_rows
        self.random_state = random_state

    def fit(self, X: NDArray, y: NDArray) -> TunedSVC:
        """Choose C and gamma, and fit."""
        self.classes_ = np.unique(y)
        n, n_copies = len(y), 1
        parts = [self._features(X)]
        if self.family is not None:
            n_copies = int(np.clip(self.max_rows // n, 2, self.max_copies))
            elements = self.family.sample(n_copies - 1, self.random_state)
            parts += [self._features(g(X)) for g in elements]
        self.scaler_ = StandardScaler(with_std=self.standardize).fit(parts[0])
        Z = np.concatenate([self.scaler_.transform(part) for part in parts])
        labels = np.tile(y, n_copies)
        distances = euclidean_distances(Z, squared=True)
        scale = 1 / (Z.shape[1] * float(Z[:n].var()) or 1.0)
        self.C_, self.gamma_ = 10.0, scale
        if n >= 20:
            n_rows = n * int(np.clip(self.max_choice_rows // n, 1, n_copies))
            self.C_, self.gamma_ = self._best_params(
                distances[:n_rows, :n_rows], labels[:n_rows], n, scale
            )
        distances *= -self.gamma_
        svc = SVC(C=self.C_, kernel="precomputed", cache_size=1000)
        self.svc_ = svc.fit(np.exp(distances, out=distances), labels)
        self._support = Z[self.svc_.support_]
        return self

    def predict(self, X: NDArray) -> NDArray:
        """Return the class of each row."""
        return np.concatenate([self._predicted(X[i : i + 500]) for i in range(0, len(X), 500)])

    def _predicted(self, X: NDArray) -> NDArray:
        Z = self.scaler_.transform(self._features(X))
        gram = np.zeros((len(Z), self.svc_.shape_fit_[1]))
        gram[:, self.svc_.support_] = rbf_kernel(Z, self._support, gamma=self.gamma_)
        return self.svc_.predict(gram)

    def _best_params(
        self, distances: NDArray, y: NDArray, n: int, scale: float
    ) -> tuple[float, float]:
        """Return the C and gamma of the highest held-out accuracy, from squared distances."""
        folds = [
            (np.concatenate([train + start for start in range(0, len(y), n)]), test)
            for train, test in KFold(5, shuffle=True, random_state=self.random_state).split(y[:n])
        ]
        best = (-1.0, 10.0, scale)
        for gamma in (scale * factor for factor in self.gammas):
            svc = SVC(kernel="precomputed")
            search = GridSearchCV(svc, {"C": list(self.Cs)}, cv=folds, refit=False)
            search.fit(np.exp(-gamma * distances), y)
            if search.best_score_ > best[0]:
                best = (search.best_score_, search.best_params_["C"], gamma)
        return best[1:]

    def _features(self, X: NDArray) -> NDArray:
        return X if self.features is None else self.features(X)
