"""A base image from Debian's packages, for machines without a registry of images."""

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from tools.harness import HarnessError
from tools.parts import cached

NAME: Final = "localhost/debian-python:1"

_LEFT_OUT: Final = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*")
# The image trusts the authorities that this machine trusts: packages may come through a proxy of its own.
_AUTHORITIES: Final = Path("/usr/local/share/ca-certificates")
_TRUST: Final = (
    f'mkdir -p "$1{_AUTHORITIES}" && cp -r {_AUTHORITIES}/. "$1{_AUTHORITIES}" && chroot "$1" update-ca-certificates'
)
_COMMAND: Final = (
    *("nice", "-n", "19", "mmdebstrap", "--quiet", "--variant=minbase", "--include=python3,ca-certificates"),
    *(f"--dpkgopt=path-exclude={path}" for path in _LEFT_OUT),
    f"--customize-hook={_TRUST}",
    "bookworm",
)
_RECIPE: Final = """\
FROM scratch
ADD base.tar /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
"""


def make_base() -> None:
    """Put the image into buildah's store. The packages come from the user's cache, or from Debian."""
    name = f"base-{hashlib.sha256(' '.join(_COMMAND).encode()).hexdigest()[:12]}.tar"
    packed = cached("images", name, lambda folder: _make(folder / name))
    with tempfile.TemporaryDirectory(dir=packed.parent) as folder:
        (Path(folder) / "Dockerfile").write_text(_RECIPE)
        os.link(packed, Path(folder) / "base.tar")
        done("buildah", "build", "--quiet", "--tag", NAME, folder)


def _make(packed: Path) -> None:
    done(*_COMMAND, packed)


def done(*command: str | Path) -> str:
    """The output of a program that has to succeed."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        said = (ran.stdout + ran.stderr)[-3000:]
        raise HarnessError(f"{' '.join(map(str, command))} ended with {ran.returncode}: {said}")
    return ran.stdout
