"""`hudi-engine timeline`: what happened to a table, and what is happening."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Annotated

import typer

from hudi_engine.cli import screen
from hudi_engine.cli.options import Conf, Json, Location, Props, configuration, open_from
from hudi_engine.format.instant_names import Instant
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import WRITES

_READERS = 16


def timeline(
    location: Location,
    conf: Conf = None,
    props: Props = None,
    *,
    archived: Annotated[bool, typer.Option("--archived", help="The archived instants, too.")] = False,
    json: Json = False,
) -> None:
    """Show the instants of a table, oldest first, with what each commit wrote."""
    table = open_from(location, configuration(conf, props))
    active = table.timeline().instants
    with ThreadPoolExecutor(_READERS) as readers:
        rows = [
            _document(instant, commit)
            for instant, commit in zip(active, readers.map(partial(_commit, table), active), strict=True)
        ]
    history = [_document(instant, None) for instant in table.history()] if archived else []
    if json:
        screen.print_json({"active": rows, **({"archived": history} if archived else {})})
        return
    columns = ["requested", "completed", "action", "state", "operation", "files>", "rows>", "deletes>"]
    if archived:
        screen.show_grid(f"{table.config.name}: archived", columns[:4], map(_cells, history))
    screen.show_grid(f"{table.config.name}: active timeline", columns, map(_cells, rows))


def _commit(table: Table, instant: Instant) -> CommitMetadata | None:
    return table.commit(instant) if instant.is_completed and instant.action in WRITES else None


def _document(instant: Instant, commit: CommitMetadata | None) -> Mapping[str, object]:
    document: dict[str, object] = {
        "requested": instant.requested_at,
        "completed": instant.completed_at,
        "action": instant.action.value,
        "state": instant.state.value,
    }
    if commit is not None:
        document |= {
            "operation": commit.operation,
            "files": len(commit.stats),
            "rows": sum(stat.rows for stat in commit.stats),
            "deletes": sum(stat.deletes for stat in commit.stats),
        }
    return document


def _cells(document: Mapping[str, object]) -> list[object]:
    return list(document.values())
