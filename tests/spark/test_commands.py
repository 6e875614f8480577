"""`--compute spark` as a person or the operator says it: a process, its table, its exit code."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from hudi_engine.contract import Action, ComputeKind, JobReport, JobRequest, Outcome
from hudi_engine.open import open_table
from tests.golden.unpack import unpack
from tests.java.remains import flags, require_ready_and_nothing_left
from tests.kit.commands import ENGINE
from tests.kit.engine import RECORD_INDEX, Engine, build_until_ready
from tests.kit.heartbeats import back_date_heartbeats
from tests.kit.indexed import entries_of
from tests.kit.wait import wait_until

_ROOT: Final = Path(__file__).parents[2]
_BY_SEEN: Final = "secondary_index_by_seen"
_KINDS: Final = ("record_index", "column_stats", "bloom_filters", "partition_stats", _BY_SEEN)
_ASKED: Final = (*(word for kind in _KINDS for word in ("--type", kind)), "--column", f"{_BY_SEEN}=seen")
_OPTIONS: Final = {"hudi.engine.single.writer": "true"}
_SPARK: Final = ("--compute", "spark")
_HELD_SHARD: Final = "record-index-0001-0"


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has said how Spark is to be started, nor by which Python."""
    for name in ("PYSPARK_PYTHON", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")


@pytest.mark.parametrize("name", ["v8_mor_orders", "v9_cow_orders"])
def test_indexes_that_spark_builds_are_valid_and_those_that_threads_build(name: str, tmp_path: Path) -> None:
    by_spark, by_threads = (unpack(name, tmp_path / how) for how in ("spark", "local"))
    for table in (by_spark, by_threads):
        _drop_all(table)

    code, report = _run("index", "build", by_spark, *_ASKED, *_SPARK, "--single-writer", "--json")
    assert _run("index", "build", by_threads, *_ASKED, "--compute", "local", "--single-writer", "--json")[0] == 0

    assert (code, report["outcome"]) == (0, "ready"), report
    assert {kind["kind"]: kind["state"] for kind in report["kinds"]} == dict.fromkeys(_KINDS, "ready")
    require_ready_and_nothing_left(by_spark, *_KINDS)
    built, expected = _entries(by_spark), _entries(by_threads)
    assert all(built.values())
    assert built == expected


def test_a_request_with_spark_ends_with_its_report(tmp_path: Path) -> None:
    table, written = unpack("v9_mor_orders", tmp_path), tmp_path / "report"
    request = JobRequest(
        str(table),
        Action.BUILD,
        ("record_index", _BY_SEEN),
        conf=_OPTIONS,
        compute=ComputeKind.SPARK,
        report_path=str(written),
        columns={_BY_SEEN: ("seen",)},
    )

    ended = subprocess.run([ENGINE, "run", request.to_json()], capture_output=True, text=True, timeout=300, check=False)

    report = JobReport.from_json(ended.stdout.splitlines()[-1])
    assert (ended.returncode, report.exit_code, report.outcome) == (0, 0, Outcome.READY), ended
    assert [kind.kind for kind in report.kinds] == ["record_index", _BY_SEEN]
    assert {"read record keys", "write shards"} <= report.seconds.keys()
    assert report.rows > 0
    assert JobReport.from_json(written.read_text()) == report
    require_ready_and_nothing_left(table, "record_index", _BY_SEEN)


def test_a_driver_that_is_killed_takes_its_jvm_with_it_and_the_same_request_ends_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, faults = unpack("v9_mor_orders", tmp_path), tmp_path / "faults"
    faults.mkdir()
    hold = faults / f"{_HELD_SHARD}.wait"
    hold.touch()
    monkeypatch.setenv("FAULTS", str(faults))
    monkeypatch.setenv("PYTHONPATH", str(_ROOT))
    monkeypatch.setenv(
        "PYSPARK_SUBMIT_ARGS",
        "--master local[2] --conf spark.python.daemon.module=tests.spark.faulty_daemon pyspark-shell",
    )
    asked = (*RECORD_INDEX, *_SPARK)

    with Engine(table, _OPTIONS, asked=asked) as engine:
        wait_until(lambda: bool(_shards(table)), what="a shard that Spark wrote", found=engine.state)
        processes = _processes_with(faults)
        engine.kill()
    assert any("java" in name for name in processes.values())
    assert len(processes) >= 4, "the engine, Spark's JVM, its daemon and a task"
    back_date_heartbeats(table)
    _require_all_end(faults)
    assert _HELD_SHARD not in _shards(table), "it was killed in the middle"
    assert flags(table) == (set(), set())
    hold.unlink()

    build_until_ready(table, _OPTIONS, asked)

    require_ready_and_nothing_left(table)
    _require_all_end(faults)


def _require_all_end(faults: Path) -> None:
    wait_until(
        lambda: not _processes_with(faults), what="the end of all processes", found=lambda: str(_processes_with(faults))
    )


def _run(*arguments: str | Path) -> tuple[int, Any]:
    ended = subprocess.run([ENGINE, *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert ended.stdout, ended
    return ended.returncode, json.loads(ended.stdout.splitlines()[-1])


def _drop_all(table: Path) -> None:
    words = [word for kind in _KINDS for word in ("--type", kind)]
    code, report = _run("index", "drop", table, *words, "--single-writer", "--json")
    assert code == 0, report


def _entries(table: Path) -> Mapping[str, list[dict[str, Any]]]:
    metadata = open_table(str(table)).metadata
    return {kind: entries_of(metadata.index(kind)) for kind in _KINDS}


def _shards(table: Path) -> set[str]:
    """The file ids of what is there of the record index."""
    return {file.name.partition("_")[0] for file in (table / ".hoodie/metadata/record_index").glob("*.hfile")}


def _processes_with(faults: Path) -> Mapping[int, str]:
    """By number the programs of all processes that were told of this folder, whoever's children they are by now."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            if f"FAULTS={faults}".encode() in environment and int(process.name) != os.getpid():
                found[int(process.name)] = (process / "comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it has ended, or is nobody's that we could have started
    return found
