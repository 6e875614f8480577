"""`hudi-engine files`: which files a snapshot reads."""

from collections.abc import Mapping
from typing import Annotated

import typer

from hudi_engine.cli import screen
from hudi_engine.cli.options import Conf, Json, Location, Props, configuration, open_from
from hudi_engine.table.file_view import FileSlice


def files(
    location: Location,
    partition: Annotated[str | None, typer.Argument(help="One partition only, by its folder's name.")] = None,
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="INSTANT", help="As a snapshot then saw it.")] = None,
    conf: Conf = None,
    props: Props = None,
    *,
    json: Json = False,
) -> None:
    """Show the latest file slice of every file group: base file and log files in merge order."""
    table = open_from(location, configuration(conf, props))
    snapshot = table.snapshot(as_of, partition)
    if json:
        screen.print_json({"instant": snapshot.instant, "slices": [as_document(found) for found in snapshot.slices]})
        return
    screen.show_grid(
        f"{table.config.name} at {snapshot.instant or 'no commit yet'}: {len(snapshot.slices)} file slices",
        ["partition", "file id", "base instant", "base file", "size>", "log files"],
        map(_row, snapshot.slices),
    )


def as_document(found: FileSlice) -> Mapping[str, object]:
    base = found.base_file
    return {
        "partition": found.partition,
        "file_id": found.file_id,
        "base_instant": found.base_instant,
        "base_file": None if base is None else base.stat.name,
        "base_bytes": 0 if base is None else base.stat.size_bytes,
        "log_files": [{"name": log.stat.name, "bytes": log.stat.size_bytes} for log in found.log_files],
    }


def _row(found: FileSlice) -> list[object]:
    base = "" if found.base_file is None else found.base_file.stat.name
    logs = [log.stat.name for log in found.log_files]
    return [found.partition, found.file_id, found.base_instant, base, screen.size(found.size_bytes), logs]
