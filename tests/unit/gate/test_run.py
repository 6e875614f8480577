"""Parts that run: real processes of small programs."""

import os
import sys
import time
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.gate.downloads import downloads
from tests.gate.parts import ROOT, Gate, Part
from tests.gate.processes import run_shown
from tests.gate.run import run_part
from tests.gate.summary import Row

_FAILING_ONCE = """
from pathlib import Path
from {module} import {error}
def test_needs_a_server():
    runs = Path(__file__).with_name("runs")
    runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
    if runs.read_text() == "x":
        raise {error}("port 2181 was taken")
"""
_NEVER_ENDS = "import signal; signal.pause()"


def _run(folder: Path, part: Part, ceiling_seconds: float = 600, download: str = "python --version") -> Row:
    gate = Gate((part,), MappingProxyType({"server": download}), 0, ceiling_seconds, 60, folder)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with downloads(gate.downloads, folder, environment) as running:
        return run_part(part, gate, running, folder, environment)


def _tests(folder: Path, text: str) -> Part:
    (folder / "test_toy.py").write_text(text)
    options = ("-n", "0", "-p", "tests.gate.plugin")
    return Part("toy", 60, (), ("test_toy.py",), options, ())


def _commands(*commands: str, needs: tuple[str, ...] = ()) -> Part:
    return Part("toy", 60, commands, (), (), needs)


@pytest.mark.thorough
def test_a_test_that_the_harness_failed_runs_once_more_and_both_outcomes_are_reported(tmp_path: Path) -> None:
    row = _run(tmp_path, _tests(tmp_path, _FAILING_ONCE.format(module="tools.harness", error="HarnessError")))

    assert (row.passed, row.failed) == (1, ())
    assert row.notes == ("the harness failed 1 tests; of these run again 1 passed", "port 2181 was taken")


@pytest.mark.thorough
def test_a_test_that_failed_by_itself_never_runs_again(tmp_path: Path) -> None:
    row = _run(tmp_path, _tests(tmp_path, _FAILING_ONCE.format(module="builtins", error="RuntimeError")))

    assert (row.passed, len(row.failed), row.notes) == (0, 1, ())
    assert (tmp_path / "runs").read_text() == "x"


@pytest.mark.thorough
def test_tests_that_cannot_be_collected_fail_the_part(tmp_path: Path) -> None:
    row = _run(tmp_path, _tests(tmp_path, "import no_such_module\n"))

    assert row.failed != ()


def test_all_commands_of_a_part_run_though_the_first_fails(tmp_path: Path) -> None:
    row = _run(tmp_path, _commands("python -c 'raise SystemExit(3)'", "python -c ''"))

    assert (row.passed, row.failed) == (1, ("python -c 'raise SystemExit(3)' (exit code 3)",))


def test_the_cases_that_a_command_counts_are_counted(tmp_path: Path) -> None:
    row = _run(tmp_path, _commands("python -c \"print('41 passed, 2 failed'); raise SystemExit(1)\""))

    assert (row.passed, len(row.failed)) == (41, 2)


def test_a_part_that_reaches_its_ceiling_is_ended_and_has_failed(tmp_path: Path) -> None:
    row = _run(tmp_path, _commands(f"python -c '{_NEVER_ENDS}'"), ceiling_seconds=0)

    assert row.failed[0].endswith("ended because the part took 0:00 and still went on")


def test_a_process_that_outlives_the_program_that_started_it_is_ended(tmp_path: Path) -> None:
    script = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {_NEVER_ENDS!r}]).pid)"

    ended = run_shown([sys.executable, "-c", script], tmp_path / "log", tmp_path, os.environ, 60)

    assert (ended.code, ended.was_stopped) == (0, False)
    (child,) = set((tmp_path / "log").read_text().split())
    while _lives(child):  # it was killed; the kernel needs a moment
        time.sleep(0.01)


def test_a_download_that_fails_is_reported_once_and_fails_the_part_that_needs_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    row = _run(tmp_path, _commands("python -c ''", needs=("server",)), download="python -c 'exit(\"no network\")'")

    assert (row.passed, row.failed) == (0, ("toy: not run, because server could not be downloaded or built",))
    assert capfd.readouterr().out.count("no network") == 1


def test_the_time_of_a_download_is_no_time_of_the_part(tmp_path: Path) -> None:
    began = time.monotonic()

    row = _run(tmp_path, _commands(needs=("server",)))

    assert row.failed == ()
    assert row.seconds + row.waited_seconds <= time.monotonic() - began


def _lives(pid: str) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().split()[2] not in "ZX"
