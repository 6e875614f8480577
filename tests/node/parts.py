"""What a node needs beside tests/cluster: built once from Go modules into the user's cache.

python -m tests.node.parts
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.cluster.parts import KUBERNETES_VERSION, STAMPS, GoModule
from tools.go_programs import GoProgram
from tools.parts import PartMissingError, cached

CONTAINERD_VERSION: Final = "v2.2.9"
RUNC_VERSION: Final = "v1.4.3"
PLUGINS_VERSION: Final = "v1.9.1"

_BUILD: Final = Path(__file__).with_name("build")
_CONTAINERD: Final = "github.com/containerd/containerd/v2/cmd"
_PLUGINS: Final = "github.com/containernetworking/plugins/plugins"
_MODULES: Final = {
    "pause": GoModule("pause", "1", _BUILD / "pause"),
    "coredns": GoModule("coredns", "1.14.5", _BUILD / "dns"),
    "node": GoModule("node", KUBERNETES_VERSION, _BUILD / "kubernetes", STAMPS),
}
_PROGRAMS: Final = (
    *(
        GoProgram(name, f"{_CONTAINERD}/{name}", CONTAINERD_VERSION)
        for name in ("containerd", "containerd-shim-runc-v2", "ctr")
    ),
    *(
        GoProgram(path.rpartition("/")[2], f"{_PLUGINS}/{path}", PLUGINS_VERSION)
        for path in ("main/bridge", "main/loopback", "ipam/host-local")
    ),
)
_RUNC: Final = f"runc-{RUNC_VERSION}"


def programs() -> Mapping[str, Path]:
    """By the name that others call each by. Minutes if they are not in the cache yet."""
    return {
        **{program.name: program.built() for program in _PROGRAMS},
        "runc": cached("bin", _RUNC, _build_runc),
        **{name: module.built() for name, module in _MODULES.items()},
    }


def _build_runc(folder: Path) -> None:
    """The chart's pods have a seccomp profile, which runc applies by a C library: its headers come from Debian."""
    _done("apt-get", "-o", "APT::Sandbox::User=root", "download", "libseccomp-dev", at=folder)
    (package,) = folder.glob("libseccomp-dev_*.deb")
    root = folder / "root"
    _done("dpkg", "-x", package, root, at=folder)
    (library,) = root.glob("usr/lib/*/libseccomp.a")
    library.with_suffix(".so").unlink()  # the linker would prefer it
    settings = {
        "CGO_ENABLED": "1",
        "GOBIN": str(folder),
        "GOFLAGS": "-mod=mod",
        "GOTOOLCHAIN": "local",
        "PKG_CONFIG_PATH": str(library.parent / "pkgconfig"),
        "PKG_CONFIG_SYSROOT_DIR": str(root),
    }
    _done(
        *("nice", "-n", "19", "go", "install", "-trimpath", "-tags=seccomp,osusergo,netgo"),
        *("-ldflags=-s -w -extldflags -static", f"github.com/opencontainers/runc@{RUNC_VERSION}"),
        at=folder,
        settings=settings,
    )
    (folder / "runc").rename(folder / _RUNC)


def _done(*command: str | Path, at: Path, settings: Mapping[str, str] | None = None) -> None:
    if not shutil.which(command[0]):
        raise PartMissingError(f"{command[0]} is not on the PATH, and runc for the tests is not cached: install it")
    ran = subprocess.run(
        command, cwd=at, env=os.environ | (settings or {}), capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise PartMissingError(f"{' '.join(map(str, command))} ended with {ran.returncode}: {ran.stderr[-2000:]}")


if __name__ == "__main__":
    try:
        for name, program in programs().items():
            print(f"{name}  {program}  {program.stat().st_size >> 20} MB")
    except PartMissingError as missing:
        sys.exit(str(missing))
