"""Install each wheel or sdist into a fresh environment, and test the installed package there.

Run ``python scripts/smoke.py dist/*`` with the Python version to test, as ``make dist`` does. The
script ends with an error if a test fails.
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


def check(condition, failure):
    """End the script with a message unless a condition holds."""
    # PYTHONOPTIMIZE disables assert statements
    if not condition:
        raise SystemExit(f"smoke: {failure}")


def files(folder):
    """Return the names of all files in a folder and its subfolders, except compiled ones."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in paths if "__pycache__" not in path.parts}


def run(*command, **options):
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, **options)


def smoke(path):
    if path.name.endswith(".tar.gz"):
        check_sdist(path)
    with tempfile.TemporaryDirectory() as folder:
        environment, elsewhere = Path(folder, "venv"), Path(folder, "elsewhere")
        elsewhere.mkdir()
        venv.create(environment, with_pip=True)
        python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
        # environment variables must not refer to this checkout or its data
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "INVARLEARN"))}
        run(python, "-m", "pip", "install", "--quiet", path, cwd=elsewhere, env=clean)
        # -I removes the folder of this script from the path
        run(python, "-I", Path(__file__).resolve(), "--inside", cwd=elsewhere, env=clean)
    print(f"smoke: {path.name} works with Python {sys.version.split()[0]}", flush=True)


def check_sdist(path):
    """Check that an sdist contains the sources, the tests and the files that these read."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = {f"{folder}/{name}" for folder in ("src", "tests") for name in files(ROOT / folder)}
    expected |= {"LICENSE", "Makefile", "README.md", "docs/index.md", "pyproject.toml"}
    check(expected <= names, f"{path.name} lacks {sorted(expected - names)}")


def inside():
    """Test the installed library, in an empty working directory."""
    check_installed()
    check_imports()
    digits = check_estimator()
    check_commands(digits)


def check_installed():
    import invarlearn

    package = Path(invarlearn.__file__).parent
    check(package.is_relative_to(sys.prefix), f"{package} is not in the fresh environment")
    expected, installed = files(ROOT / "src" / "invarlearn"), files(package)
    check(expected == installed, f"package and sources differ in {sorted(expected ^ installed)}")
    distribution = metadata.distribution("invarlearn")
    check(distribution.version == invarlearn.__version__, "versions differ")
    names = [Path(name).name for name in distribution.files or []]
    check("LICENSE" in names, "the licence is not installed")


def check_imports():
    import invarlearn

    packages = pkgutil.walk_packages(invarlearn.__path__, "invarlearn.")
    modules = [module.name for module in packages if "._" not in module.name]
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
    accuracy = (model.predict(digits.X_test) == digits.y_test).mean()
    print(f"50 labels: accuracy {100 * accuracy:.1f} %")
    check(accuracy > 0.8, "the accuracy is too low")
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
    correct = sum(Path(row["sample"]).parent.name == row["label"] for row in rows)
    check(len(rows) == 50 and correct > 35, f"{correct} of {len(rows)} predictions are correct")
    page = Path("a.html").read_text(encoding="utf-8")
    css = ROOT / "src" / "invarlearn" / "report" / "templates" / "page.css"
    check(css.read_text(encoding="utf-8").strip() in page, "the report lacks its style")


def write_images(folder, X, y, n_per_class):
    from PIL import Image

    for label in range(10):
        (folder / str(label)).mkdir(parents=True)
        for i, row in enumerate(X[y == label][:n_per_class]):
            pixels = (255 * row).round().astype("uint8").reshape(28, 28)
            Image.fromarray(pixels).save(folder / str(label) / f"{i}.png")


if __name__ == "__main__":
    check(len(sys.argv) > 1, "name the files to test, such as dist/*")
    if sys.argv[1:] == ["--inside"]:
        inside()
    else:
        for name in sys.argv[1:]:
            smoke(Path(name).resolve(strict=True))
