"""Which columns a request adds to `column_stats` that is complete: nothing else of it is made anew.

A column is added if the definition does not name it, or names it and files lack their entry: a writer of Hudi's that is
told to index one more column names it at its next commit, and has entries of what it writes from then on only.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from hudi_engine.action.coverage import Base
from hudi_engine.action.keep_files import FileIndexKeeping, committed_files
from hudi_engine.action.keeping import Question
from hudi_engine.action.plans import ADDS, COLUMNS, PlannedIndex
from hudi_engine.action.reading import read
from hudi_engine.index.definitions import FIRST_WITH_DEFINITIONS
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable

ADDED_TO: Final = IndexKind.COLUMN_STATS.value
_FILES_AT_ONCE: Final = 2_000


def lacks_entries(metadata: MetadataTable, asked: Sequence[str]) -> bool:
    """Whether files lack entries of these columns: of those that are defined, by the index and such files' footers."""
    keeping = _keeping(metadata, asked)
    if keeping is None:
        return False
    if plan_addition(metadata, asked) is not None:
        return True
    nothing_held = Base(ADDED_TO, "", "", "", 0, "", "", frozenset())
    reading = read(metadata, nothing_held, is_complete=True)
    return any(keeping.derive(reading, question).count for question in of_all_files(metadata))


def plan_addition(metadata: MetadataTable, asked: Sequence[str], *, is_lacking: bool = False) -> PlannedIndex | None:
    """The index with the columns asked for beside its own; None if it has them, or is none that can be added to.

    `is_lacking` says that entries of columns which are defined are known to be missing.
    """
    keeping = _keeping(metadata, asked)
    if keeping is None:
        return None
    columns = keeping.columns_of(metadata)
    new = [column for column in columns if column not in metadata.definitions[ADDED_TO].source_fields]
    if not new and not is_lacking:
        return None
    return PlannedIndex(ADDED_TO, "", {COLUMNS: ",".join(columns), ADDS: ",".join(new)})


def of_all_files(metadata: MetadataTable) -> Iterator[Question]:
    """About all committed files, as if one commit before all that are left had written them, some at a time."""
    view = metadata.data.view(metadata.data_timeline)
    files = sorted((file.partition, file.stat.name) for file in committed_files(metadata, view))
    first = min((write.requested_at for write in metadata.data_timeline.writes()), default="")
    for at in range(0, len(files), _FILES_AT_ONCE):
        yield Question(first, frozenset(), written=frozenset(files[at : at + _FILES_AT_ONCE]))


def _keeping(metadata: MetadataTable, asked: Sequence[str]) -> FileIndexKeeping | None:
    """None without a definition, as before version 8: then nobody knows which columns it has."""
    config, defined = metadata.data.config, metadata.definitions.get(ADDED_TO)
    known = () if defined is None or config.version < FIRST_WITH_DEFINITIONS else defined.source_fields
    if not asked or not known or ADDED_TO not in config.readable_indexes:
        return None
    columns = tuple(dict.fromkeys((*known, *asked)))
    return FileIndexKeeping(IndexKind.COLUMN_STATS, {}, columns, is_addition=True)
