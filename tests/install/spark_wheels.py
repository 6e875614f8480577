"""Wheels of PySpark, in the user's cache.

The index has PySpark as source only: 300 MB, from which each environment would build a wheel of its own.
"""

import sys
from pathlib import Path

from tests.install.uv import done, uv
from tools.parts import cache_folder, cached


def spark_wheels(wanted: str) -> Path:
    """A folder that has the newest and the lowest PySpark of this requirement."""
    for resolution in ("highest", "lowest"):
        listed = uv("pip", "compile", "-", "--no-deps", "--no-header", "--resolution", resolution, given=wanted)
        _wheel(listed.strip())
    return cache_folder() / "wheels"


def _wheel(pinned: str) -> Path:
    def build(folder: Path) -> None:
        done(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, pinned)

    return cached("wheels", f"{pinned.replace('==', '-')}-py2.py3-none-any.whl", build)
