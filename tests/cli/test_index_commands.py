"""`hudi-engine index`, `metadata` and `run`: what they do, how they end, and that bad input leaves nothing behind."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.contract import JobReport, Outcome
from hudi_engine.index.kinds import parse_shard_name
from tests.cli.test_bad_input import require_refusal
from tests.kit.commands import ENGINE, Ran

Golden = Callable[[str], Path]
Run = Callable[..., Ran]
PROPERTIES = ".hoodie/hoodie.properties"
LOCK = "hoodie.write.lock.provider"
PROVIDERS = "org.apache.hudi.client.transaction.lock."
KIND = ("--type", "record_index")
ALONE = "--single-writer"
PLAIN = "v9_mor_orders"
ALL = ("v6_cow_orders", "v8_mor_orders", PLAIN)
CHANGES = ("schedule", "build", "drop", "abort")
NO_LOCKS: list[tuple[Mapping[str, str], int, list[str]]] = [
    ({}, 20, [f"{LOCK} is not set", "hudi.engine.single.writer=true"]),
    ({LOCK: f"{PROVIDERS}InProcessLockProvider"}, 20, ["a lock within one JVM"]),
    ({LOCK: "org.apache.hudi.aws.transaction.lock.DynamoDBBasedLockProvider"}, 18, ["DynamoDB", "Zookeeper"]),
    ({LOCK: f"{PROVIDERS}ZookeeperBasedLockProvider"}, 20, ["hoodie.write.lock.zookeeper.base_path is not set"]),
    ({"hudi.engine.single.writer": "maybe"}, 20, ["hudi.engine.single.writer='maybe'", "true or false"]),
]
"""Settings that do not lock, how they are refused, and by what words."""
ZOOKEEPER_IS_DOWN = {
    LOCK: f"{PROVIDERS}ZookeeperBasedLockProvider",
    "hoodie.write.lock.zookeeper.url": "127.0.0.1:1",
    "hoodie.write.lock.zookeeper.base_path": "/locks",
    "hoodie.write.lock.zookeeper.lock_key": "orders",
    "hoodie.write.lock.wait_time_ms": "500",
}


def files(table: Path) -> Mapping[Path, bytes]:
    """Every file below the table's folder with its content."""
    return {path.relative_to(table): path.read_bytes() for path in table.rglob("*") if path.is_file()}


def status(run: Run, table: Path) -> Any:
    (found,) = run("index", "status", table, *KIND, "--json").document["indexes"]
    return found


@pytest.mark.parametrize("name", ALL)
def test_an_index_is_built_found_valid_and_dropped(name: str, golden: Golden, run: Run) -> None:
    table = golden(name)

    built = run("index", "build", table, *KIND, ALONE, "--json")
    complete = status(run, table)
    validated = run("validate", table, "--index", "record_index", "--json")
    dropped = run("index", "drop", table, *KIND, ALONE, "--json")

    (kind,) = built.document["kinds"]
    assert (built.code, built.document["outcome"], kind["state"]) == (0, "ready", "ready")
    assert kind["keys"] > 0
    assert kind["shards"] == 10
    assert (complete["state"], complete["base"], complete["lag_instants"]) == ("complete", kind["base"], 0)
    assert (validated.code, validated.document["ok"]) == (0, True)
    assert (dropped.code, dropped.document["outcome"]) == (0, "dropped")
    assert status(run, table)["state"] == "absent"


def test_a_plan_is_scheduled_and_run_by_its_instant(golden: Golden, run: Run) -> None:
    table = golden(PLAIN)

    asked = run("index", "schedule", table, *KIND, ALONE, "--json")
    scheduled = status(run, table)
    ran = run("index", "run", table, asked.document["instant"], ALONE, "--json")

    assert (asked.code, asked.document["outcome"]) == (0, "scheduled")
    assert (scheduled["state"], scheduled["plan"]) == ("scheduled", asked.document["instant"])
    assert (ran.code, ran.document["outcome"], ran.document["instant"]) == (0, "ready", asked.document["instant"])


@pytest.mark.parametrize("how", ["by kind", "by instant"])
def test_a_plan_is_aborted_and_nothing_is_left_of_it(how: str, golden: Golden, run: Run) -> None:
    table = golden(PLAIN)
    before = files(table)
    instant = run("index", "schedule", table, *KIND, ALONE, "--json").document["instant"]

    ran = run("index", "abort", table, *(KIND if how == "by kind" else (instant,)), ALONE, "--json")

    assert (ran.code, ran.document["outcome"], ran.document["instant"]) == (0, "undone", instant)
    assert files(table).keys() == before.keys()


