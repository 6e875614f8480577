"""Programs of Go modules, built once into the user's cache.

python -m tools.go_programs    builds those of the chart's tests
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.parts import PartMissingError, cached


@dataclass(frozen=True, slots=True)
class GoProgram:
    """`package` is its path without a version."""

    name: str
    package: str
    version: str

    def built(self) -> Path:
        """The program, from the user's cache or built into it. That takes seconds to minutes."""
        return cached("bin", f"{self.name}-{self.version}", self._install)

    def _install(self, folder: Path) -> None:
        if not shutil.which("go"):
            raise PartMissingError(
                f"go is not on the PATH, and {self.name}, which tests need, is not cached: install Go 1.25"
            )
        command = ["nice", "-n", "19", "go", "install", "-trimpath", "-ldflags=-s -w", f"{self.package}@{self.version}"]
        settings = {"GOBIN": str(folder), "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        done = subprocess.run(command, env=os.environ | settings, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise PartMissingError(f"{' '.join(command)} failed with {done.returncode}: {done.stderr[-2000:]}")
        (folder / self.name).rename(folder / f"{self.name}-{self.version}")


S3_SERVER: Final = GoProgram("versitygw", "github.com/versity/versitygw/cmd/versitygw", "v1.8.0")
HELM: Final = GoProgram("helm", "helm.sh/helm/v3/cmd/helm", "v3.20.2")
LUA: Final = GoProgram("glua", "github.com/yuin/gopher-lua/cmd/glua", "v1.1.1")
"""The interpreter that Argo CD runs health checks with."""


if __name__ == "__main__":
    try:
        for program in (HELM, LUA):
            print(program.built())
    except PartMissingError as missing:
        sys.exit(str(missing))
