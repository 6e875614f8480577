"""What the rows of a data file say of its columns, in the terms of column statistics."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.log.block import DATA_TYPES, BlockType
from hudi_engine.format.log.order import live_blocks
from hudi_engine.format.parquet_file import batches, open_parquet
from hudi_engine.format.parquet_footer import ColumnChunk, parse_column_chunks
from hudi_engine.storage.file_object import StoredFile
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.log_changes import deleted_rows, stored_rows
from hudi_engine.table.snapshot import delete_marker
from hudi_engine.validate.data_files import blocks_of
from hudi_engine.validate.subject import Subject, unless_files_vanish
from hudi_engine.validate.tally import ColumnFacts

# Parquet's old and new lists; Hudi names statistics by the new ones.
_OLD_LIST = re.compile(r"\.array(?=\.|$)")
_TELLS_NAN = "parquet-mr"  # takes NaN for the greatest number; what others write has bounds without it
_LIST_STEPS = (("list", "element"), ("array",))
_MAP_STEPS: Mapping[tuple[str, ...], Callable[[Any], Any]] = {
    ("key_value", "key"): lambda values: values.keys,
    ("key_value", "value"): lambda values: values.items,
}


def facts_of_base_file(subject: Subject, stat: FileStat, columns: Sequence[str]) -> dict[str, ColumnFacts]:
    """Those of the columns that the file has, from its rows; sizes are what its footer says.

    Nothing for a file that is not Parquet: Hudi takes no statistics from others.
    """
    if not stat.name.endswith(".parquet"):
        return {}
    try:
        with unless_files_vanish():
            source = StoredFile(subject.table.storage, stat.path, stat.size_bytes)
            file = open_parquet(source)
            paths, facts = _from_footer(_footer_of(source, stat.size_bytes), columns)
            for rows in batches(file, sorted({path.partition(".")[0] for path in paths.values()})):
                for column, path in paths.items():
                    _add(facts[column], rows, path)
            tells_nan = (file.metadata.created_by or "").startswith(_TELLS_NAN)
            for about in facts.values():
                _settle(about, tells_nan=tells_nan)
            return facts
    except CorruptFile as corrupt:
        raise corrupt.in_file(stat.path) from corrupt


def facts_of_log_file(subject: Subject, stat: FileStat, columns: Sequence[str]) -> dict[str, ColumnFacts]:
    """Those of the columns that its blocks have; nothing for a log that holds no rows at all."""
    blocks = blocks_of(subject.table.storage, stat)
    is_completed = subject.snapshot.view.completions.is_completed
    live = {id(block) for block in live_blocks(blocks, is_completed)}
    facts: dict[str, ColumnFacts] = {}
    for block in blocks:
        if block.type not in DATA_TYPES:
            continue
        if block.type is BlockType.HFILE_DATA:
            raise Unsupported(f"{stat.path}: an HFile at offset {block.offset} in a data table's log")
        try:
            rows = stored_rows(block)
            kept = rows.slice(0, 0)
            if id(block) in live:
                kept = rows.filter(pa.array(~deleted_rows(rows, delete_marker(subject.table.config))))
        except CorruptFile as corrupt:
            raise corrupt.in_file(stat.path) from corrupt
        for column in columns:
            _add_logged(facts, rows, kept, column)
        for about in facts.values():  # a partial row may be right only together with what it leaves as it was
            about.may_be_left_out |= block.is_partial
    return facts


def _add(facts: ColumnFacts, rows: Any, path: str) -> None:
    leaf = leaf_of(rows, path)
    if leaf is None:
        raise Unsupported(f"statistics of a column at {path!r}, which is not how Hudi's writers name parts of columns")
    facts.kind, facts.is_repeated = leaf.values.type, leaf.is_repeated
    facts.certain.add(leaf.values)
    facts.possible.add(leaf.values)


def _settle(facts: ColumnFacts, *, tells_nan: bool) -> None:
    """Bring in how Hudi, or we, read a footer that says less than the rows, or otherwise."""
    if facts.is_repeated:  # empty lists count, too, so that the footer alone knows
        for tally in (facts.certain, facts.possible):
            tally.values, tally.nulls = facts.footer.values, facts.footer.nulls
    elif facts.lacks_nulls:
        facts.uncounted_nulls = max(0, facts.footer.nulls - facts.certain.nulls)
    if facts.kind is not None and pa.types.is_floating(facts.kind):
        facts.possible.has_nan |= not tells_nan
    # Where a footer has no bounds, of nulls alone or of NaN, Parquet's Java gives Hudi a zero for each.
    if facts.may_lack_bounds and facts.kind is not None and not _is_text(facts.kind):
        facts.possible.least = min(facts.possible.least or 0, 0)
        facts.possible.greatest = max(facts.possible.greatest or 0, 0)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind))


def _add_logged(facts: dict[str, ColumnFacts], rows: Any, kept: Any, column: str) -> None:
    leaf, certain = leaf_of(rows, column), leaf_of(kept, column)
    if leaf is not None and certain is not None:
        about = facts.setdefault(column, ColumnFacts())
        about.kind, about.is_repeated = leaf.values.type, leaf.is_repeated
        about.possible.add(leaf.values)
        about.certain.add(certain.values)
        if pa.types.is_map(leaf.values.type):  # 0.15 counts a map that it finds in a log as null (`canCompare`)
            about.uncounted_nulls += len(leaf.values) - leaf.values.null_count


@dataclass(frozen=True, slots=True)
class Leaf:
    """What lies at a path into a column, and whether it leads through lists or maps."""

    values: Any
    is_repeated: bool


def leaf_of(rows: Any, path: str) -> Leaf | None:
    """The values at a dotted path into structs, lists and maps, as Parquet names their parts; None if it has none."""
    name, *steps = path.split(".")
    if name not in rows.schema.names:
        return None
    values = _flat(rows.column(name))
    is_repeated = False
    while steps:
        kind = values.type
        in_list = next((len(step) for step in _LIST_STEPS if tuple(steps[: len(step)]) == step), 0)
        if pa.types.is_struct(kind) and kind.get_field_index(steps[0]) >= 0:
            values, steps = pc.struct_field(values, steps[0]), steps[1:]
        elif pa.types.is_list(kind) and in_list:
            values, steps, is_repeated = pc.list_flatten(values), steps[in_list:], True
        elif pa.types.is_map(kind) and tuple(steps[:2]) in _MAP_STEPS:
            values, steps, is_repeated = _MAP_STEPS[steps[0], steps[1]](values), steps[2:], True
        else:
            return None
    return Leaf(values, is_repeated)


def _flat(values: Any) -> Any:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _from_footer(
    chunks: Iterable[ColumnChunk], columns: Sequence[str]
) -> tuple[dict[str, str], dict[str, ColumnFacts]]:
    """The path in the file of each column that it has, and the facts that only the footer knows."""
    wanted = frozenset(columns)
    paths: dict[str, str] = {}
    facts: dict[str, ColumnFacts] = {}
    for chunk in chunks:
        column = _OLD_LIST.sub(".list.element", chunk.path)
        if column in wanted:
            paths[column] = chunk.path
            about = facts.setdefault(column, ColumnFacts())
            about.stored_bytes += chunk.stored_bytes
            about.raw_bytes += chunk.raw_bytes
            about.may_lack_bounds |= not chunk.has_bounds
            about.footer.values += chunk.values
            about.footer.nulls += chunk.values if chunk.nulls is None else chunk.nulls
            about.lacks_nulls |= chunk.nulls is None
    return paths, facts


def _footer_of(source: StoredFile, size_bytes: int) -> list[ColumnChunk]:
    source.seek(size_bytes - 8)
    length = int.from_bytes(source.read(4), "little")
    source.seek(size_bytes - 8 - length)
    return parse_column_chunks(source.read(length))