def with_duplicate_keys(table: Path, run: Run) -> Path:
    """The table with a copy of a base file in a file group of its own, which has the greatest file name."""
    run("metadata", "disable", table, ALONE)
    base = max((file for file in table.rglob("*.parquet") if ".hoodie" not in file.parts), key=_instant_of)
    copy = base.with_name(f"ffffffff{base.name[8:]}")
    copy.write_bytes(base.read_bytes())
    return copy


def _instant_of(base: Path) -> tuple[str, str]:
    return base.stem.rpartition("_")[2], base.name


def test_duplicate_keys_are_refused_with_their_number_or_their_newest_rows_indexed(golden: Golden, run: Run) -> None:
    table = golden("v6_cow_orders")
    copy = with_duplicate_keys(table, run)
    keys = pq.read_table(copy, columns=["_hoodie_record_key"]).column(0).to_pylist()

    refused = run("index", "build", table, *KIND, ALONE, "--json")
    built = run("index", "build", table, *KIND, ALONE, "--duplicates", "newest", "--json")
    found = run("lookup", table, "--key", keys[0], "--verify", "--json")
    validated = run("validate", table, "--index", "record_index", "--json")

    assert (refused.code, refused.document["outcome"]) == (20, "failed")
    told = f"{len(keys)} record keys have several rows, {len(keys)} rows too many: "
    assert told in refused.document["reason"]
    assert "--duplicates newest" in refused.document["reason"]
    (kind,) = built.document["kinds"]
    assert (built.code, kind["state"], kind["duplicates"]) == (0, "ready", len(keys))
    assert (found.document["file_id"], found.document["verified"]) == (copy.name.partition("_")[0], True)
    (check,) = validated.document["checks"]
    assert (validated.code, check["status"], check["duplicates"]) == (0, "ok", len(keys))


def test_duplicate_keys_are_counted_for_people(golden: Golden, run: Run) -> None:
    table = golden("v6_cow_orders")
    with_duplicate_keys(table, run)
    assert run("index", "build", table, *KIND, ALONE).code == 20  # it has made the metadata table that a plan needs

    instant = run("index", "schedule", table, *KIND, ALONE, "--json").document["instant"]
    built = run("index", "run", table, instant, ALONE, "--duplicates", "newest")
    validated = run("validate", table, "--index", "record_index")

    assert built.code == validated.code == 0
    assert "record_index: duplicates: " in built.out
    assert "duplicates: " in validated.out


def test_a_secondary_index_of_duplicate_keys_is_refused_or_has_each_value_of_a_key_once(
    golden: Golden, run: Run
) -> None:
    table = golden("v9_cow_orders")
    with_duplicate_keys(table, run)
    both = (*KIND, "--type", "secondary_index_note", "--column", "note")

    refused = run("index", "build", table, *both, ALONE)
    built = run("index", "build", table, *both, ALONE, "--duplicates", "newest", "--json")
    validated = run("validate", table, "--json")

    assert (refused.code, built.code, validated.code) == (20, 0, 0)
    states = {kind["kind"]: (kind["state"], kind["duplicates"] > 0) for kind in built.document["kinds"]}
    assert states == {"record_index": ("ready", True), "secondary_index_note": ("ready", True)}
    statuses = {check["index"]: check["status"] for check in validated.document["checks"]}
    assert statuses == dict.fromkeys(["files", "record_index", "secondary_index_note"], "ok")


def test_an_index_by_partition_is_built_found_and_valid(golden: Golden, run: Run) -> None:
    table = golden(PLAIN)

    built = run("index", "build", table, *KIND, "--partitioned", ALONE, "--json")
    validated = run("validate", table, "--index", "record_index", "--json")
    shards = [file.name for file in (table / ".hoodie/metadata/record_index").glob("*.hfile")]
    partitions = {file.parent.name for file in table.glob("region=*/*.parquet")}
    definitions = json.loads((table / ".hoodie/.index_defs/index.json").read_text())

    assert (built.code, built.document["outcome"]) == (0, "ready")
    (check,) = validated.document["checks"]
    assert (validated.code, check["status"], check["discrepancies"]) == (0, "ok", 0)
    assert check["looked_at"] > 0
    assert {parse_shard_name(name.partition("_")[0]).partition for name in shards} == partitions
    assert definitions["indexDefinitions"]["record_index"]["indexOptions"] == {"isPartitioned": "true"}


