"""Write the MNIST sample of the package: 200 training and 200 test images of each digit.

Run ``python scripts/make_mnist_sample.py`` once, with ``INVARLEARN_DATA`` set.
"""

from pathlib import Path

import numpy as np

from invarlearn.datasets.files import fetch_file, load_arrays

TARGET = Path(__file__).parents[1] / "src/invarlearn/datasets/data/mnist_sample.npz"


def stratified(y, n_per_class, rng):
    """Return the indices of ``n_per_class`` random samples of every class, in random order."""
    rows = [rng.choice(np.flatnonzero(y == c), n_per_class, replace=False) for c in np.unique(y)]
    return rng.permutation(np.concatenate(rows))


def main():
    mnist = load_arrays(fetch_file("mnist.npz"))
    rng = np.random.RandomState(0)
    train = stratified(mnist["y_train"], 200, rng)
    test = stratified(mnist["y_test"], 200, rng)
    TARGET.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        TARGET,
        X_train=mnist["X_train"][train],
        y_train=mnist["y_train"][train],
        X_test=mnist["X_test"][test],
        y_test=mnist["y_test"][test],
    )
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
