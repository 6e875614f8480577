"""uv and other programs that have to succeed."""

import subprocess
import sys
from pathlib import Path
from typing import Final

_UV: Final = Path(sys.executable).with_name("uv")


def uv(*arguments: str | Path, given: str = "") -> str:
    """What uv prints; `given` is its standard input."""
    return done(_UV, *arguments, given=given)


def done(*command: str | Path, given: str = "") -> str:
    ran = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{' '.join(map(str, command))}\n{ran.stdout}{ran.stderr}"
    return ran.stdout