def test_people_get_tables_and_sentences(golden: Golden, run: Run) -> None:
    table = golden(PLAIN)

    built = run("index", "build", table, *KIND, ALONE)
    shown = run("index", "status", table)
    again = run("index", "build", table, *KIND, ALONE)

    assert (built.code, built.err, again.code, again.err) == (0, "", 0, "")
    assert "caught up to" in built.out
    assert "complete" in shown.out
    assert again.out.endswith("hudi-engine: nothing to do: record_index: complete already\n")


def test_a_dry_run_says_what_it_would_take_and_changes_nothing(golden: Golden, run: Run) -> None:
    table = golden(PLAIN)
    before = files(table)

    ran = run("index", "build", table, *KIND, ALONE, "--dry-run", "--json")
    shown = run("index", "schedule", table, *KIND, ALONE, "--dry-run")

    assert ran.code == shown.code == 0
    assert ran.document["shards"] == 10
    assert {"keys", "read_bytes", "write_bytes", "memory_bytes", "seconds"} <= ran.document.keys()
    assert "entries, about" in shown.out
    assert files(table) == before


def test_a_dry_run_for_a_complete_index_succeeds_and_names_it_unchanged(golden: Golden, run: Run) -> None:
    ran = run("index", "build", golden("v9_mor_indexed"), *KIND, ALONE, "--dry-run", "--json")

    assert (ran.code, ran.document) == (0, {"keys": 0, "shards": 0, "unchanged": ["record_index"]})


@pytest.mark.parametrize("command", CHANGES)
@pytest.mark.parametrize(("settings", "code", "words"), NO_LOCKS)
def test_lock_settings_that_do_not_lock_are_refused_naming_what_to_set(
    command: str, settings: Mapping[str, str], code: int, words: list[str], golden: Golden, run: Run
) -> None:
    table = golden(PLAIN)
    before = files(table)

    ran = run("index", command, table, *KIND, *conf(settings))

    require_refusal(ran, code, *words)
    assert files(table) == before


@pytest.mark.parametrize("command", CHANGES)
def test_a_zookeeper_that_is_down_is_waited_for_and_refused(command: str, golden: Golden, run: Run) -> None:
    table = golden(PLAIN)
    before = files(table)

    ran = run("index", command, table, *KIND, *conf(ZOOKEEPER_IS_DOWN), "--json")

    if command == "abort":
        assert ran.code == 0  # there is no plan, which needs no lock to see
    else:
        assert (ran.code, ran.document["outcome"], ran.document["retry"]) == (28, "failed", True)
        assert "127.0.0.1:1" in ran.document["reason"]
    assert files(table) == before


def test_a_lock_that_another_holds_is_waited_for_and_refused(golden: Golden, run: Run) -> None:
    table = golden(PLAIN)
    (table / ".hoodie/lock").write_text("{}")
    before = files(table)

    ran = run("index", "build", table, *KIND, *conf(file_lock(wait_ms=300)), "--json")

    assert (ran.code, ran.document["retry"]) == (22, True)
    assert files(table) == before


@pytest.mark.parametrize("command", ["schedule", "build"])
@pytest.mark.parametrize(
    ("kind", "code", "word"),
    [
        ("nope", 18, "record_index"),
        ("expr_index_of_day", 18, "record_index"),
        ("", 2, "kinds"),
        ("a\nb", 2, "one line"),
    ],
)
def test_a_kind_that_cannot_be_built_is_refused_naming_those_that_can(
    command: str, kind: str, code: int, word: str, golden: Golden, run: Run
) -> None:
    table = golden(PLAIN)
    before = files(table)

    ran = run("index", command, table, "--type", kind, ALONE)

    assert (ran.code, ran.out) == (code, "")
    assert word in ran.err
    assert "Traceback" not in ran.err
    assert files(table) == before


def test_statistics_and_filters_and_a_secondary_index_are_built_by_one_call(golden: Golden, run: Run) -> None:
    table = golden("v9_mor_record_index_large")
    kinds = ("column_stats", "bloom_filters", "secondary_index_by_place", "partition_stats")
    asked = [*(word for kind in kinds for word in ("--type", kind)), "--column", "secondary_index_by_place=place"]

    built = run("index", "build", table, *asked, "--column", "column_stats=seen", ALONE, "--json")
    checked = run("validate", table, *(word for kind in kinds for word in ("--index", kind)))
    again = run("index", "build", table, *asked, ALONE)

    assert built.code == 0, built.err
    reported = json.loads(built.out)["kinds"]
    assert [kind["kind"] for kind in reported] == list(kinds)
    assert all(kind["keys"] for kind in reported)
    assert checked.code == 0, checked.out
    assert again.code == 0


