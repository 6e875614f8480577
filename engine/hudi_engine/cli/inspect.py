"""`hudi-engine inspect`: what a table is and how it is."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from hudi_engine.cli import screen
from hudi_engine.cli.options import Conf, Json, Location, Props, configuration, open_from
from hudi_engine.errors import Unsupported
from hudi_engine.table.health import index_health, lock_health, pending_instants
from hudi_engine.table.merge_mode import merge_mode, require_readable_rows
from hudi_engine.table.snapshot import Snapshot
from hudi_engine.table.table import Table

_SHOWN_PARTITIONS = 50


def inspect(location: Location, conf: Conf = None, props: Props = None, *, json: Json = False) -> None:
    """Show configuration, versions, partitions, sizes, indexes, pending instants and lock settings of a table."""
    given = configuration(conf, props)
    table = open_from(location, given)
    document = describe(table, given)
    if json:
        screen.print_json(document)
    else:
        _show(document)


def describe(table: Table, given: Mapping[str, str]) -> dict[str, Any]:
    """All that `inspect` says, as one document."""
    config = table.config
    snapshot = table.snapshot()
    completed = snapshot.timeline.completed()
    return {
        "location": table.storage.location,
        "name": config.name,
        "database": config.database,
        "type": config.table_type,
        "version": config.version,
        "timeline_layout": config.layout,
        "timeline_zone": f"{config.timeline_zone} ({table.zone.key})",
        "timeline_zone_evidence": str(table.zone_evidence),
        "record_key": list(config.record_key_fields),
        "partition_by": list(config.partition_fields),
        "ordering": list(config.ordering_fields),
        "merge_mode": _merging(table),
        "last_completed": completed[-1].requested_at if completed else None,
        "instants": dict(Counter(instant.action.value for instant in snapshot.timeline.instants)),
        "partitions": list(_partitions(snapshot)),
        "indexes": [
            {"name": index.name, "state": index.state, "shards": index.shards, "bytes": index.size_bytes}
            for index in index_health(table)
        ],
        "pending": [
            {
                "instant": pending.instant.requested_at,
                "action": pending.instant.action,
                "state": pending.instant.state,
                "age_seconds": pending.age_seconds,
                "heartbeat_age_seconds": pending.heartbeat_age_seconds,
            }
            for pending in pending_instants(table, snapshot.timeline)
        ],
        "lock": _lock(table, given),
        "properties": dict(config.properties),
    }


def _merging(table: Table) -> str:
    try:
        require_readable_rows(table.config)
        return merge_mode(table.config).value if table.config.is_merge_on_read else "on write"
    except Unsupported as refused:
        return f"unsupported: {refused}"


def _lock(table: Table, given: Mapping[str, str]) -> dict[str, object]:
    lock = lock_health(table, given)
    return {"settings": dict(lock.settings), "files": list(lock.files)}


def _partitions(snapshot: Snapshot) -> Iterator[dict[str, object]]:
    totals: dict[str, list[int]] = {}
    for found in snapshot.slices:
        total = totals.setdefault(found.partition, [0, 0, 0])
        total[0] += 1
        total[1] += len(found.log_files)
        total[2] += found.size_bytes
    for name, (groups, logs, size) in sorted(totals.items()):
        yield {"name": name, "file_groups": groups, "log_files": logs, "bytes": size}


def _show(document: dict[str, Any]) -> None:
    out = screen.out()
    facts = [(key, value) for key, value in document.items() if isinstance(value, str | int) and value != ""]
    facts += [(key, ", ".join(document[key])) for key in ("record_key", "partition_by", "ordering") if document[key]]
    facts += [("instants", ", ".join(f"{count} {action}" for action, count in document["instants"].items()))]
    screen.show_grid(document["name"], ["", ""], facts)
    partitions = document["partitions"]
    out.print()
    size = screen.size(sum(partition["bytes"] for partition in partitions))
    screen.show_grid(
        f"{len(partitions)} partitions, {size}",
        ["partition", "file groups>", "log files>", "size>"],
        map(_partition_row, partitions[:_SHOWN_PARTITIONS]),
    )
    if len(partitions) > _SHOWN_PARTITIONS:
        out.print(f"… and {len(partitions) - _SHOWN_PARTITIONS} more, see --json")
    if document["indexes"]:
        out.print()
        rows = [[i["name"], i["state"], i["shards"], screen.size(i["bytes"])] for i in document["indexes"]]
        screen.show_grid("indexes", ["index", "state", "shards>", "size>"], rows)
    out.print()
    _show_pending(document["pending"])
    _show_lock(document["lock"])


def _partition_row(partition: dict[str, Any]) -> list[object]:
    name = partition["name"] or "(none)"
    return [name, partition["file_groups"], partition["log_files"], screen.size(partition["bytes"])]


def _show_pending(pending: list[dict[str, Any]]) -> None:
    if not pending:
        screen.out().print("nothing pending")
        return
    rows = [
        [p["instant"], p["action"], p["state"], screen.age(p["age_seconds"]), screen.age(p["heartbeat_age_seconds"])]
        for p in pending
    ]
    columns = ["instant", "action", "state", "age>", "last heartbeat>"]
    screen.show_grid(f"{len(pending)} pending", columns, rows)


def _show_lock(lock: dict[str, Any]) -> None:
    settings = ", ".join(f"{key}={value}" for key, value in lock["settings"].items())
    screen.out().print(f"lock settings: {screen.safe(settings) or 'none given (--conf, --props)'}", markup=False)
    for path in lock["files"]:
        screen.out().print(f"a lock file lies in the table: {path}", markup=False)
