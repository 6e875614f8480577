"""The order and the time of a soak part's tests: a small pytest run in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gate.parts import ROOT
from tests.gate.results import Tally
from tests.soak.run import tests_left as left_of

pytestmark = pytest.mark.thorough

_TESTS = """
import pytest
@pytest.mark.parametrize("number", range(30))
def test_it(number): pass
"""


def _run(folder: Path, *options: str, seconds: float = 600, seed: int = 1) -> tuple[int, list[str]]:
    """How many tests passed, and the names of all in their order."""
    (folder / "test_toy.py").write_text(_TESTS)
    limits = (f"--soak-seconds={seconds}", f"--soak-items={folder / 'items'}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.soak.plugin", *limits, *options, "test_toy.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HUDI_SOAK_SEED": str(seed)}
    said = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout
    last = said.splitlines()[-1]
    return int(last.split()[0]) if " passed" in last else 0, (folder / "items").read_text().splitlines()


def test_a_run_goes_on_from_the_test_at_which_the_last_one_ended(tmp_path: Path) -> None:
    passed, names = _run(tmp_path, "--soak-from=test_toy.py::test_it[25]")

    assert passed == 5
    assert names[0] == "test_toy.py::test_it[25]"


def test_a_run_begins_anew_if_the_test_to_go_on_from_is_gone(tmp_path: Path) -> None:
    passed, _ = _run(tmp_path, "--soak-from=test_toy.py::test_renamed")

    assert passed == 30


def test_no_test_begins_when_the_time_is_over(tmp_path: Path) -> None:
    passed, names = _run(tmp_path, seconds=0)

    assert (passed, len(names)) == (0, 30)


def test_the_seed_alone_decides_the_order(tmp_path: Path) -> None:
    orders = [_run(tmp_path, "--soak-shuffle", seed=seed)[1] for seed in (1, 1, 2)]

    assert orders[0] == orders[1] != orders[2]


def test_processes_of_xdist_agree_on_the_order(tmp_path: Path) -> None:
    passed, _ = _run(tmp_path, "-n", "2", "--soak-shuffle")

    assert passed == 30


def test_the_next_run_begins_with_the_first_test_that_has_no_result() -> None:
    assert left_of(["a", "b", "c", "d"], Tally(("a",), ("c",), {}, ())) == ("b", "d")
