"""The command as a person runs it: a process, its output, its exit code."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_engine.cli.main import main
from tests.golden.unpack import unpack
from tests.kit.commands import Ran

GOLDEN = Path(__file__).parents[1] / "golden"


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
