"""What Java's archiver does to the timeline of the data; table versions 8 and 9."""

import json
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_engine.format.instant_names import Action, instant_file
from hudi_engine.table.timeline import WRITES
from tests.worlds.world import World

_TAKEN: Final = WRITES | {Action.CLEAN, Action.ROLLBACK}


def archive(world: World, until: str) -> None:
    """Moves all instants before this one to the history, as Java does; table version 8 and 9."""
    table = world.table()
    folder, history = table.config.timeline_folder, table.config.history_folder
    gone = [each for each in table.timeline().instants if each.requested_at < until and each.is_completed]
    rows = [
        {
            "instantTime": each.requested_at,
            "completionTime": each.completed_at,
            "action": str(each.action),
            "metadata": world.storage.read(f"{folder}/{instant_file(each)}"),
            "plan": None,
            "version": 1,
        }
        for each in gone
        if each.action in _TAKEN
    ]
    schema = pa.schema(
        [
            *((name, pa.string()) for name in list(rows[0])[:3]),
            ("metadata", pa.binary()),
            ("plan", pa.binary()),
            ("version", pa.int32()),
        ]
    )
    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema), out)
    archived = sorted(str(row["instantTime"]) for row in rows)
    name = f"{archived[0]}_{archived[-1]}_0.parquet"
    world.storage.create(f"{history}/{name}", out.getvalue().to_pybytes())
    manifest = {"files": [{"fileName": name, "fileLen": 1}]}
    world.storage.replace(f"{history}/manifest_1", json.dumps(manifest).encode())
    world.storage.replace(f"{history}/_version_", b"1")
    for file in world.storage.list(folder):
        if file.name[:17] in archived:
            world.storage.delete(file.path)
