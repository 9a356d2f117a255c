"""Install each wheel or sdist in a fresh environment, and use it there as a user would.

``python scripts/smoke.py dist/*``, with the Python to try; ``make dist`` does. It ends with an
error if anything is wrong.
"""

import csv
import os
import pkgutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from importlib import import_module, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def check(right, what):
    # not assert: that would do nothing under PYTHONOPTIMIZE
    if not right:
        raise SystemExit(f"smoke: {what}")


def files(folder):
    """Give the names of all files below a folder, but for compiled ones."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if "__pycache__" not in path.parts}


def run(*command, **options):
    print("$", *command, flush=True)
    subprocess.run([str(one) for one in command], check=True, **options)


def smoke(path):
    if path.name.endswith(".tar.gz"):
        check_sdist(path)
    with tempfile.TemporaryDirectory() as folder:
        environment, elsewhere = Path(folder, "venv"), Path(folder, "elsewhere")
        elsewhere.mkdir()
        venv.create(environment, with_pip=True)
        python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
        # nothing that the shell says may reach this checkout or its data
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "INVARLEARN"))}
        run(python, "-m", "pip", "install", "--quiet", path, cwd=elsewhere, env=clean)
        # -I keeps the folder of this script off the path
        run(python, "-I", Path(__file__).resolve(), "--inside", cwd=elsewhere, env=clean)
    print(f"smoke: {path.name} works with Python {sys.version.split()[0]}", flush=True)


def check_sdist(path):
    """The sdist has the sources, the tests and what these read."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {f"{folder}/{name}" for folder in ("src", "tests") for name in files(ROOT / folder)}
    wanted |= {"LICENSE", "Makefile", "README.md", "docs/index.md", "pyproject.toml"}
    check(wanted <= names, f"{path.name} lacks {sorted(wanted - names)}")


def inside():
    """Use the installed library; the working directory is empty."""
    check_installed()
    check_imports()
    digits = check_estimator()
    check_commands(digits)


def check_installed():
    import invarlearn

    package = Path(invarlearn.__file__).parent
    check(package.is_relative_to(sys.prefix), f"{package} is not in the fresh environment")
    wanted, found = files(ROOT / "src" / "invarlearn"), files(package)
    check(wanted == found, f"package and sources differ in {sorted(wanted ^ found)}")
    distribution = metadata.distribution("invarlearn")
    check(distribution.version == invarlearn.__version__, "versions differ")
    names = [Path(name).name for name in distribution.files or []]
    check("LICENSE" in names, "the licence is not installed")


def check_imports():
    import invarlearn

    found = pkgutil.walk_packages(invarlearn.__path__, "invarlearn.")
    modules = [one.name for one in found if "._" not in one.name]
    check(len(modules) > 50, f"only {len(modules)} modules")
    for name in ["invarlearn", *modules]:
        module = import_module(name)
        for public in getattr(module, "__all__", []):
            getattr(module, public)
    print(f"{len(modules)} modules imported")


def check_estimator():
    from invarlearn import InvariantClassifier
    from invarlearn.datasets import load_mnist_sample

    digits = load_mnist_sample()
    model = InvariantClassifier(random_state=0).fit(digits.X_train[:50], digits.y_train[:50])
    right = (model.predict(digits.X_test) == digits.y_test).mean()
    print(f"50 labels: {100 * right:.1f} % right")
    check(right > 0.8, "that is too few")
    return digits


def check_commands(digits):
    write_images(Path("train"), digits.X_train, digits.y_train, 5)
    write_images(Path("test"), digits.X_test, digits.y_test, 5)
    invarlearn = Path(sys.executable).with_name("invarlearn")
    run(invarlearn, "--help", stdout=subprocess.DEVNULL)
    run(invarlearn, "--version")
    run(invarlearn, "train", "train", "--model", "m.skops", "--route", "invariant")
    run(invarlearn, "predict", "test", "--model", "m.skops", "--out", "p.csv")
    run(invarlearn, "audit", "test", "--model", "m.skops", "--out", "a.html", "--elements", 5)
    with open("p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    right = sum(Path(row["sample"]).parent.name == row["label"] for row in rows)
    check(len(rows) == 50 and right > 35, f"{right} of {len(rows)} predictions are right")
    page = Path("a.html").read_text(encoding="utf-8")
    css = ROOT / "src" / "invarlearn" / "report" / "page.css"
    check(css.read_text(encoding="utf-8").strip() in page, "the report lacks its style")


def write_images(folder, X, y, each):
    from PIL import Image

    for label in range(10):
        (folder / str(label)).mkdir(parents=True)
        for i, row in enumerate(X[y == label][:each]):
            pixels = (255 * row).round().astype("uint8").reshape(28, 28)
            Image.fromarray(pixels).save(folder / str(label) / f"{i}.png")


if __name__ == "__main__":
    check(len(sys.argv) > 1, "say which files to try, such as dist/*")
    if sys.argv[1:] == ["--inside"]:
        inside()
    else:
        for name in sys.argv[1:]:
            smoke(Path(name).resolve(strict=True))
