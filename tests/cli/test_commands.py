"""What the commands say of golden tables."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from tests.cli.conftest import GOLDEN
from tests.kit.commands import run_engine
from tests.kit.compare import require_equal

Golden = Callable[[str], Path]


def test_inspect_describes_a_table_in_one_document(golden: Golden) -> None:
    document = run_engine("inspect", golden("v9_mor_indexed"), "--json").document

    assert (document["type"], document["version"], document["timeline_layout"]) == ("MERGE_ON_READ", 9, 2)
    assert {index["name"]: index["state"] for index in document["indexes"]}["record_index"] == "ready"
    assert document["partitions"]
    assert document["pending"] == []


def test_inspect_shows_a_pending_instant_with_its_age(golden: Golden) -> None:
    document = run_engine("inspect", golden("v9_mor_killed"), "--json").document

    assert [(p["action"], p["state"]) for p in document["pending"]] == [("deltacommit", "inflight")]
    assert document["pending"][0]["age_seconds"] > 0


def test_inspect_shows_lock_settings_given_and_a_lock_file_that_lies_there(golden: Golden) -> None:
    table = golden("v9_mor_orders")
    (table / ".hoodie/lock").write_text("{}")
    provider = "hoodie.write.lock.provider=org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"

    lock = run_engine("inspect", table, "--json", "--conf", provider).document["lock"]

    assert lock == {"settings": dict([provider.split("=")]), "files": [".hoodie/lock"]}


def test_timeline_lists_active_and_archived_instants(golden: Golden) -> None:
    document = run_engine("timeline", golden("v8_mor_archived"), "--archived", "--json").document
    wanted = json.loads((GOLDEN / "v8_mor_archived/timeline.json").read_text())

    assert [row["requested"] for row in document["active"]] == [row["requested"] for row in wanted["active"]]
    assert {row["requested"] for row in document["archived"]} == {row["requested"] for row in wanted["archived"]}


def test_files_of_one_partition_are_a_part_of_all_files(golden: Golden) -> None:
    table = golden("v9_mor_orders")

    everything = run_engine("files", table, "--json").document["slices"]
    part = run_engine("files", table, "region=50%25 off", "--json").document["slices"]

    assert part
    assert part == [found for found in everything if found["partition"] == "region=50%25 off"]


def test_read_writes_parquet_and_arrow_equal_to_spark(golden: Golden, tmp_path: Path) -> None:
    table, expected = golden("v9_mor_orders"), pq.read_table(GOLDEN / "v9_mor_orders/expected.parquet")

    for out in (tmp_path / "rows.parquet", tmp_path / "rows.arrow"):
        ran = run_engine("read", table, "--out", out)
        assert ran.code == 0, ran.err

    require_equal(pq.read_table(tmp_path / "rows.parquet"), expected)
    with pa.OSFile(str(tmp_path / "rows.arrow")) as file:
        require_equal(pyarrow.ipc.open_file(file).read_all(), expected)


def test_read_as_json_gives_one_row_a_line(golden: Golden) -> None:
    ran = run_engine("read", golden("v6_cow_orders"), "--columns", "seen,_hoodie_record_key", "--limit", "5", "--json")

    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert len(rows) == 5
    assert {tuple(row) for row in rows} == {("seen", "_hoodie_record_key")}


def test_read_refuses_to_replace_a_file_unless_told_to(golden: Golden, tmp_path: Path) -> None:
    table, out = golden("v6_cow_orders"), tmp_path / "rows.parquet"
    out.write_text("precious")

    assert run_engine("read", table, "--out", out).code == 2
    assert out.read_text() == "precious"
    assert run_engine("read", table, "--out", out, "--overwrite").code == 0
    assert pq.read_metadata(out).num_rows == 22


def test_read_refuses_to_write_into_the_table(golden: Golden) -> None:
    table = golden("v6_cow_orders")

    assert run_engine("read", table, "--out", table / "rows.parquet").code == 2


def test_properties_come_from_a_file_and_the_command_line_wins(golden: Golden, tmp_path: Path) -> None:
    (tmp_path / "hudi.properties").write_text(
        "hoodie.write.lock.provider = from file\nhoodie.write.lock.num_retries: 3\n"
    )

    ran = run_engine(
        "inspect", golden("v6_cow_orders"), "--json",
        "--props", tmp_path / "hudi.properties", "--conf", "hoodie.write.lock.provider=from line",
    )  # fmt: skip

    assert ran.document["lock"]["settings"] == {
        "hoodie.write.lock.provider": "from line",
        "hoodie.write.lock.num_retries": "3",
    }


def test_a_pipe_gets_whole_names(golden: Golden) -> None:
    table = golden("v9_mor_orders")

    out = run_engine("files", table).out

    for found in run_engine("files", table, "--json").document["slices"]:
        assert found["file_id"] in out
