"""The distributions that pyproject.toml declares."""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

PROJECT: Final[dict[str, Any]] = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
CORE: Final = "core"


def declared() -> dict[str, set[str]]:
    """Names of distributions, by extra; those of every installation by `CORE`."""
    project = PROJECT["project"]
    return {CORE: names(project["dependencies"])} | {
        extra: names(texts) for extra, texts in project["optional-dependencies"].items()
    }


def names(requirements: list[str]) -> set[str]:
    return {plain(re.split(r"[<>=!~;\[ ]", text)[0]) for text in requirements}


def plain(name: str) -> str:
    """One spelling of a distribution's name, of the many that are allowed."""
    return re.sub(r"[-_.]+", "-", name).lower()
