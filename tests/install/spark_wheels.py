"""Wheels of PySpark, in the user's cache.

The index has PySpark as source only: 300 MB, from which each environment would build a wheel of its own.

python -m tests.install.spark_wheels    (the gate does this in the background)
"""

import sys
from pathlib import Path

from tests.install.pyproject import PROJECT
from tests.install.uv import done, uv
from tools.parts import cache_folder, cached


def spark_wheels() -> Path:
    """A folder that has the newest and the lowest PySpark that pyproject.toml allows."""
    (wanted,) = (text for text in PROJECT["optional-dependencies"]["spark"] if text.startswith("pyspark"))
    for resolution in ("highest", "lowest"):
        listed = uv("pip", "compile", "-", "--no-deps", "--no-header", "--resolution", resolution, given=wanted)
        _wheel(listed.strip())
    return cache_folder() / "wheels"


def _wheel(pinned: str) -> Path:
    def build(folder: Path) -> None:
        done(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, pinned)

    return cached("wheels", f"{pinned.replace('==', '-')}-py2.py3-none-any.whl", build)


if __name__ == "__main__":
    print(spark_wheels())