def test_partition_stats_is_planned_once_column_stats_is_complete(golden: Golden, run: Run) -> None:
    table = golden("v9_mor_record_index_large")
    kinds = ("--type", "partition_stats", "--type", "column_stats")

    scheduled = run("index", "schedule", table, *kinds, ALONE, "--json")
    too_early = run("index", "schedule", table, "--type", "partition_stats", ALONE)
    ran = run("index", "run", table, scheduled.document["instant"], ALONE)
    again = run("index", "schedule", table, *kinds, ALONE, "--json")

    assert [kind["kind"] for kind in scheduled.document["kinds"]] == ["column_stats"]
    assert "Build column_stats first" in too_early.err
    assert ran.code == 0
    assert [kind["kind"] for kind in again.document["kinds"]] == ["partition_stats"]


def test_a_column_without_an_index_is_refused_where_several_could_have_it(golden: Golden, run: Run) -> None:
    kinds = ("--type", "column_stats", "--type", "secondary_index_by_place")

    refused = run("index", "build", golden(PLAIN), *kinds, "--column", "place", ALONE)

    assert refused.code == 2
    assert "INDEX=place" in refused.err


@pytest.mark.parametrize("name", ["v6_cow_orders", "v8_mor_orders"])
def test_an_index_by_partition_is_refused_where_hudi_has_none(name: str, golden: Golden, run: Run) -> None:
    table = golden(name)
    before = files(table)

    require_refusal(run("index", "build", table, *KIND, "--partitioned", ALONE), 18, "partition", "version 9")
    assert files(table) == before


@pytest.mark.parametrize("command", ["drop", "run"])
@pytest.mark.parametrize(
    "name", [".hoodie", ".hoodie/timeline", "../..", "column_stats/", "secondary_index_a/b", "nope"]
)
def test_what_is_no_index_is_not_dropped(name: str, command: str, golden: Golden, run: Run) -> None:
    """Whatever lies in a folder of the metadata table is deleted with its index: its timeline once was."""
    table = golden(PLAIN)
    before = files(table)

    if command == "run":
        ran = run("run", json.dumps(job(table, "drop", kinds=[name])))
    else:
        ran = run("index", "drop", table, "--type", name, ALONE)

    assert ran.code == 18, ran
    assert f"{name!r} is no name that an index of Hudi has" in ran.err
    assert files(table) == before


@pytest.mark.parametrize("arguments", [("build",), ("schedule",), ("build", "--dry-run")])
def test_a_table_whose_keys_have_two_texts_is_refused(arguments: tuple[str, ...], golden: Golden, run: Run) -> None:
    table = golden("v9_mor_journeys")
    changed = mix_keys(table)
    before = files(table)

    ran = run("index", *arguments, table, *KIND, ALONE)

    require_refusal(ran, 20, "'id:", changed.name, "bulk_insert")
    assert files(table) == before


def test_a_table_whose_keys_have_two_texts_gets_no_metadata_table_either(golden: Golden, run: Run) -> None:
    table = golden("v9_mor_journeys")
    mix_keys(table)
    run("metadata", "disable", table, ALONE)
    before = files(table)

    require_refusal(run("index", "build", table, *KIND, ALONE), 20, "'id:", "bulk_insert")
    assert files(table) == before


@pytest.mark.parametrize("command", ["build", "schedule", "drop", "abort", "status"])
def test_a_path_without_a_table_is_refused(command: str, tmp_path: Path, run: Run) -> None:
    kind = () if command == "status" else (*KIND, ALONE)

    require_refusal(run("index", command, tmp_path, *kind), 11, str(tmp_path))
    assert files(tmp_path) == {}


def test_status_needs_no_lock_and_no_metadata_table(golden: Golden, run: Run) -> None:
    table = golden(PLAIN)
    disabled = run("metadata", "disable", table, ALONE)
    before = files(table)

    ran = run("index", "status", table)

    assert (disabled.code, ran.code) == (0, 0)
    assert "absent" in ran.out
    assert files(table) == before


