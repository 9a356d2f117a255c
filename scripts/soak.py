"""Train and predict on 60,000 images from a folder, and sample memory: it must stay flat.

``python scripts/soak.py`` with ``INVARLEARN_DATA`` set. Memory in the last third of a command may
be no more than a tenth above that of the middle third; otherwise it ends with an error.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from invarlearn.datasets import fetch_mnist

SECONDS = 5


def write_images(folder, X, y):
    for label in np.unique(y):
        (folder / str(label)).mkdir(parents=True)
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        pixels = np.round(255 * row).astype(np.uint8).reshape(28, 28)
        Image.fromarray(pixels).save(folder / str(label) / f"{i:05}.png")


def resident(pid):
    """Give the memory of a process, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def watched(name, *arguments):
    """Run a command; print its memory over time, and what it says at the end."""
    command = [sys.executable, "-m", "invarlearn", *map(str, arguments)]
    start, samples = time.monotonic(), []
    process = subprocess.Popen(command)
    while process.poll() is None:
        time.sleep(SECONDS)
        try:
            samples.append(resident(process.pid))
        except OSError:
            break
    seconds = time.monotonic() - start
    parts = np.array_split(samples, min(10, max(1, len(samples))))
    shown = " ".join(f"{part.max():.0f}" for part in parts if len(part))
    print(f"{name}: exit {process.wait()}, {seconds:.0f} s, MiB by tenth of the time: {shown}")
    middle, last = (max(part) for part in np.array_split(samples, 3)[1:])
    flat = last <= 1.1 * middle
    print(f"{name}: {'flat' if flat else 'NOT flat'}")
    return process.returncode or int(not flat)


def main():
    data = fetch_mnist()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write_images(folder / "train", data.X_train, data.y_train)
        write_images(folder / "test", data.X_test, data.y_test)
        model, out = folder / "m.skops", folder / "p.csv"
        route = ["--route", "invariant"]
        codes = [
            watched("train, 60,000", "train", folder / "train", "--model", model, *route),
            watched("predict, 60,000", "predict", folder / "train", "--model", model, "--out", out),
            watched("predict, 10,000", "predict", folder / "test", "--model", model, "--out", out),
        ]
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
