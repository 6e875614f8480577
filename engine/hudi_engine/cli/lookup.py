"""`hudi-engine lookup`: where records live, as the table's record index says."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
import typer

from hudi_engine.cli import screen
from hudi_engine.cli.json_lines import json_lines
from hudi_engine.cli.keys_file import key_batches
from hudi_engine.cli.options import Conf, Location, Props, configuration
from hudi_engine.cli.progress import Counting, counting
from hudi_engine.cli.secondary import keys_of_value
from hudi_engine.open import IndexedTable, open_table
from hudi_engine.validate.presence import records_of

_SHOWN_ROWS = 1000
_ROWS_AT_ONCE = 100_000
_ABSENT = 1


def lookup(
    location: Location,
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            metavar="KEY",
            help="A record key; may be repeated. That of a table with several key fields is written as Hudi does: "
            "'field:value,field:value'.",
        ),
    ] = None,
    keys_file: Annotated[
        Path | None,
        typer.Option(
            "--keys-file",
            metavar="FILE",
            help="Record keys, one a line; - is standard input. A file that ends in .json has them as a list of "
            "texts: for keys with line breaks.",
        ),
    ] = None,
    secondary: Annotated[
        str | None,
        typer.Option(
            "--secondary",
            metavar="COLUMN=VALUE",
            help="The records with this value, by the secondary index on the column, or by the index whose name is "
            "given in place of the column. The value is spelled as the index does: a date as days, a timestamp as "
            "microseconds since 1970.",
        ),
    ] = None,
    partition: Annotated[
        str | None, typer.Option("--partition", metavar="P", help="Only in this partition, by its folder's name.")
    ] = None,
    conf: Conf = None,
    props: Props = None,
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Open the data files that the index names: is each record really there?")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON document a key; progress and errors on standard error.")
    ] = False,
) -> None:
    """Say in which partition and file group records are, by the record index of the table.

    Exits with 0 if all are there, with 1 if one is not: if a key is absent, if no record has the value asked for, or if
    --verify does not find one in its data file.
    """
    if sum(way is not None for way in (key or None, keys_file, secondary)) != 1:
        raise typer.BadParameter("give either record keys by --key or --keys-file, or a value by --secondary")
    for text in (partition, secondary):
        _require_text(text)
    table = open_table(location, configuration(conf, props))
    index = table.index("record_index")
    records = records_of(table.table, table.metadata) if verify else None
    answer = _Answer(", ".join(filter(None, (table.table.config.name, secondary))), json)
    with counting("keys") as progress:
        for keys in _asked(table, key, keys_file, secondary):
            found = index.locate(keys, partition)
            if records is not None:
                found = found.append_column("verified", records.has(found))
            answer.take(found, progress)
            progress.advance(len(keys))
    answer.end()
    if answer.is_bad or (secondary is not None and not answer.rows):
        raise typer.Exit(_ABSENT)


def _require_text(given: str | None) -> None:
    try:
        (given or "").encode()
    except UnicodeEncodeError as wrong:
        raise typer.BadParameter(f"{given!r} is not UTF-8") from wrong


def _asked(
    table: IndexedTable, key: list[str] | None, keys_file: Path | None, secondary: str | None
) -> Iterator[pa.Array]:
    if keys_file is not None:
        yield from key_batches(keys_file)
    elif secondary is not None:
        yield from keys_of_value(table.metadata, secondary)
    else:
        yield key


@dataclass(slots=True)
class _Answer:
    """What is told of the keys: as JSON line by line, else the first of them in a grid at the end."""

    name: str
    is_json: bool
    rows: int = 0
    absent: int = 0
    unverified: int = 0
    shown: list[pa.Table] = field(default_factory=list)

    @property
    def is_bad(self) -> bool:
        return self.absent + self.unverified > 0

    def take(self, found: pa.Table, progress: Counting) -> None:
        if self.is_json:
            for start in range(0, len(found), _ROWS_AT_ONCE):
                progress.say(json_lines(found.slice(start, _ROWS_AT_ONCE)))
        elif self.rows < _SHOWN_ROWS:
            self.shown.append(found.slice(0, _SHOWN_ROWS - self.rows))
        self.rows += len(found)
        self.absent += _count_false(found["found"])
        self.unverified += _count_false(found["verified"]) if "verified" in found.schema.names else 0

    def end(self) -> None:
        if self.is_json:
            return
        title = f"{self.name}: {self.rows - self.absent} found, {self.absent} not found"
        if self.unverified:
            title += f", {self.unverified} not in the file group that the index names"
        if not self.shown:
            screen.out().print(screen.safe(title), markup=False)
            return
        rows = pa.concat_tables(self.shown)
        columns = [name.replace("_", " ") for name in rows.schema.names]
        screen.show_grid(title, columns, (list(map(_cell, row.values())) for row in rows.to_pylist()))
        if self.rows > len(rows):
            screen.out().print(f"… and {self.rows - len(rows)} more, see --json")


def _count_false(claims: pa.ChunkedArray) -> int:
    count: int = pc.sum(pc.equal(claims, False), min_count=0).as_py()
    return count


def _cell(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