def test_a_run_of_what_is_no_plan_is_refused(golden: Golden, run: Run) -> None:
    table = golden(PLAIN)
    before = files(table)

    for instant, code in (("20200101000000000", 10), ("yesterday", 2)):
        ran = run("index", "run", table, instant, ALONE)
        assert (ran.code, ran.out) == (code, "")
    assert files(table) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "build", "TABLE"),
        ("index", "build", "TABLE", *KIND, "--memory", "much"),
        ("index", "build", "TABLE", *KIND, "--memory", "0"),
        ("index", "build", "TABLE", *KIND, "--timeout", "-1"),
        ("index", "build", "TABLE", *KIND, *KIND),
        ("index", "build", "TABLE", *KIND, "--compute", "flink"),
        ("index", "build", "TABLE", *KIND, "--conf", "novalue"),
        ("index", "abort", "TABLE"),
        ("index", "nope"),
        ("metadata", "nope"),
        ("run",),
    ],
)
def test_a_command_line_that_makes_no_sense_is_code_2(arguments: tuple[str, ...], golden: Golden, run: Run) -> None:
    table = golden(PLAIN)
    before = files(table)

    ran = run(*(table if argument == "TABLE" else argument for argument in arguments))

    assert (ran.code, ran.out) == (2, "")
    assert "Traceback" not in ran.err
    assert files(table) == before


def test_a_scratch_folder_that_is_not_there_is_refused(golden: Golden, run: Run) -> None:
    table = golden(PLAIN)
    before = files(table)

    ran = run("index", "build", table, *KIND, ALONE, "--scratch", table / "nowhere")

    require_refusal(ran, 10, "nowhere", "--scratch")
    assert files(table) == before


# Root may write everywhere but for these capabilities, of which it has none left (capset of Linux, version 3).
_WITHOUT_PRIVILEGES = """
import ctypes, struct
assert ctypes.CDLL(None).capset(struct.pack("Ii", 0x20080522, 0), bytes(24)) == 0
from hudi_engine.cli.main import main
main()
"""


@pytest.mark.parametrize("folder", [".hoodie", ".hoodie/metadata"])
def test_a_table_that_we_may_not_write_is_refused_and_as_it_was(folder: str, golden: Golden) -> None:
    table = golden(PLAIN)
    (table / folder).chmod(0o555)
    before = files(table)

    command = [sys.executable, "-c", _WITHOUT_PRIVILEGES, "index", "build", str(table), *KIND, ALONE, "--json"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)

    report = JobReport.from_json(said.stdout)
    given = Path(".hoodie/.index_attempts/given-000001.json")  # what an attempt has got is remembered
    assert (said.returncode, report.outcome) == (12, Outcome.FAILED)
    assert files(table).keys() - {given} == before.keys()


def test_a_job_is_reported_on_the_last_line_and_in_a_file(golden: Golden, tmp_path: Path, run: Run) -> None:
    request = job(golden(PLAIN), "build", report_path=str(tmp_path / "report"))

    ran = run("run", json.dumps(request))

    report = JobReport.from_json(ran.out.splitlines()[-1])
    assert (ran.code, report.outcome, report.exit_code) == (0, Outcome.READY, 0)
    assert JobReport.from_json((tmp_path / "report").read_text().strip()) == report
    assert report.lock_holds.count > 0
    assert "read record keys" in report.seconds
    assert report.engine.startswith("hudi-operator ")


@pytest.mark.parametrize("action", ["schedule", "drop", "abort"])
def test_a_job_without_a_lock_is_reported_and_nothing_is_changed(action: str, golden: Golden, run: Run) -> None:
    table = golden(PLAIN)
    before = files(table)

    ran = run("run", json.dumps(job(table, action, conf={})))

    report = JobReport.from_json(ran.out.splitlines()[-1])
    assert (ran.code, report.outcome, report.exit_code, report.retry) == (20, Outcome.FAILED, 20, False)
    assert LOCK in report.reason
    assert report.reason in ran.err
    assert files(table) == before


def test_a_job_validates(golden: Golden, run: Run) -> None:
    ran = run("run", json.dumps(job(golden("v9_mor_indexed"), "validate", conf={})))

    report = JobReport.from_json(ran.out.splitlines()[-1])
    assert (ran.code, report.outcome) == (0, Outcome.VALID)
    assert {kind.state for kind in report.kinds} == {Outcome.VALID}


