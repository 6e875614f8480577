"""`--dry-run`: what building an index would take, and whether it would be refused; nothing is changed."""

from dataclasses import asdict

import typer

from hudi_engine.action.base import snapshot_of
from hudi_engine.action.schedule import IndexRequest, refuse_unbuildable
from hudi_engine.cli import screen
from hudi_engine.cli.compute_choice import threads
from hudi_engine.cli.jobs import NOTHING_TO_DO, index_request_of, owner
from hudi_engine.cli.options import open_from
from hudi_engine.compute.estimate import Estimate, Limits, estimate
from hudi_engine.concurrency.lock import lock_of
from hudi_engine.contract import JobRequest
from hudi_engine.index.block_cache import BlockCache
from hudi_engine.index.metadata_table import open_metadata_table
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.table import Table

_CACHE_BYTES = 16 << 20


def show_plan(request: JobRequest, *, is_json: bool) -> None:
    """The plan's size in figures; exits with 3 if the table has all that is asked for."""
    table = open_from(request.table, request.conf)
    asked = index_request_of(request)
    refuse_unbuildable(table, asked)
    lock_of(request.conf, table, owner())
    if all(kind in table.config.readable_indexes for kind in asked.kinds):
        if is_json:
            screen.print_json({"keys": 0, "shards": 0, "skipped": list(asked.kinds)})
        else:
            screen.out().print(f"nothing to do: {', '.join(asked.kinds)} complete already")
        raise typer.Exit(NOTHING_TO_DO)
    figures = _estimate(table, request, asked)
    if is_json:
        screen.print_json(asdict(figures) | {"skipped": []})
        return
    rows = [
        ("record keys, about", f"{figures.keys:,}"),
        ("shards", f"{figures.shards:,}"),
        ("to read", screen.size(figures.read_bytes)),
        ("to write", screen.size(figures.write_bytes)),
        ("memory", screen.size(figures.memory_bytes)),
        ("time", screen.age(figures.seconds)),
    ]
    screen.show_grid(f"{table.config.name}: {', '.join(asked.kinds)} would take", ["", ">"], rows)


def _estimate(table: Table, request: JobRequest, asked: IndexRequest) -> Estimate:
    snapshot = snapshot_of(open_metadata_table(table, BlockCache(_CACHE_BYTES)))
    reader = table.rows(snapshot, [RECORD_KEY])
    return estimate(reader, asked.is_partitioned, request.conf, Limits(threads(), request.memory_bytes))
