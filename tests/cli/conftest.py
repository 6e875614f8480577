"""The command as a person runs it: a process, its output, its exit code."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hudi_engine.cli.main import main
from tests.golden.unpack import unpack

GOLDEN = Path(__file__).parents[1] / "golden"
ENGINE = Path(sys.executable).with_name("hudi-engine")


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


@pytest.fixture
def golden(tmp_path: Path) -> Callable[[str], Path]:
    """A golden table, unpacked where the test may damage it."""

    return lambda name: unpack(name, tmp_path)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """The command in this process: what it wrote, and its exit code."""

    def run(*arguments: str | Path) -> Ran:
        monkeypatch.setattr(sys, "argv", ["hudi-engine", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        assert isinstance(left.value.code, int | None)
        return Ran(left.value.code or 0, said.out, said.err)

    return run