@pytest.mark.parametrize("text", ["", "{}", '{"version": 1, "table": "x", "action": "compact"}', "x" * 100_000])
def test_what_is_no_request_is_code_2_and_reported_all_the_same(text: str, run: Run) -> None:
    ran = run("run", text)

    report = JobReport.from_json(ran.out.splitlines()[-1])
    assert (ran.code, report.outcome, report.exit_code) == (2, Outcome.FAILED, 2)
    assert report.reason.startswith("no JobRequest: ")


def test_a_report_that_cannot_be_written_does_not_change_what_the_job_did(
    golden: Golden, tmp_path: Path, run: Run
) -> None:
    ran = run("run", json.dumps(job(golden(PLAIN), "build", report_path=str(tmp_path / "no/folder"))))

    assert ran.code == 0
    assert "the report could not be written" in ran.err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_with_its_code_and_says_what_stays(number: int, code: int, golden: Golden, run: Run) -> None:
    table = golden(PLAIN)
    instant = run("index", "schedule", table, *KIND, ALONE, "--json").document["instant"]
    (table / ".hoodie/lock").write_text("{}")
    before = files(table)

    ran = interrupted(number, "index", "build", table, *KIND, *conf(file_lock(wait_ms=60_000)), "--json")

    assert (ran.code, ran.document["outcome"], ran.document["retry"]) == (code, "interrupted", True)
    assert f"the plan {instant} stays: the same request goes on with it" in ran.document["reason"]
    assert files(table) == before


def test_a_metadata_table_is_disabled_and_disabling_it_again_succeeds(golden: Golden, run: Run) -> None:
    table = golden(PLAIN)

    first = run("metadata", "disable", table, ALONE, "--json")
    second = run("metadata", "disable", table, ALONE)

    assert (first.code, first.document["files"] > 10, second.code) == (0, True, 0)
    assert not [path for path in files(table) if path.parts[:2] == (".hoodie", "metadata")]


def test_metadata_that_is_not_listed_is_listed_again(golden: Golden, run: Run) -> None:
    table = golden("v9_mor_indexed")
    text = (table / PROPERTIES).read_text("latin-1")
    lines = [
        "hoodie.table.metadata.partitions=" if "metadata.partitions=" in line else line for line in text.splitlines()
    ]
    (table / PROPERTIES).write_text("\n".join(lines) + "\n", "latin-1")

    first = run("metadata", "repair", table, ALONE)
    second = run("metadata", "repair", table, ALONE)

    assert (first.code, second.code) == (0, 0)
    assert run("validate", table, "--index", "files").code == 0


@pytest.mark.parametrize("command", ["disable", "repair"])
def test_metadata_commands_without_a_lock_are_refused(command: str, golden: Golden, run: Run) -> None:
    table = golden(PLAIN)
    before = files(table)

    require_refusal(run("metadata", command, table), 20, LOCK)
    assert files(table) == before


def conf(settings: Mapping[str, str]) -> list[str]:
    return [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]


def file_lock(wait_ms: int) -> Mapping[str, str]:
    return {LOCK: f"{PROVIDERS}FileSystemBasedLockProvider", "hoodie.write.lock.wait_time_ms": str(wait_ms)}


def job(table: Path, action: str, **changes: Any) -> dict[str, Any]:
    request = {"version": 1, "table": str(table), "action": action, "conf": {"hudi.engine.single.writer": "true"}}
    return request | ({} if action == "validate" else {"kinds": ["record_index"]}) | changes


def interrupted(number: int, *arguments: str | Path) -> Ran:
    """The command, sent a signal as soon as it waits for the lock: by then it handles signals and has begun to work.

    A shell that starts the tests in the background has them, and so the command, ignore interrupts: here it must not.
    """
    ours = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen([ENGINE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        signal.signal(signal.SIGINT, ours)
        while process.poll() is None and not is_waiting(process.pid):
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    return Ran(process.returncode, out, err)


def is_waiting(pid: int) -> bool:
    """Whether the process's main thread sleeps, which only the wait for a lock lets it do."""
    return "nanosleep" in Path(f"/proc/{pid}/wchan").read_text()


def mix_keys(table: Path) -> Path:
    """A partition whose keys are without the name of their field, which those of all others have."""
    name = "_hoodie_record_key"
    *_, changed = sorted(table.rglob("*.parquet"))
    for file in changed.parent.glob("*.parquet"):
        rows = pq.read_table(file).replace_schema_metadata(None)  # which tells of the keys, too
        keys = pa.array([key.removeprefix("id:") for key in rows[name].to_pylist()])
        pq.write_table(rows.set_column(rows.schema.get_field_index(name), name, keys), file)
    return changed.parent
