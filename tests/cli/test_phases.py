"""Progress of a job: a bar a phase on a terminal, a line now and then elsewhere, and how long each phase took."""

import io

import pytest
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from hudi_engine.cli import phases as module
from hudi_engine.cli.phases import Phases


def shown(is_terminal: bool) -> tuple[Phases, io.StringIO]:
    out = io.StringIO()
    console = Console(file=out, force_terminal=is_terminal, width=100)
    bar = Progress(TextColumn("{task.description}", markup=False), BarColumn(), console=console, auto_refresh=False)
    phases = Phases(bar)
    return phases, out


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(module, "_LINE_EVERY_SECONDS", 0.0)


@pytest.mark.parametrize("is_terminal", [True, False])
def test_quick_work_shows_nothing(is_terminal: bool) -> None:
    phases, out = shown(is_terminal)

    phases.begin("plan", 2)
    phases.advance(2, 10)
    phases.end()

    assert (out.getvalue(), phases.has_bar) == ("", False)


def test_elsewhere_a_line_says_phase_rate_steps_and_time_left(impatient: None) -> None:
    phases, out = shown(is_terminal=False)

    phases.begin("read record keys", 4)
    phases.advance(1, 1000)
    phases.begin("catch-up")
    phases.advance(3)

    first, second = out.getvalue().splitlines()
    assert first.startswith("read record keys, ")
    assert " rows/s: 1 of 4, " in first
    assert first.endswith(" left")
    assert second == "catch-up: 3"


def test_on_a_terminal_each_phase_has_a_bar(impatient: None) -> None:
    phases, _ = shown(is_terminal=True)

    phases.begin("read", 4)
    phases.advance(1, 1000)
    phases.begin("write", 2)
    phases.advance(2)
    phases.end()
    phases.bar.stop()

    assert phases.has_bar
    read, write = phases.bar.tasks
    assert read.description.startswith("read, ")
    assert (write.description, write.completed, write.total) == ("write", 2, 2)
    assert read.finished
    assert write.finished


def test_what_is_said_is_a_line_at_once_and_no_terminal_sequence() -> None:
    phases, out = shown(is_terminal=False)

    phases.say("waiting for \x1b[2J[red]20260101")

    assert out.getvalue() == "waiting for \\x1b[2J[red]20260101\n"


def test_a_phase_that_comes_back_adds_to_its_time() -> None:
    phases, _ = shown(is_terminal=False)

    for phase in ("catch-up", "wait", "catch-up"):
        phases.begin(phase)
    phases.end()

    assert list(phases.seconds) == ["catch-up", "wait"]
    assert all(seconds >= 0 for seconds in phases.seconds.values())
