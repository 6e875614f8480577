"""pyproject.toml, as the tests of the installation read it."""

import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
PYPROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT: Final[dict[str, Any]] = PYPROJECT["project"]
