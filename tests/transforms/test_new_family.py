"""A new family is one new file: everything else reads its class."""

import re
import runpy
from pathlib import Path

import pytest

from invarlearn import InvariantClassifier
from invarlearn.app.persistence import TRUSTED
from invarlearn.datasets import load_mnist_sample
from invarlearn.transforms import Custom, Family, Rotation, own_families
from invarlearn.transforms.spec import FAMILIES, stored_type_names

HAZE = '''
"""Blurred images."""

from scipy.ndimage import gaussian_filter

from invarlearn.transforms.actions import Functions, unchanged
from invarlearn.transforms.grid import ImageFamily


class Smooth:
    """A function of rows: convolve images with a Gaussian."""

    def __init__(self, sigma, grid):
        self.sigma = sigma
        self.grid = grid

    def __call__(self, X):
        images = X.reshape(-1, *self.grid)
        return gaussian_filter(images, (0, self.sigma, self.sigma, 0)).reshape(X.shape)


class Haze(ImageFamily):
    """Images convolved with a Gaussian.

    Parameters
    ----------
    sigma : float, default=1.0
        Standard deviation of the Gaussian, in pixels.
    shape : tuple, optional
        Shape of a row.
    """

    spec_name = "haze"
    stored_types = (Smooth,)
    ranges_about_zero = ("sigma",)

    def __init__(self, sigma=1.0, shape=None):
        self.sigma = sigma
        self.shape = shape

    def elements(self, n_features):
        return Functions([unchanged, Smooth(self.sigma, self.grid(n_features))])
'''

USE = """
import sys
import numpy as np
from typer.testing import CliRunner
from invarlearn import OrbitSVC
from invarlearn.app.cli import app
from invarlearn.app.models import Model
from invarlearn.app.persistence import load_model, save_model
from invarlearn.testing import check_family
from invarlearn.transforms import *
from invarlearn.transforms import describe_families, format_family, own_families, parse_family

family = parse_family("haze:0.5 rotation:15", fill="edge")
assert repr(family) == "Haze(sigma=0.5) * Rotation(fill='edge')", family
assert format_family(family, fill="edge") == "haze:0.5 rotation:15"
assert Haze in own_families()
X = np.random.RandomState(0).rand(20, 64)
for example in Haze.examples():
    check_family(example, X[:5])

(description,) = [row for row in describe_families() if row.class_name == "Haze"]
assert description.specification == "haze:1"
assert description.value == "sigma: Standard deviation of the Gaussian, in pixels"
for command in (["families"], ["train", "--help"]):
    assert "haze" in CliRunner().invoke(app, command).output, command

settings = {"kind": "rows", "n_features": 64, "shape": [8, 8]}
svc = OrbitSVC(family).fit(X, np.arange(20) % 2)
model = Model(svc, 1.0, settings, family=family, route="kernel", accuracy=(0.5, 0.4, 0.6),
              n_samples=20)
save_model(model, sys.argv[1])
again = load_model(sys.argv[1])
assert repr(again.family) == repr(family)
assert np.array_equal(again.estimator.predict(X), svc.predict(X))
"""


def test_a_new_family_is_one_new_file(run_with_files, tmp_path):
    result = run_with_files({"transforms/haze.py": HAZE}, USE, tmp_path / "a.skops")
    assert result.returncode == 0, result.stderr


MIRROR = '''
"""Mirrored volumes, which are a new kind of data."""

import numpy as np

from invarlearn.transforms.actions import Functions, unchanged
from invarlearn.transforms.base import Family
from invarlearn.transforms.domains import Domain

VOLUME = Domain("volume", ("depth", "height", "width"), "zero")


class Mirror(Family):
    """Volumes and their mirror images."""

    spec_name = "mirror"
    domain = VOLUME

    def __init__(self, shape=None):
        self.shape = shape

    def elements(self, n_features):
        return Functions([unchanged, np.fliplr])
'''

USE_MIRROR = """
import warnings
import numpy as np
from typer.testing import CliRunner
from invarlearn import InvariantClassifier
from invarlearn.app.cli import app
from invarlearn.transforms import *
from invarlearn.transforms import describe_families, own_families

assert own_families()[-1] is Mirror
assert describe_families()[-1].domain == "volume"
assert "mirror" in CliRunner().invoke(app, ["families"]).output
X = np.random.RandomState(0).rand(20, 64)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    InvariantClassifier(Mirror(), n_copies=2).fit(X, np.arange(20) % 2)
assert any("no default features for the domain 'volume'" in str(w.message) for w in caught), caught
"""


def test_a_new_family_may_declare_a_new_domain(run_with_files):
    result = run_with_files({"transforms/mirror.py": MIRROR}, USE_MIRROR)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HAZE.replace('"haze"', '"rotation"'), "have the same spec_name 'rotation'"),
        (
            HAZE.replace("(Smooth,)", "(gaussian_filter,)"),
            "stored_types may contain classes of invarlearn.transforms only",
        ),
    ],
    ids=["name taken", "foreign type"],
)
def test_a_wrong_declaration_is_an_error(text, message, run_with_files):
    result = run_with_files({"transforms/haze.py": text}, "import invarlearn.app.persistence")
    assert result.returncode == 1
    assert message in result.stderr


def test_the_tables_in_the_documentation_are_current():
    docs = Path(__file__).parents[2] / "docs"
    pages = runpy.run_path(str(docs / "class_tables.py"))["pages"]()
    assert {path.name for path in pages} == {"families.md", "api.rst"}
    for path, text in pages.items():
        assert path.read_text() == text, f"run python docs/class_tables.py: {path.name} is old"


def test_a_user_defined_image_family_has_image_features_in_under_25_lines():
    page = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    (code,) = [block for block in blocks if "(ImageFamily)" in block]
    assert code.count("\n") < 25
    names = {"__name__": "page"}
    exec(code.partition("digits =")[0], names)
    sample = load_mnist_sample()
    model = InvariantClassifier(names["Vignette"](), n_copies=5)
    model.fit(sample.X_train[:40], sample.y_train[:40])
    builtin = InvariantClassifier(Rotation(15), n_copies=5)
    builtin.fit(sample.X_train[:40], sample.y_train[:40])
    assert [type(step) for _, step in model.features_.steps] == [
        type(step) for _, step in builtin.features_.steps
    ]


def test_families_of_other_packages_are_never_trusted():
    class Foreign(Custom):
        spec_name = "foreign"

    # also if it claims to belong to this package
    Foreign.__module__ = "invarlearn.transforms.images"
    assert "foreign" not in FAMILIES
    assert Foreign not in own_families()
    assert set(stored_type_names()) <= set(TRUSTED)
    own = [name for name in TRUSTED if name.startswith("invarlearn.transforms")]
    assert not [name for name in own if "Foreign" in name or "Custom" in name]


def test_the_table_has_every_family_with_a_name():
    named = {family for family in own_families() if family.spec_name not in ("", "nothing")}
    assert named == set(FAMILIES.values())
    assert all(issubclass(family, Family) for family in named)
