"""What people use instead: a small convolutional network, and scattering with an SVM.

Both need packages of the extra ``rivals``, which nothing else in the library uses:
``pip install 'invarlearn[rivals]'``.
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

# An SVM on copies has so many of each row, and so many rows in all, at most.
SVC_COPIES, SVC_ROWS = 150, 9000
# C and gamma are chosen with so many rows.
CHOICE_ROWS = 2000

# Augmented rows are made in rounds of at least so many, with so many random elements in each.
ROUND, ELEMENTS = 512, 32


def torch_module() -> Any:
    """Import torch, with one thread, or say how to get it."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "this comparison needs torch and kymatio: pip install 'invarlearn[rivals]'"
        ) from error
    torch.set_num_threads(1)
    return torch


def scattering_module() -> Any:
    """Import the transform of kymatio, past its front door.

    That imports what newer versions of scipy no longer have.
    """
    torch_module()
    from kymatio.scattering2d.frontend.torch_frontend import ScatteringTorch2D

    return ScatteringTorch2D


class SmallCNN(ClassifierMixin, BaseEstimator):
    """A small convolutional network with batch norm and a one-cycle schedule.

    Two stages, each of two convolutions of 3 x 3 (or one of 5 x 5) with batch norm and then
    pooling, and a hidden layer with batch norm and dropout; AdamW. One thread.

    Parameters
    ----------
    family : Family, optional
        Random elements move the training rows, anew in every round. None: no augmentation.
    shape : tuple
        (height, width) or (height, width, channels) of a row.
    n_steps, batch, width : int
        Updates, rows in each, and channels of the first convolution.
    rate, decay, dropout, smoothing : float
        The largest learning rate, weight decay, the share dropped and the label smoothing.
    deep : bool
        Whether a stage has two convolutions of 3 x 3 instead of one of 5 x 5.
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
        self.random_state = random_state

    def fit(self, X: NDArray, y: NDArray) -> SmallCNN:
        """Train for ``n_steps`` updates."""
        torch = torch_module()
        torch.manual_seed(self.random_state)
        self.classes_, index = np.unique(y, return_inverse=True)
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
        for rows, labels in self._batches(X, index):
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
        """Give the class of each row."""
        torch = torch_module()
        self.network_.eval()
        with torch.no_grad():
            found = [
                self.network_(self._images(X[i : i + 500])).argmax(dim=1).numpy()
                for i in range(0, len(X), 500)
            ]
        return self.classes_[np.concatenate(found)]

    def _network(self) -> Any:
        torch = torch_module()
        nn = torch.nn
        height, width, channels = (*self.shape, 1)[:3]

        def convolution(before: int, after: int, side: int) -> list[Any]:
            layer = nn.Conv2d(before, after, side, padding=side // 2, bias=False)
            return [layer, nn.BatchNorm2d(after), nn.ReLU()]

        def stage(before: int, after: int) -> list[Any]:
            if self.deep:
                layers = [*convolution(before, after, 3), *convolution(after, after, 3)]
            else:
                layers = convolution(before, after, 5)
            return [*layers, nn.MaxPool2d(2)]

        flat = (height // 4) * (width // 4) * 2 * self.width
        return nn.Sequential(
            *stage(channels, self.width),
            *stage(self.width, 2 * self.width),
            nn.Flatten(),
            nn.Linear(flat, 256, bias=False),
            nn.BatchNorm1d(256),
            nn.ReLU(),
            nn.Dropout(self.dropout),
            nn.Linear(256, len(self.classes_)),
        ).to(memory_format=torch.channels_last)

    def _images(self, X: NDArray) -> Any:
        height, width, channels = (*self.shape, 1)[:3]
        images = (X.astype(np.float32) - self._mean) / self._spread
        tensor = torch_module().from_numpy(images.reshape(-1, height, width, channels))
        return tensor.permute(0, 3, 1, 2)

    def _batches(self, X: NDArray, index: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
        """Give the batches: all rows in one order after the other, and moved."""
        rng = np.random.RandomState(self.random_state)
        rows, labels = X[:0], index[:0]
        for _ in range(self.n_steps):
            while len(rows) < self.batch:
                repeats = -(-ROUND // len(X))
                order = np.concatenate([rng.permutation(len(X)) for _ in range(repeats)])
                rows = np.concatenate([rows, self._moved(X[order], rng)])
                labels = np.concatenate([labels, index[order]])
            yield rows[: self.batch], labels[: self.batch]
            rows, labels = rows[self.batch :], labels[self.batch :]

    def _moved(self, X: NDArray, rng: np.random.RandomState) -> NDArray:
        if self.family is None:
            return X
        elements = self.family.sample(ELEMENTS, rng)
        moved = X.copy()
        for i in range(min(ELEMENTS, len(X))):
            moved[i::ELEMENTS] = elements[i](X[i::ELEMENTS])
        return moved


def scattering(X: NDArray, shape: tuple[int, ...], scale: int = 3) -> NDArray[np.float32]:
    """Give the roots of scattering coefficients of images of one channel, to the second order."""
    torch, ScatteringTorch2D = torch_module(), scattering_module()
    height, width = (-(-side // 2**scale) * 2**scale for side in shape[:2])
    transform = ScatteringTorch2D(scale, (height, width))
    images = X.reshape(-1, *shape[:2]).astype(np.float32)
    around = ((0, 0), (0, height - shape[0]), (0, width - shape[1]))
    padded = torch.from_numpy(np.pad(images, around))
    with torch.no_grad():
        found = [transform(some).numpy() for some in padded.split(500)]
    return np.sqrt(np.maximum(np.concatenate(found), 0)).reshape(len(X), -1)


class TunedSVC(ClassifierMixin, BaseEstimator):
    """An RBF SVC on rows and copies of them, C and gamma chosen by cross-validation.

    Samples are left out with their copies, and only samples are predicted. With fewer samples than
    20, C = 10 and scikit-learn's gamma. Distances are computed once, as products of matrices, which
    is several times as fast as leaving them to libsvm.

    Parameters
    ----------
    family : Family, optional
        Random copies of the rows are learned from as well. None: no copies.
    standardize : bool, default=False
        Whether columns are divided by their standard deviations.
    features : callable, optional
        What is learned from: a function of rows, and of copies.
    Cs, gammas : sequences of float
        What C is chosen from, and gamma, times scikit-learn's.
    random_state : int
    """

    def __init__(
        self,
        family: Family | None = None,
        standardize: bool = False,
        features: Callable[[NDArray], NDArray] | None = None,
        Cs: Sequence[float] = (1.0, 10.0, 100.0),
        gammas: Sequence[float] = (0.25, 1.0, 4.0),
        random_state: int = 0,
    ):
        self.family = family
        self.standardize = standardize
        self.features = features
        self.Cs = Cs
        self.gammas = gammas
        self.random_state = random_state

    def fit(self, X: NDArray, y: NDArray) -> TunedSVC:
        """Choose C and gamma, and fit."""
        self.classes_ = np.unique(y)
        n, copies = len(y), 1
        parts = [self._features(X)]
        if self.family is not None:
            copies = int(np.clip(SVC_ROWS // n, 2, SVC_COPIES))
            elements = self.family.sample(copies - 1, self.random_state)
            parts += [self._features(g(X)) for g in elements]
        self.scaler_ = StandardScaler(with_std=self.standardize).fit(parts[0])
        Z = np.concatenate([self.scaler_.transform(part) for part in parts])
        labels = np.tile(y, copies)
        away = euclidean_distances(Z, squared=True)
        scale = 1 / (Z.shape[1] * float(Z[:n].var()) or 1.0)
        self.C_, self.gamma_ = 10.0, scale
        if n >= 20:
            few = n * int(np.clip(CHOICE_ROWS // n, 1, copies))
            self.C_, self.gamma_ = self._chosen(away[:few, :few], labels[:few], n, scale)
        away *= -self.gamma_
        svc = SVC(C=self.C_, kernel="precomputed", cache_size=1000)
        self.svc_ = svc.fit(np.exp(away, out=away), labels)
        self._support = Z[self.svc_.support_]
        return self

    def predict(self, X: NDArray) -> NDArray:
        """Give the class of each row."""
        return np.concatenate([self._predicted(X[i : i + 500]) for i in range(0, len(X), 500)])

    def _predicted(self, X: NDArray) -> NDArray:
        Z = self.scaler_.transform(self._features(X))
        similar = np.zeros((len(Z), self.svc_.shape_fit_[1]))
        similar[:, self.svc_.support_] = rbf_kernel(Z, self._support, gamma=self.gamma_)
        return self.svc_.predict(similar)

    def _chosen(self, away: NDArray, y: NDArray, n: int, scale: float) -> tuple[float, float]:
        """Give the C and gamma that predict left-out samples best, from squared distances."""
        folds = [
            (np.concatenate([train + start for start in range(0, len(y), n)]), test)
            for train, test in KFold(5, shuffle=True, random_state=self.random_state).split(y[:n])
        ]
        best = (-1.0, 10.0, scale)
        for gamma in (scale * factor for factor in self.gammas):
            svc = SVC(kernel="precomputed")
            search = GridSearchCV(svc, {"C": list(self.Cs)}, cv=folds, refit=False)
            search.fit(np.exp(-gamma * away), y)
            if search.best_score_ > best[0]:
                best = (search.best_score_, search.best_params_["C"], gamma)
        return best[1:]

    def _features(self, X: NDArray) -> NDArray:
        return X if self.features is None else self.features(X)
