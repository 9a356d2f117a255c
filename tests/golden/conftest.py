"""Put the folder of tests on the path, so that ``golden`` can be imported as a package."""

import sys
from pathlib import Path

FOLDER = str(Path(__file__).resolve().parents[1])
if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)
