"""Bad input at the command line: one clear line, the exit code of docs/cli.md, no traceback, nothing changed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.kit.commands import Ran, run_engine

COMMANDS = ("inspect", "timeline", "files", "read")
PROPERTIES = ".hoodie/hoodie.properties"
Golden = Callable[[str], Path]
each_command = pytest.mark.parametrize("command", COMMANDS)


def require_refusal(ran: Ran, code: int, *words: str) -> None:
    assert ran.code == code, ran
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert len(ran.err.strip().splitlines()) == 1, ran.err
    for word in words:
        assert word in ran.err


@each_command
def test_a_path_that_is_not_there_is_refused(command: str, tmp_path: Path) -> None:
    require_refusal(run_engine(command, tmp_path / "nowhere"), 10, "nowhere")


@each_command
def test_a_folder_without_a_table_is_refused(command: str, tmp_path: Path) -> None:
    require_refusal(run_engine(command, tmp_path), 11, str(tmp_path), ".hoodie")


@each_command
def test_a_file_in_place_of_a_table_is_refused(command: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no table")

    require_refusal(run_engine(command, tmp_path / "file"), 11, "file")


@each_command
def test_a_table_of_version_10_is_refused_naming_it(command: str, golden: Golden) -> None:
    table = golden("v9_mor_orders")
    _change(table, "hoodie.table.version=9", "hoodie.table.version=10")

    require_refusal(run_engine(command, table), 18, "hoodie.table.version=10", "6, 8, 9")


def test_a_custom_payload_is_refused_for_rows_and_not_for_a_look(golden: Golden) -> None:
    table = golden("v6_mor_orders")
    _change(table, "org.apache.hudi.common.model.DefaultHoodieRecordPayload", "com.example.OurPayload")

    require_refusal(run_engine("read", table), 18, "com.example.OurPayload", "Spark")
    assert "com.example.OurPayload" in run_engine("inspect", table, "--json").document["merge_mode"]


@each_command
def test_torn_properties_without_a_backup_are_refused(command: str, golden: Golden) -> None:
    table = golden("v9_mor_orders")
    (table / PROPERTIES).write_bytes((table / PROPERTIES).read_bytes()[:40])

    require_refusal(run_engine(command, table), 17, "hoodie.properties")


@each_command
def test_torn_properties_with_a_good_backup_work(command: str, golden: Golden) -> None:
    table = golden("v9_mor_orders")
    shutil.copy(table / PROPERTIES, table / f"{PROPERTIES}.backup")
    (table / PROPERTIES).write_bytes((table / PROPERTIES).read_bytes()[:40])

    ran = run_engine(command, table)

    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("location", ["hdfs://nn/table", "ftp://host/table"])
def test_a_store_that_is_not_supported_is_refused_naming_those_that_are(location: str) -> None:
    require_refusal(run_engine("inspect", location), 18, "s3")


def test_an_object_store_that_does_not_answer_is_refused() -> None:
    conf = (
        "--conf",
        "fs.s3a.endpoint=http://127.0.0.1:1",
        "--conf",
        "fs.s3a.access.key=a",
        "--conf",
        "fs.s3a.secret.key=b",
    )

    require_refusal(run_engine("inspect", "s3a://bucket/table", *conf), 13)


def test_a_wrong_time_zone_is_refused_naming_the_property_to_set(golden: Golden) -> None:
    table = golden("v9_mor_orders")

    ran = run_engine("timeline", table, "--conf", "hudi.engine.timeline.timezone=Mars/Olympus")

    require_refusal(ran, 18, "hudi.engine.timeline.timezone")


def test_a_damaged_base_file_is_refused_naming_it(golden: Golden) -> None:
    table = golden("v6_cow_orders")
    base = max(table.glob("region=plain/*.parquet"), key=lambda path: path.name.rpartition("_")[2])
    base.write_bytes(base.read_bytes()[:-100])

    require_refusal(run_engine("read", table), 17, base.name)


def test_an_unknown_column_is_refused_listing_those_there_are(golden: Golden) -> None:
    require_refusal(run_engine("read", golden("v9_mor_orders"), "--columns", "nope"), 10, "nope", "order_id")


def test_a_time_before_what_was_cleaned_is_refused(golden: Golden) -> None:
    require_refusal(run_engine("read", golden("v8_mor_services"), "--as-of", "2001-01-01"), 10, "cleaned")


def test_an_error_is_a_document_where_documents_are_asked_for(tmp_path: Path) -> None:
    ran = run_engine("inspect", tmp_path, "--json")

    assert ran.code == 11
    assert ran.document["error"]["class"] == "NotATable"
    assert ran.document["error"]["exit"] == 11


@pytest.mark.parametrize(
    "arguments", [("inspect",), ("read", "x", "--limit", "-1"), ("files", "x", "--conf", "novalue"), ("nope",)]
)
def test_a_command_line_that_makes_no_sense_is_code_2(arguments: tuple[str, ...]) -> None:
    ran = run_engine(*arguments)

    assert ran.code == 2
    assert "Traceback" not in ran.err


def _change(table: Path, found: str, wanted: str) -> None:
    text = (table / PROPERTIES).read_text("latin-1")
    assert found in text
    (table / PROPERTIES).write_text(text.replace(found, wanted), "latin-1")
