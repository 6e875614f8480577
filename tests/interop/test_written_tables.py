"""Our log blocks in tables of real Hudi: Spark's snapshot changes by exactly what they say."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.golden.unpack import unpack
from tests.interop.compare import Row, require_equal
from tests.interop.jvm import Jvm
from tests.interop.readable import every_release_and_table_version

from hudi_engine.format import avro_schema, service_records
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State, instant_file
from hudi_engine.format.log.block import HeaderKey
from hudi_engine.format.log.delete import COMMIT_TIME, DeletedKey, OrderingKind, OrderingValue
from hudi_engine.format.log.writer import avro_block, delete_block, rollback_block
from hudi_engine.format.names import LogFileName, parse_base_file, parse_log_file
from hudi_engine.format.service_records import RecordName

GOLDEN = Path(__file__).parents[1] / "golden"
# These tests write no index of files, so Java is to list them.
LISTING = {"hoodie.metadata.enable": "false"}
BEGUN, ENDED = InstantTime("20990101000000000"), InstantTime("20990101000001000")


def snapshot(real: Jvm, table: Path, folder: Path) -> pa.Table:
    out = folder / "rows.parquet"
    real.snapshot(table=str(table), out=str(out), options=LISTING)
    return pq.read_table(out)


def expected(name: str, as_of: str = "") -> pa.Table:
    return pq.read_table(GOLDEN / name / f"expected{as_of and '_' + as_of}.parquet")


def changed(rows: pa.Table, change: Callable[[dict[str, Row]], None]) -> pa.Table:
    by_key = {row["_hoodie_record_key"]: row for row in rows.to_pylist()}
    change(by_key)
    return pa.Table.from_pylist(list(by_key.values()), schema=rows.schema)


def instants(name: str) -> list[str]:
    """The requested times of the table's instants, in order."""
    import json

    return [each["requested"] for each in json.loads((GOLDEN / name / "timeline.json").read_text())["active"]]
