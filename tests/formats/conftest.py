"""Makes the helper modules of the importers importable (tests are imported with --import-mode=importlib)."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "importing"))
