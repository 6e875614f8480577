"""The file that says how far a job is."""

from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from hudi_engine.cli.phases import Phases, watching
from hudi_engine.cli.progress_file import ProgressFile
from hudi_engine.cli.veil import Veil
from hudi_engine.contract import RunProgress


def phases_to(path: Path) -> Phases:
    return Phases(Progress(console=Console(quiet=True), auto_refresh=False), Veil(("canary",)), ProgressFile(path))


def progress_in(path: Path) -> RunProgress:
    return RunProgress.from_json(path.read_text())


def test_it_is_there_as_soon_as_the_job_is_and_says_the_phase_at_its_begin_and_its_end(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    with watching(str(path)) as phases:
        first = progress_in(path)
        phases.begin("read record keys", 4)
        begun = progress_in(path)
        phases.advance(4, 1000)
        phases.begin("catch-up")
        second = progress_in(path)
    last = progress_in(path)

    assert (first.phase, first.done, first.total) == ("plan", 0, None)
    assert (begun.phase, begun.said, begun.done, begun.total, begun.percent) == ("base", "read record keys", 0, 4, 0.0)
    assert (second.phase, second.total, second.percent) == ("catch-up", None, None)
    assert last == second
    assert [file.name for file in tmp_path.iterdir()] == ["progress"]


def test_a_phase_that_ends_is_written_with_all_that_it_did(tmp_path: Path) -> None:
    phases = phases_to(tmp_path / "progress")

    phases.begin("write shards", 3)
    phases.advance(2, 700)
    phases.end()

    found = progress_in(tmp_path / "progress")
    assert (found.phase, found.done, found.rows, found.percent) == ("base", 2, 700, 66.7)


def test_what_is_said_is_in_it_without_secrets_and_without_control_characters(tmp_path: Path) -> None:
    phases = phases_to(tmp_path / "progress")

    phases.begin("catch-up")
    phases.say("waiting for canary\n" + "x" * 2000)
    phases.write()

    found = progress_in(tmp_path / "progress")
    assert found.said.startswith("waiting for ***\\x0a")
    assert len(found.said) == 1000


def test_it_is_written_by_and_by_while_nobody_begins_or_ends_a_phase(tmp_path: Path) -> None:
    phases = phases_to(tmp_path / "progress")
    phases.begin("base", 10)
    before = progress_in(tmp_path / "progress")

    phases.write()
    unchanged = progress_in(tmp_path / "progress")
    phases.advance(5)
    phases.write()

    assert unchanged == before
    assert progress_in(tmp_path / "progress").done == 5


def test_a_file_that_cannot_be_written_is_told_once_and_is_no_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    phases = phases_to(tmp_path / "no/folder")

    for phase in ("plan", "base", "catch-up"):
        phases.begin(phase)

    told = capsys.readouterr().err
    assert told.count("the progress could not be written") == 1
    assert "No such file or directory" in told
