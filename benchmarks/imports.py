"""Time to import the library."""

import subprocess
import sys

from _measure import Ratio, ratio


def _import(statement):
    return lambda: subprocess.run([sys.executable, "-c", statement], check=True)


def benchmarks():
    base = _import("import sklearn.svm")
    yield Ratio(
        "import invarlearn",
        "import sklearn.svm",
        ratio(_import("import invarlearn"), base),
        "<= 1.5 x",
    )
    yield Ratio(
        "from invarlearn import VirtualSVC",
        "import sklearn.svm",
        ratio(_import("from invarlearn import VirtualSVC"), base),
        "<= 1.5 x",
    )
