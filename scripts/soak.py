"""Train and predict on 60,000 images from a folder, and sample memory: it must stay flat.

``python scripts/soak.py`` with ``INVARLEARN_DATA`` set. Training has phases that need more or less,
so it is done with half of the images and with all: the most that all need may be no more than a
tenth above the most of half. Predicting goes block by block: in its last third it may need no more
than a tenth above its middle third. Otherwise the script ends with an error.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from invarlearn.datasets import fetch_mnist

SECONDS = 1


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
    if process.returncode:
        sys.exit(process.returncode)
    return samples


def flat(name, before, after):
    """Say whether memory stays flat; give 1 if not."""
    kept = max(after) <= 1.1 * max(before)
    print(f"{name}: {max(before):.0f}, then {max(after):.0f} MiB: {'flat' if kept else 'NOT flat'}")
    return int(not kept)


def main():
    data = fetch_mnist()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        write_images(folder / "half", data.X_train[:30000], data.y_train[:30000])
        write_images(folder / "all", data.X_train, data.y_train)
        write_images(folder / "test", data.X_test, data.y_test)
        model, out = folder / "m.skops", folder / "p.csv"
        route, to = ["--route", "invariant"], ["--model", model, "--out", out]
        half = watched("train, 30,000", "train", folder / "half", "--model", model, *route)
        all_ = watched("train, 60,000", "train", folder / "all", "--model", model, *route)
        predicting = watched("predict, 60,000", "predict", folder / "all", *to)
        watched("predict, 10,000", "predict", folder / "test", *to)
        _, middle, last = np.array_split(predicting, 3)
    sys.exit(max(flat("train", half, all_), flat("predict", middle, last)))


if __name__ == "__main__":
    main()
