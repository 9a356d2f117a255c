"""ResNet-18 for small grey images, trained as in the code of Liu et al. (2022). Needs torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from invarlearn.experiments.rivals import torch_module


class ResNet18(ClassifierMixin, BaseEstimator):
    """The residual network with 18 layers of He et al. (2016), for images of one channel.

    A convolution of 7 x 7 with stride 2, max pooling, four stages of two residual blocks with 64,
    128, 256 and 512 channels, global average pooling and a linear layer. Trained by RMSprop without
    augmentation, in one thread.

    Parameters
    ----------
    rate : float, default=0.005
    n_epochs : int, default=30
    batch : int, default=8
    random_state : int, default=0
    """

    def __init__(
        self, rate: float = 0.005, n_epochs: int = 30, batch: int = 8, random_state: int = 0
    ):
        self.rate = rate
        self.n_epochs = n_epochs
        self.batch = batch
        self.random_state = random_state

    def fit(self, X: NDArray, y: NDArray) -> ResNet18:
        """Train for ``n_epochs`` epochs.

        Parameters
        ----------
        X : array of shape (n_samples, n_pixels)
            Square images.
        y : array of shape (n_samples,)
        """
        torch = torch_module()
        torch.manual_seed(self.random_state)
        self.classes_, indices = np.unique(y, return_inverse=True)
        images, labels = self._images(X), torch.from_numpy(indices)
        self.network_ = resnet18(len(self.classes_))
        self.network_.train()
        optimizer = torch.optim.RMSprop(self.network_.parameters(), lr=self.rate)
        for _ in range(self.n_epochs):
            for rows in torch.randperm(len(images)).split(self.batch):
                # batch norm needs two values of each channel
                if len(rows) > 1:
                    loss = torch.nn.functional.cross_entropy(
                        self.network_(images[rows]), labels[rows]
                    )
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
        return self

    def predict(self, X: NDArray) -> NDArray:
        """Return the class of each row: (n_samples,)."""
        torch = torch_module()
        self.network_.eval()
        with torch.no_grad():
            indices = [
                self.network_(images).argmax(dim=1).numpy() for images in self._images(X).split(500)
            ]
        return self.classes_[np.concatenate(indices)]

    def _images(self, X: NDArray) -> Any:
        side = int(np.sqrt(X.shape[1]))
        return torch_module().from_numpy(X.astype(np.float32)).reshape(-1, 1, side, side)


def resnet18(n_classes: int) -> Any:
    """Return the untrained network, a module of torch."""
    torch = torch_module()
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[name-defined]
        """Two convolutions, and a shortcut around them."""

        def __init__(self, n_in: int, n_out: int, stride: int):
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False),
                nn.BatchNorm2d(n_out),
                nn.ReLU(),
                nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False),
                nn.BatchNorm2d(n_out),
            )
            self.shortcut = nn.Sequential()
            if stride > 1 or n_in != n_out:
                self.shortcut = nn.Sequential(
                    nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out)
                )

        def forward(self, x: Any) -> Any:
            return torch.relu(self.body(x) + self.shortcut(x))

    stages = []
    for n_in, n_out, stride in ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)):
        stages += [Block(n_in, n_out, stride), Block(n_out, n_out, 1)]
    network = nn.Sequential(
        nn.Conv2d(1, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
        *stages,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(512, n_classes),
    )
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    return network
