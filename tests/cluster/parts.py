"""etcd, the API server, the controller manager and kubectl: one program, built once from Go modules.

python -m tests.cluster.parts
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tools.parts import PartMissingError, cached

KUBERNETES_VERSION: Final = "1.35.4"

_BUILD: Final = Path(__file__).with_name("build")
_SECONDS_BETWEEN_WORDS: Final = 15
_MAJOR, _MINOR, _ = KUBERNETES_VERSION.split(".")
_VERSION_PACKAGE: Final = "k8s.io/component-base/version"
_STAMPED: Final = {
    f"{_VERSION_PACKAGE}.gitVersion": f"v{KUBERNETES_VERSION}",
    f"{_VERSION_PACKAGE}.gitMajor": _MAJOR,
    f"{_VERSION_PACKAGE}.gitMinor": _MINOR,
    f"{_VERSION_PACKAGE}.gitTreeState": "clean",
    "k8s.io/client-go/pkg/version.gitVersion": f"v{KUBERNETES_VERSION}",
}


def kubernetes() -> Path:
    """The program; its first argument says which component it is. Minutes if it is not in the cache yet."""
    return cached("kubernetes", f"kubernetes-{KUBERNETES_VERSION}-{_digest()}", _build)


def _digest() -> str:
    sources = (_BUILD / name for name in ("main.go", "go.mod", "go.sum"))
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()[:12]


def _build(folder: Path) -> None:
    if not shutil.which("go"):
        raise PartMissingError("go is not on the PATH, and Kubernetes for the tests is not cached: install Go 1.25")
    stamps = " ".join(f"-X {name}={value}" for name, value in _STAMPED.items())
    target = folder / f"kubernetes-{KUBERNETES_VERSION}-{_digest()}"
    command: list[str | Path] = [
        *("nice", "-n", "19", "go", "build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false"),
        *("-ldflags", f"-s -w {stamps}", "-o", target, "."),
    ]
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as said:
        building = subprocess.Popen(command, cwd=_BUILD, stderr=said, env={**os.environ, "CGO_ENABLED": "0"})
        while _is_going_on(building):
            _say(f"{_lines(said.fileno())} packages compiled or fetched after {time.monotonic() - began:.0f} s")
        said.seek(0)
        if building.returncode:
            raise PartMissingError(f"go build in {_BUILD} ended with {building.returncode}: {said.read()[-3000:]}")
    _say(f"{target.stat().st_size >> 20} MB after {time.monotonic() - began:.0f} s")


def _is_going_on(building: subprocess.Popen[bytes]) -> bool:
    try:
        building.wait(_SECONDS_BETWEEN_WORDS)
    except subprocess.TimeoutExpired:
        return True
    return False


def _lines(file: int) -> int:
    return os.pread(file, os.fstat(file).st_size, 0).count(b"\n")


def _say(what: str) -> None:
    print(f"Kubernetes {KUBERNETES_VERSION} for the tests: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        print(kubernetes())
    except PartMissingError as missing:
        sys.exit(str(missing))
