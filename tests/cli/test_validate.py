"""`hudi-engine validate` on golden tables, whole and damaged: what it says and how it ends."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hudi_engine.cli import validate as commands
from hudi_engine.validate.report import Discrepancy, Fault
from hudi_engine.validate.run import Outcome, Planned
from tests.cli.test_bad_input import require_refusal
from tests.cli.test_lookup import put_in_flight
from tests.kit.commands import Ran, run_engine
from tests.kit.damaged import add_entry, entries, remove_entry, shard_files

Golden = Callable[[str], Path]
INDEXED = "v9_mor_indexed"
PROPERTIES = ".hoodie/hoodie.properties"


def statuses(ran: Ran) -> dict[str, str]:
    return {check["index"]: check["status"] for check in ran.document["checks"]}


def without(checks: dict[str, str], index: str) -> set[str]:
    return {status for name, status in checks.items() if name != index}


@pytest.mark.parametrize(
    ("name", "indexes"),
    [
        ("v6_cow_indexed", ["files", "record_index", "column_stats", "bloom_filters"]),
        (
            INDEXED,
            [
                "files",
                "record_index",
                "secondary_index_by_celsius",
                "column_stats",
                "partition_stats",
                "bloom_filters",
            ],
        ),
    ],
)
def test_every_index_of_a_sound_table_is_looked_at_and_ok(name: str, indexes: list[str], golden: Golden) -> None:
    ran = run_engine("validate", golden(name), "--json")

    assert (ran.code, ran.err) == (0, "")
    assert ran.document["ok"] is True
    assert ran.document["discrepancies"] == []
    assert statuses(ran) == dict.fromkeys(indexes, "ok")
    assert all(check["looked_at"] for check in ran.document["checks"])


def test_a_lost_entry_is_one_line_with_key_and_place(golden: Golden) -> None:
    table = golden(INDEXED)
    place = run_engine("lookup", table, "--key", "s-30", "--json").document
    remove_entry(table, "record_index", "s-30")

    ran = run_engine("validate", table, "--index", "record_index")

    line, title, *_ = ran.out.splitlines()
    assert ran.code == 1
    assert line.startswith("record_index: missing 's-30'")
    assert f"{place['partition']}/{place['file_id']}" in line
    assert "one discrepancy" in title


def test_discrepancies_of_several_indexes_are_one_document(golden: Golden) -> None:
    table = golden(INDEXED)
    for key in ("s-00", "s-30"):
        remove_entry(table, "record_index", key)
    bloom = entries(table, "bloom_filters")[0]["key"]
    remove_entry(table, "bloom_filters", bloom)

    ran = run_engine("validate", table, "--json")

    found = {(each["index"], each["fault"], each["key"]) for each in ran.document["discrepancies"]}
    assert ran.code == 1
    assert ran.document["ok"] is False
    assert found == {
        ("record_index", "missing", "s-00"),
        ("record_index", "missing", "s-30"),
        ("bloom_filters", "missing", bloom),
    }
    counts = {check["index"]: check["discrepancies"] for check in ran.document["checks"]}
    assert (counts["record_index"], counts["bloom_filters"], counts["files"]) == (2, 1, 0)


def test_no_control_character_of_an_entry_reaches_the_terminal(golden: Golden) -> None:
    table = golden(INDEXED)
    entry = next(each for each in entries(table, "record_index") if each["key"] == "s-30")
    add_entry(table, "record_index", {**entry, "key": "s-30\x1b[2J"})

    ran = run_engine("validate", table, "--index", "record_index")

    assert ran.code == 1
    assert "ghost" in ran.out
    assert "\x1b" not in ran.out


def test_an_index_that_cannot_be_read_is_a_fault_and_the_others_are_looked_at(golden: Golden) -> None:
    table = golden(INDEXED)
    for file in shard_files(table, "record_index"):
        if file.suffix == ".hfile":
            file.write_bytes(file.read_bytes()[:-500] + bytes(500))

    ran = run_engine("validate", table, "--json")

    checks = {check["index"]: check for check in ran.document["checks"]}
    assert ran.code == 1
    assert ran.document["ok"] is False
    assert checks["record_index"]["status"] == "unreadable"
    assert ".hfile" in checks["record_index"]["reason"]
    assert without(statuses(ran), "record_index") == {"ok"}


def test_an_index_in_flight_is_skipped_saying_why(golden: Golden) -> None:
    table = golden(INDEXED)
    put_in_flight(table, "record_index")

    everything = run_engine("validate", table, "--json")
    by_name = run_engine("validate", table, "--index", "record_index")

    reasons = [check["reason"] for check in everything.document["checks"] if check["status"] == "skipped"]
    assert everything.code == 0
    assert statuses(everything)["record_index"] == "skipped"
    assert len(reasons) == 1
    assert "in flight" in reasons[0]
    require_refusal(by_name, 20, "in flight")


@pytest.mark.parametrize("name", ["expr_index_by_day", "index_of_tomorrow"])
def test_an_index_without_a_check_is_never_ok(name: str, golden: Golden) -> None:
    table = golden(INDEXED)
    _list_index(table, name)

    everything = run_engine("validate", table, "--index", "files", "--json")
    by_name = run_engine("validate", table, "--index", name)

    assert everything.code == 0
    assert statuses(everything) == {"files": "ok"}
    require_refusal(by_name, 18, name, "not checked")
    assert statuses(run_engine("validate", table, "--json"))[name] == "skipped"


def test_a_kind_stands_for_all_indexes_of_it(golden: Golden) -> None:
    ran = run_engine("validate", golden(INDEXED), "--index", "secondary_index", "--json")

    assert statuses(ran) == {"secondary_index_by_celsius": "ok"}


def test_an_unknown_index_is_refused_naming_those_there_are(golden: Golden) -> None:
    require_refusal(run_engine("validate", golden(INDEXED), "--index", "nope"), 10, "nope", "bloom_filters")


def test_a_sample_names_its_seed_and_the_seed_chooses_it_again(golden: Golden) -> None:
    table = golden(INDEXED)

    first = run_engine("validate", table, "--sample", "1", "--json").document
    again = run_engine("validate", table, "--sample", "1", "--seed", str(first["seed"]), "--json").document

    assert first["file_groups"] == 1
    assert first["ok"] is True
    assert _without_times(first) == _without_times(again)


def test_an_error_on_the_way_ends_the_document_and_has_its_own_code(golden: Golden, tmp_path: Path) -> None:
    table = golden(INDEXED)
    remove_entry(table, "bloom_filters", entries(table, "bloom_filters")[0]["key"])
    base = next(table.glob("hall/*.parquet"))
    outside = base.rename(tmp_path / base.name)
    base.symlink_to(outside)

    ran = run_engine("validate", table, "--json")

    assert ran.code == ran.document["error"]["exit"] == 19
    assert ran.document["ok"] is False


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt(), 130), (KeyError("nobody foresaw it"), 70)])
def test_a_document_has_an_end_whatever_happens(
    stop: BaseException, code: int, golden: Golden, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(_: object, planned: Planned, tell: Callable[[Discrepancy], None]) -> Outcome:
        tell(Discrepancy(planned.index, Fault.MISSING, "k", "p/f", "nothing", "something"))
        raise stop

    monkeypatch.setattr(commands, "run_check", stopped)

    with pytest.raises(SystemExit) as left:
        commands.validate(str(golden(INDEXED)), json=True)

    document = json.loads(capsys.readouterr().out)
    assert left.value.code == document["error"]["exit"] == code
    assert (document["ok"], len(document["discrepancies"])) == (False, 1)


@pytest.mark.parametrize("arguments", [("--seed", "1"), ("--sample", "0"), ("--sample", "many")])
def test_a_command_line_that_makes_no_sense_is_code_2(arguments: tuple[str, ...], golden: Golden) -> None:
    assert run_engine("validate", golden(INDEXED), *arguments).code == 2


def _list_index(table: Path, name: str) -> None:
    text = (table / PROPERTIES).read_text("latin-1")
    assert "partitions=bloom_filters" in text
    (table / PROPERTIES).write_text(
        text.replace("partitions=bloom_filters", f"partitions={name},bloom_filters"), "latin-1"
    )


def _without_times(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "checks": [{**check, "seconds": 0} for check in document["checks"]]}
