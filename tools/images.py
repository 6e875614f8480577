"""The images of Dockerfile, built by buildah, docker or podman.

python -m tools.images [--base IMAGE] [--spark VERSION] [--tag TAG]
"""

import argparse
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tools.parts import PartMissingError

REPOSITORIES: Final = {"operator": "hudi-operator", "engine": "hudi-operator-engine"}
"""Each target of Dockerfile, and what its image is called."""

_ROOT: Final = Path(__file__).parents[1]
# All three take the same options, as far as they are used here.
_BUILDERS: Final = ("buildah", "docker", "podman")


def build(target: str, tag: str, arguments: Mapping[str, str]) -> str:
    """Build the image of a target. Returns its name and tag."""
    name = f"{REPOSITORIES[target]}:{tag}"
    given = {"VERSION": _version(), "REVISION": _revision(), **arguments}
    options = [word for key, value in given.items() for word in ("--build-arg", f"{key}={value}")]
    command = [_builder(), "build", "--target", target, "--tag", name, *options, str(_ROOT)]
    if code := subprocess.run(command, check=False).returncode:
        raise PartMissingError(f"{' '.join(command)} ended with {code}; the lines above say why")
    return name


def size(name: str) -> str:
    """What the image takes uncompressed, as its builder reports it."""
    command = [_builder(), "images", "--format", "{{.Size}}", name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _builder() -> str:
    for name in _BUILDERS:
        if shutil.which(name):
            return name
    raise PartMissingError(f"none of {', '.join(_BUILDERS)} is on the PATH: install one of them (apt install buildah)")


def _version() -> str:
    return str(tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["version"])


def _revision() -> str:
    found = subprocess.run(["git", "rev-parse", "HEAD"], cwd=_ROOT, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description="Build both images.")
    parser.add_argument("--base", help="an image of a Debian with Python 3.11; default: Dockerfile's")
    parser.add_argument("--spark", help="the version of PySpark; default: requirements.lock's")
    parser.add_argument("--tag", default=_version())
    asked = parser.parse_args()
    arguments = {"BASE": asked.base, "SPARK_VERSION": asked.spark}
    given = {key: value for key, value in arguments.items() if value}
    names = [build(target, asked.tag, given) for target in REPOSITORIES]
    for name in names:
        print(f"{name}  {size(name)}")


if __name__ == "__main__":
    try:
        main()
    except PartMissingError as missing:
        sys.exit(str(missing))
