"""`hudi-engine lookup` on golden tables: what it says, how it ends, and what it refuses."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import GOLDEN
from tests.cli.test_bad_input import require_refusal
from tests.golden.expected_indexes import expected_indexes
from tests.kit.commands import ENGINE, Ran, run_engine
from tests.kit.damaged import Entry, change_entry

Golden = Callable[[str], Path]
INDEXED = "v9_mor_indexed"
PROPERTIES = ".hoodie/hoodie.properties"


def rows_of(ran: Ran) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ran.out.splitlines()]


@pytest.mark.parametrize("name", ["v6_cow_indexed", "v8_mor_indexed", INDEXED])
def test_every_key_is_where_java_says_and_really_there(name: str, golden: Golden, tmp_path: Path) -> None:
    entries = expected_indexes(name)["record_index"]
    (tmp_path / "keys.json").write_text(json.dumps([entry["key"] for entry in entries]))

    ran = run_engine("lookup", golden(name), "--keys-file", tmp_path / "keys.json", "--verify", "--json")

    wanted = [{field: entry[field] for field in ("key", "partition", "file_id", "instant")} for entry in entries]
    assert entries
    assert (ran.code, ran.err) == (0, "")
    assert rows_of(ran) == [{**entry, "found": True, "verified": True} for entry in wanted]


def test_keys_are_answered_in_the_order_given_also_absent_and_repeated_ones(golden: Golden) -> None:
    ran = run_engine(
        "lookup", golden(INDEXED), "--json", "--key", "s-3", "--key", "s-30", "--key", "s-00", "--key", "s-30"
    )

    assert ran.code == 1
    assert [(row["key"], row["found"]) for row in rows_of(ran)] == [
        ("s-3", False),
        ("s-30", True),
        ("s-00", True),
        ("s-30", True),
    ]
    assert rows_of(ran)[0] == {"key": "s-3", "found": False, "partition": None, "file_id": None, "instant": None}


def test_keys_come_from_standard_input_whatever_ends_a_line(golden: Golden) -> None:
    ran = run_engine("lookup", golden(INDEXED), "--keys-file", "-", "--json", given="\ufeffs-30\r\n\ns-31\ns-00")

    assert ran.code == 0, ran
    assert [row["key"] for row in rows_of(ran)] == ["s-30", "s-31", "s-00"]


def test_a_list_of_keys_may_hold_any_character(golden: Golden, tmp_path: Path) -> None:
    keys = ["a\nb", 'quote"\\', "nul\x00", "\U0001f600", "\x1b[2J", "\x9b2J", "\x7f"]
    (tmp_path / "keys.json").write_text(json.dumps(keys))

    ran = run_engine("lookup", golden(INDEXED), "--keys-file", tmp_path / "keys.json", "--json")

    assert [row["key"] for row in rows_of(ran)] == keys
    assert not {"\x1b", "\x9b", "\x7f"} & set(ran.out)


def test_no_control_character_of_a_key_reaches_the_terminal(golden: Golden) -> None:
    ran = run_engine("lookup", golden(INDEXED), "--key", "s-30\x1b[2J", "--key", "s-30")

    assert ran.code == 1
    assert "\x1b" not in ran.out
    assert "1 found, 1 not found" in ran.out


def test_a_long_list_is_cut_in_the_grid_and_whole_in_json(golden: Golden, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("".join(f"key-{number}\n" for number in range(5000)))

    grid = run_engine("lookup", golden(INDEXED), "--keys-file", tmp_path / "keys")
    lines = run_engine("lookup", tmp_path / INDEXED, "--keys-file", tmp_path / "keys", "--json")

    assert "0 found, 5000 not found" in grid.out
    assert "4000 more" in grid.out
    assert len(rows_of(lines)) == 5000


def test_a_partition_hides_the_keys_of_others(golden: Golden) -> None:
    ran = run_engine("lookup", golden(INDEXED), "--key", "s-30", "--key", "s-00", "--partition", "hall", "--json")

    assert [(row["key"], row["found"]) for row in rows_of(ran)] == [("s-30", False), ("s-00", True)]


@pytest.mark.parametrize("name", ["v8_mor_indexed", INDEXED])
def test_a_secondary_value_gives_the_keys_of_its_rows(name: str, golden: Golden) -> None:
    rows = pq.read_table(GOLDEN / name / "expected.parquet").to_pylist()
    value = rows[0]["celsius"]

    ran = run_engine("lookup", golden(name), "--secondary", f"celsius={value}", "--verify", "--json")

    assert ran.code == 0, ran
    assert [row["key"] for row in rows_of(ran)] == sorted(
        r["_hoodie_record_key"] for r in rows if r["celsius"] == value
    )
    assert all(row["verified"] for row in rows_of(ran))


def test_a_secondary_index_can_be_named_itself(golden: Golden) -> None:
    ran = run_engine("lookup", golden(INDEXED), "--secondary", "secondary_index_by_celsius=30.3", "--json")

    assert [row["key"] for row in rows_of(ran)] == ["s-30"]


def test_a_secondary_value_that_nobody_has_is_code_1(golden: Golden) -> None:
    ran = run_engine("lookup", golden(INDEXED), "--secondary", "celsius=-300.0", "--json")

    assert (ran.code, ran.out, ran.err) == (1, "", "")


def test_what_spells_an_emoji_is_shown_as_it_is(golden: Golden) -> None:
    ran = run_engine("lookup", golden(INDEXED), "--secondary", "celsius=:smile:")

    assert "celsius=:smile:" in ran.out


def test_a_reader_that_goes_away_is_no_absent_key(golden: Golden) -> None:
    lookup = [str(ENGINE), "lookup", str(golden(INDEXED)), "--key", "s-30", "--json"]
    with subprocess.Popen(lookup, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        said = running.stderr.read()

    assert (running.returncode, said) == (141, b"")


@pytest.mark.parametrize("change", [{"partitionName": "attic"}, {"partitionName": "nowhere"}, {"fileIdLowBits": 7}])
def test_an_entry_that_leads_astray_is_not_verified(change: Entry, golden: Golden) -> None:
    table = golden(INDEXED)
    change_entry(table, "record_index", "s-00", lambda entry: entry["recordIndexMetadata"].update(change))

    ran = run_engine("lookup", table, "--key", "s-00", "--key", "s-30", "--verify", "--json")

    assert ran.code == 1
    assert [(row["found"], row["verified"]) for row in rows_of(ran)] == [(True, False), (True, True)]
    assert run_engine("lookup", table, "--key", "s-00").code == 0


def test_a_table_without_metadata_table_is_refused(golden: Golden) -> None:
    table = golden(INDEXED)
    shutil.rmtree(table / ".hoodie/metadata")

    require_refusal(run_engine("lookup", table, "--key", "a"), 10, "no metadata table")


def test_a_table_without_record_index_is_refused_naming_what_there_is(golden: Golden) -> None:
    require_refusal(run_engine("lookup", golden("v9_mor_orders"), "--key", "a"), 10, "record_index", "column_stats")


def test_an_index_in_flight_is_refused(golden: Golden) -> None:
    table = golden(INDEXED)
    put_in_flight(table, "record_index")

    require_refusal(run_engine("lookup", table, "--key", "s-30"), 20, "in flight")


def test_a_column_without_secondary_index_is_refused_naming_those_there_are(golden: Golden) -> None:
    require_refusal(
        run_engine("lookup", golden(INDEXED), "--secondary", "room=attic"), 10, "room", "by_celsius on celsius"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--key", "a", "--secondary", "b=c"),
        ("--key", "a", "--keys-file", "-"),
        ("--secondary", "celsius"),
        ("--secondary", "=1"),
        ("--keys-file", "/nowhere/keys"),
        ("--keys-file", "/"),
    ],
)
def test_a_question_that_makes_no_sense_is_code_2(arguments: tuple[str, ...], golden: Golden) -> None:
    ran = run_engine("lookup", golden(INDEXED), *arguments)

    assert ran.code == 2
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("name", "content"), [("keys", b"s-30\ns\xff"), ("keys.json", b'{"a": 1}'), ("keys.json", b'["a", 1]')]
)
def test_a_file_of_keys_that_is_none_is_refused_naming_it(
    name: str, content: bytes, golden: Golden, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)

    require_refusal(run_engine("lookup", golden(INDEXED), "--keys-file", tmp_path / name), 17, name)


def put_in_flight(table: Path, index: str) -> None:
    text = (table / PROPERTIES).read_text("latin-1")
    lines = [f"{line}{index}" if line.endswith("partitions.inflight=") else line for line in text.splitlines()]
    lines = [line.replace(f",{index}", "") if "metadata.partitions=" in line else line for line in lines]
    (table / PROPERTIES).write_text("\n".join(lines) + "\n", "latin-1")
