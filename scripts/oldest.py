"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

``make test-oldest`` runs the suite with them.
"""

import re
import tomllib
from pathlib import Path

# the extras that the test suite needs
EXTRAS = ["dask", "parquet", "test"]


def oldest(requirement):
    """Turn ``name[extra]>=1.2`` into ``name==1.2``: constraints may not name extras."""
    match = re.fullmatch(r"([\w.-]+)(?:\[.*\])?>=([\w.]+)", requirement)
    if match is None:
        raise SystemExit(f"{requirement!r} in pyproject.toml is not of the form name>=version")
    return "{}=={}".format(*match.groups())


def main():
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"]
    for requirement in sum((extras[name] for name in EXTRAS), project["dependencies"]):
        print(oldest(requirement))


if __name__ == "__main__":
    main()
