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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tools.parts import PartMissingError, cached

KUBERNETES_VERSION: Final = "1.35.4"

_SECONDS_BETWEEN_WORDS: Final = 15
_MAJOR, _MINOR, _ = KUBERNETES_VERSION.split(".")
_VERSION_PACKAGE: Final = "k8s.io/component-base/version"


@dataclass(frozen=True, slots=True)
class GoModule:
    """A program of a Go module in this repository. `stamps` are variables that the linker sets."""

    name: str
    version: str
    folder: Path
    stamps: Mapping[str, str] = field(default_factory=dict)

    def built(self) -> Path:
        """The program, from the user's cache or built into it. That takes minutes."""
        name = f"{self.name}-{self.version}-{self._digest()}"
        return cached("kubernetes", name, lambda folder: self._build(folder / name))

    def _digest(self) -> str:
        sources = (self.folder / name for name in ("main.go", "go.mod", "go.sum"))
        return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()[:12]

    def _build(self, target: Path) -> None:
        if not shutil.which("go"):
            raise PartMissingError(
                f"go is not on the PATH, and {self.name} for the tests is not cached: install Go 1.25"
            )
        stamps = " ".join(f"-X {name}={value}" for name, value in self.stamps.items())
        command: list[str | Path] = [
            *("nice", "-n", "19", "go", "build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false"),
            *("-ldflags", f"-s -w {stamps}", "-o", target, "."),
        ]
        began = time.monotonic()
        with tempfile.TemporaryFile("w+") as said:
            building = subprocess.Popen(command, cwd=self.folder, stderr=said, env={**os.environ, "CGO_ENABLED": "0"})
            while _is_going_on(building):
                self._say(
                    f"{_lines(said.fileno())} packages compiled or fetched after {time.monotonic() - began:.0f} s"
                )
            said.seek(0)
            if building.returncode:
                raise PartMissingError(
                    f"go build in {self.folder} ended with {building.returncode}: {said.read()[-3000:]}"
                )
        self._say(f"{target.stat().st_size >> 20} MB after {time.monotonic() - began:.0f} s")

    def _say(self, what: str) -> None:
        print(f"{self.name} {self.version} for the tests: {what}", file=sys.stderr, flush=True)


STAMPS: Final = {
    f"{_VERSION_PACKAGE}.gitVersion": f"v{KUBERNETES_VERSION}",
    f"{_VERSION_PACKAGE}.gitMajor": _MAJOR,
    f"{_VERSION_PACKAGE}.gitMinor": _MINOR,
    f"{_VERSION_PACKAGE}.gitTreeState": "clean",
    "k8s.io/client-go/pkg/version.gitVersion": f"v{KUBERNETES_VERSION}",
}
_KUBERNETES: Final = GoModule("kubernetes", KUBERNETES_VERSION, Path(__file__).with_name("build"), STAMPS)


def kubernetes() -> Path:
    """The program; its first argument says which component it is. Minutes if it is not in the cache yet."""
    return _KUBERNETES.built()


def _is_going_on(building: subprocess.Popen[bytes]) -> bool:
    try:
        building.wait(_SECONDS_BETWEEN_WORDS)
    except subprocess.TimeoutExpired:
        return True
    return False


def _lines(file: int) -> int:
    return os.pread(file, os.fstat(file).st_size, 0).count(b"\n")


if __name__ == "__main__":
    try:
        print(kubernetes())
    except PartMissingError as missing:
        sys.exit(str(missing))
