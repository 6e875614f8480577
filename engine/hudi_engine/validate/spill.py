"""Suspicious rows on disk, in parts."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from hudi_engine.storage.scratch import room_in

# What has no room where the disk is full, and what to do then.
_FOR = (
    "the entries that look suspicious",
    "Make room, or let TMPDIR name a folder on a larger disk, and run the validation again.",
)
# What is told of a row of either side. `key` is a record key, `value` what a secondary index has for it, `flaw` says
# why an entry is of no use though it says the truth, and `is_outside` that it is none of a sample's.
SUSPECT = pa.schema(
    [
        pa.field("key", pa.large_string()),
        pa.field("partition", pa.large_string()),
        pa.field("file_id", pa.large_string()),
        pa.field("value", pa.large_string()),
        pa.field("flaw", pa.large_string()),
        pa.field("is_outside", pa.bool_()),
    ]
)
# Rows are gathered before they are written: a batch of an Arrow file costs a kilobyte, however few rows it has.
_WAITING_BYTES = 32 << 20


class Part(NamedTuple):
    """Rows of one side that belong into the part `number`."""

    is_index: bool
    number: int
    rows: pa.Table


@dataclass(frozen=True, slots=True)
class Suspects:
    """Rows of both sides, in the schema `SUSPECT`."""

    data: pa.Table
    index: pa.Table


@dataclass(slots=True)
class Spill:
    """Parts of two sides, each in a file of its own. Rows are added first and taken when all are there."""

    folder: Path
    opened: ExitStack
    writers: dict[tuple[bool, int], Any] = field(default_factory=dict)
    waiting: dict[tuple[bool, int], list[pa.Table]] = field(default_factory=dict)
    waiting_bytes: int = 0

    @classmethod
    @contextmanager
    def into(cls, folder: Path) -> Iterator["Spill"]:
        """A spill that takes rows until the end of the `with`."""
        with room_in(folder, *_FOR), ExitStack() as opened:
            spill = cls(folder, opened)
            yield spill
            spill.write()

    def add(self, part: Part) -> None:
        self.waiting.setdefault((part.is_index, part.number), []).append(part.rows)
        self.waiting_bytes += part.rows.get_total_buffer_size()
        if self.waiting_bytes >= _WAITING_BYTES:
            self.write()

    def write(self) -> None:
        """Puts on disk what waits."""
        for part, tables in self.waiting.items():
            self._writer(part).write_table(pa.concat_tables(tables).combine_chunks())
        self.waiting.clear()
        self.waiting_bytes = 0

    def take(self, number: int) -> Suspects:
        """Both sides of one part."""
        return Suspects(self._rows(False, number), self._rows(True, number))

    def _writer(self, part: tuple[bool, int]) -> Any:
        if part not in self.writers:
            file = self.opened.enter_context(pa.OSFile(str(self._path(*part)), "wb"))
            self.writers[part] = self.opened.enter_context(pa.ipc.new_stream(file, SUSPECT))
        return self.writers[part]

    def _rows(self, is_index: bool, number: int) -> pa.Table:
        if (is_index, number) not in self.writers:
            return SUSPECT.empty_table()
        with pa.OSFile(str(self._path(is_index, number)), "rb") as file, pa.ipc.open_stream(file) as rows:
            return rows.read_all()

    def _path(self, is_index: bool, number: int) -> Path:
        return self.folder / f"{'index' if is_index else 'data'}-{number}.arrow"


def suspect_rows(columns: dict[str, pa.Array | str | bool | None], count: int) -> pa.Table:
    """Rows in the schema `SUSPECT`: columns that are not named are null, a single value is that of all rows."""
    return pa.table([_column(columns.get(field.name), field.type, count) for field in SUSPECT], schema=SUSPECT)


def _column(given: pa.Array | str | bool | None, kind: pa.DataType, count: int) -> pa.Array:
    if isinstance(given, str | bool | None):
        return pa.repeat(pa.scalar(given, kind), count)
    return given.cast(kind)
