"""`hudi-engine` as a process: its output, its exit code."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ENGINE: Final = Path(sys.executable).with_name("hudi-engine")


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def run_engine(*arguments: str | Path, given: str | None = None) -> Ran:
    """The command with these arguments; `given` is its standard input."""
    done = subprocess.run([ENGINE, *arguments], input=given, capture_output=True, text=True, timeout=60, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)
