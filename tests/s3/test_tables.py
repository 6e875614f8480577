"""Tables in a real S3 server are read as on a disk."""

import json
from pathlib import Path
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hudi_engine.clock import SystemClock
from hudi_engine.storage.open import open_storage
from hudi_engine.table.table import open_table
from tests.kit.commands import Ran, run_engine
from tests.kit.compare import require_equal
from tools.s3_server import S3Server

GOLDEN = Path(__file__).parents[1] / "golden"


def put(s3: S3Server, bucket: str, name: str) -> str:
    """A golden table as objects; its URL, under a name that needs care."""
    base = f"{bucket.removeprefix('s3://')}/warm tables/é=1%20#x"
    ZipFile(GOLDEN / name / "table.zip").extractall(s3.folder / base)
    return f"s3a://{base}"


def run(s3: S3Server, *arguments: str, **changed: str) -> Ran:
    options = {**s3.options, **{f"fs.s3a.{key.replace('_', '.')}": value for key, value in changed.items()}}
    conf = [word for key, value in options.items() for word in ("--conf", f"{key}={value}")]
    return run_engine(*arguments, *conf)


@pytest.mark.parametrize("name", ["v6_mor_orders", "v8_mor_archived", "v9_mor_orders", "v9_mor_journeys"])
def test_rows_in_s3_equal_sparks(name: str, s3: S3Server, bucket: str) -> None:
    table = open_table(open_storage(put(s3, bucket, name), s3.options), SystemClock(), {})

    rows = pa.concat_tables(table.rows(table.snapshot()).tables())

    require_equal(rows, pq.read_table(GOLDEN / name / "expected.parquet"))


def test_every_command_reads_a_table_in_s3(s3: S3Server, bucket: str) -> None:
    location = put(s3, bucket, "v8_mor_archived")

    inspected = run(s3, "inspect", location, "--json").document
    timeline = run(s3, "timeline", location, "--archived", "--json").document
    slices = run(s3, "files", location, "--json").document["slices"]
    rows = [json.loads(line) for line in run(s3, "read", location, "--json").out.splitlines()]

    assert inspected["location"] == location
    assert timeline["archived"]
    assert {found["file_id"] for found in slices}
    assert len(rows) == pq.read_metadata(GOLDEN / "v8_mor_archived/expected.parquet").num_rows


@pytest.mark.parametrize(
    ("location", "changed", "code", "word"),
    [
        ("s3a://no-such-bucket/table", {}, 10, "no-such-bucket"),
        ("s3a://{bucket}/nothing/here", {}, 11, "no Hudi table"),
        ("s3a://{bucket}/table", {"secret_key": "wrong"}, 12, "{bucket}"),
        ("s3a://{bucket}/table", {"endpoint": "http://127.0.0.1:1"}, 13, "{bucket}"),
    ],
)
def test_what_cannot_be_reached_is_one_clear_line(
    location: str, changed: dict[str, str], code: int, word: str, s3: S3Server, bucket: str
) -> None:
    name = bucket.removeprefix("s3://")

    ran = run(s3, "inspect", location.format(bucket=name), **changed)

    assert ran.code == code, ran
    assert len(ran.err.strip().splitlines()) == 1
    assert word.format(bucket=name) in ran.err
