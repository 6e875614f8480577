"""`hudi-engine read`: rows, to the terminal, to a program or to a file."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from hudi_engine.cli import screen
from hudi_engine.cli.options import Conf, Json, Location, Props, configuration, open_from
from hudi_engine.cli.progress import counting
from hudi_engine.cli.row_file import require_writable, write_rows
from hudi_engine.table.conform import python_rows
from hudi_engine.table.snapshot import RowReader

_SHOWN_ROWS = 20


def read(
    location: Location,
    columns: Annotated[
        str | None, typer.Option("--columns", metavar="A,B,…", help="Only these columns, in this order.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=0, help=f"At most so many rows; {_SHOWN_ROWS} on a terminal.")
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="INSTANT", help="The rows of then: 20260131235959999 or '2026-01-31 23:59:59'."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the rows to FILE.parquet or FILE.arrow.")
    ] = None,
    conf: Conf = None,
    props: Props = None,
    *,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it is there.")] = False,
    json: Json = False,
) -> None:
    """Read the rows of a snapshot, meta columns included, as Spark with Hudi reads them."""
    if out is not None:
        require_writable(out, location, overwrite=overwrite)
    table = open_from(location, configuration(conf, props))
    snapshot = table.snapshot(as_of)
    reader = table.rows(snapshot, None if columns is None else [name.strip() for name in columns.split(",")])
    if out is not None:
        with counting("rows", "file slices", len(snapshot.slices)) as progress:
            rows = write_rows(out, reader.schema, progress.each(limited(reader, limit)))
        done = {"instant": snapshot.instant, "rows": rows, "out": str(out)}
        screen.print_json(done) if json else screen.out().print(f"{rows} rows as of {snapshot.instant} in {out}")
    elif json:
        for rows_of_slice in limited(reader, limit):
            for row in python_rows(rows_of_slice):
                screen.print_json(row)
    else:
        _show(table.config.name, reader, _SHOWN_ROWS if limit is None else limit)


def limited(reader: RowReader, limit: int | None) -> Iterator[pa.Table]:
    """The rows of all slices, up to the limit; no further slice is opened once it is reached."""
    left = limit
    for rows in () if limit == 0 else reader.tables():
        yield rows if left is None else rows.slice(0, left)
        if left is not None:
            left -= rows.num_rows
            if left <= 0:
                return


def _show(name: str, reader: RowReader, limit: int) -> None:
    rows = [row for table in limited(reader, limit + 1) for row in python_rows(table)]
    shown = (row.values() for row in islice(rows, limit))
    screen.show_grid(f"{name} at {reader.snapshot.instant}", reader.schema.names, map(list, shown))
    if len(rows) > limit:
        screen.out().print(f"… and more: the first {limit} rows are shown, see --limit and --out")
