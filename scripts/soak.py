"""Train and predict on folders of 30,000 and 60,000 images, and check that memory is bounded.

Run ``python scripts/soak.py`` with ``INVARLEARN_DATA`` set. The peak memory of training on 60,000
images may exceed that of 30,000 by at most a tenth. In ``predict``, the peak memory in the last
third of the time may exceed that in the middle third by at most a tenth. Otherwise the script ends
with an error.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from invarlearn.datasets import fetch_mnist

# Seconds between two measurements of memory.
SECONDS = 1


def write_images(folder, X, y):
    for label in np.unique(y):
        (folder / str(label)).mkdir(parents=True)
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        pixels = np.round(255 * row).astype(np.uint8).reshape(28, 28)
        Image.fromarray(pixels).save(folder / str(label) / f"{i:05}.png")


def resident(pid):
    """Return the resident memory of a process, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def watched(name, *arguments):
    """Run a command, print its memory over time, and return the measurements of memory."""
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


def exceeds(name, before, after):
    """Return whether the peak memory grew by more than a tenth, and print both peaks."""
    grew = max(after) > 1.1 * max(before)
    verdict = "NOT bounded" if grew else "bounded"
    print(f"{name}: {max(before):.0f}, then {max(after):.0f} MiB: {verdict}")
    return grew


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
    failures = [exceeds("train", half, all_), exceeds("predict", middle, last)]
    sys.exit(int(any(failures)))


if __name__ == "__main__":
    main()
