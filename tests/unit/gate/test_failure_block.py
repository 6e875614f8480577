"""What a failed test is reported with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gate.evidence_files import blocks_below, last_lines
from tests.gate.parts import ROOT

_FAILING = """
import pytest
from tests.kit import evidence

@pytest.mark.parametrize("seed", [17])
def test_builds(seed, tmp_path, server):
    hoodie = tmp_path / "orders" / ".hoodie"
    (hoodie / "timeline").mkdir(parents=True)
    (hoodie / "timeline" / "001.commit.requested").touch()
    (hoodie / "metadata" / ".hoodie").mkdir(parents=True)
    (hoodie / "metadata" / ".hoodie" / "002.deltacommit").write_text("xy")
    (hoodie / "hoodie.properties").write_text("hoodie.table.version=9\\n")
    (tmp_path / "steps").write_text("".join(f"step {number}\\n" for number in range(50)))
    server.write_text("bound to port 1\\n")
    evidence.keep("engine's report", '{"outcome": "failed"}')
    assert seed == 18

@pytest.fixture
def server(tmp_path_factory):
    log = tmp_path_factory.mktemp("server") / "log"
    evidence.watch("ZooKeeper", log)
    return log
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("toy")
    (folder / "test_toy.py").write_text(_FAILING)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.gate.failure_block", "test_toy.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HUDI_SOAK_SEED": "99"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    "words",
    [
        "repeat    TZ=UTC HUDI_SOAK_SEED=99 .venv/bin/python -m pytest -n 0 'test_toy.py::test_builds[17]'",
        "commit    ",
        "seed      seed=17",
        "load      ",
        "-- timeline of orders\n   001.commit.requested  0 bytes",
        "-- metadata table's timeline of orders\n   002.deltacommit  2 bytes",
        "-- hoodie.properties of orders\n   hoodie.table.version=9",
        "-- last 20 lines of steps\n   … 30 lines before\n   step 30",
        '-- engine\'s report\n   {"outcome": "failed"}',
        "\n   bound to port 1",
    ],
)
def test_a_failed_test_is_reported_with_what_is_needed_to_act_upon_it(said: str, words: str) -> None:
    assert words in said


def test_a_table_of_layout_1_is_shown_with_the_instants_beside_its_properties(tmp_path: Path) -> None:
    hoodie = tmp_path / "orders" / ".hoodie"
    hoodie.mkdir(parents=True)
    (hoodie / "20260101000000000.commit").touch()
    (hoodie / "hoodie.properties").write_text("hoodie.table.version=6\n")

    titles = dict(blocks_below(tmp_path))

    assert titles["timeline of orders"] == ["20260101000000000.commit  0 bytes"]


def test_only_the_newest_tables_and_logs_are_shown(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"t{number}" / ".hoodie").mkdir(parents=True)
        (tmp_path / f"{number}.log").touch()

    titles = [title for title, _ in blocks_below(tmp_path)]

    assert len([title for title in titles if title.startswith("timeline")]) == 3
    assert len([title for title in titles if title.endswith(".log")]) == 8


def test_a_pipe_with_the_name_of_a_log_is_not_read(tmp_path: Path) -> None:
    """Nobody writes into it: reading would not end."""
    os.mkfifo(tmp_path / "log")

    assert blocks_below(tmp_path) == []


def test_the_beginning_of_a_long_text_is_left_out_and_counted() -> None:
    assert last_lines("a\nb\nc", 2) == ["… 1 lines before", "b", "c"]
