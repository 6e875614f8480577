"""What a table's own writers must have set, as properties: docs/writers.md of one table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from hudi_engine.contract import IndexState, TableSeen, TableUnseen
from hudi_operator.orders.conf import lock_properties
from hudi_operator.resources.model import ConcurrencyMode, FileSystemLock, HudiTable, IndexType, MetadataIndex

FILE_NAME = "writer.properties"

_HEAD = """\
# What every writer of {name} needs, services and backfills included, beside what it has.
# Table: {path}
"""
_NO_LOCK = """\
# concurrency.mode is SingleWriter: no writer may run while an index is built or dropped, and none needs a lock.
"""
_FILE_LOCK = """\
# A writer that finds this lock taken asks again only after 5 seconds unless told otherwise, however short it was taken.
hoodie.write.lock.client.wait_time_ms_between_retry=200
hoodie.write.lock.client.num_retries=1250
"""
_BEFORE_10 = """\
# Hudi {releases}: a writer without these deletes an index, and nothing keeps it from that.
"""
_SINCE_11 = """\
# Hudi 1.1 and 1.2: a writer without these deletes an index.
"""
_ASYNC = """\
# Without this a writer makes an index that is not complete by itself, and throws away what was built.
hoodie.metadata.index.async=true
"""
_STREAMING_OFF = """\
# While an index is built; afterwards streaming may be on again.
hoodie.metadata.streaming.write.enabled=false
"""
_STREAMING_ON = """\
# What is wanted is ready: streaming may be on again. Set it to false before a rebuild.
# hoodie.metadata.streaming.write.enabled=false
"""
_STREAMING_NEVER = """\
# While an index is built, and afterwards: with streaming on, Hudi 1.2 keeps up but the first of several secondary
# indexes of a merge-on-read table.
hoodie.metadata.streaming.write.enabled=false
"""
_KEEP = """\
# Since Hudi 1.2 this keeps every writer from deleting an index that it does not enable; earlier releases ignore it.
hoodie.metadata.auto.delete.partitions=false
"""

_RECORD_INDEX = {"hoodie.metadata.record.index.enable": "true"}
_BY_PARTITION = {"hoodie.metadata.record.level.index.enable": "true"}
_COLUMN_STATS = {"hoodie.metadata.index.column.stats.enable": "true"}
_ENABLE: Mapping[IndexType, Mapping[str, str]] = {
    IndexType.FILES: {},
    IndexType.COLUMN_STATS: _COLUMN_STATS,
    # Since 1.1 it goes by the property of column_stats alone.
    IndexType.PARTITION_STATS: _COLUMN_STATS | {"hoodie.metadata.index.partition.stats.enable": "true"},
    IndexType.BLOOM_FILTERS: {"hoodie.metadata.index.bloom.filter.enable": "true"},
    IndexType.RECORD_INDEX: _RECORD_INDEX,
    # Which columns is in the table's own definitions: with a column here a writer would make an index of it.
    IndexType.SECONDARY_INDEX: _RECORD_INDEX | {"hoodie.metadata.index.secondary.enable": "true"},
}
_COLUMN_LIST = "hoodie.metadata.index.column.stats.column.list"


def writer_properties(
    table: HudiTable, indexes: Iterable[MetadataIndex], seen: TableSeen | TableUnseen | None
) -> dict[str, str]:
    """The data of the ConfigMap `<table>-writer`: one file of properties, with the reason for each."""
    concurrency = table.concurrency
    parts = [_HEAD.format(name=table.meta.ref.name, path=table.base_path)]
    if concurrency.mode is ConcurrencyMode.SINGLE_WRITER:
        parts.append(_NO_LOCK)
    if concurrency.lock is not None:
        properties = {
            "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
            "hoodie.cleaner.policy.failed.writes": "LAZY",
            **lock_properties(concurrency),
        }
        is_of_files = isinstance(concurrency.lock, FileSystemLock)
        parts.append(_lines(properties) + (_FILE_LOCK if is_of_files else ""))
    version = seen.version if isinstance(seen, TableSeen) else None
    wanted = [
        index
        for index in sorted(indexes, key=lambda index: index.meta.ref)
        if index.index_type is not IndexType.FILES and (version or 9) >= index.index_type.oldest_table_version
    ]
    if wanted:
        parts.extend(_of_indexes(wanted, seen, version))
    return {FILE_NAME: "\n".join(parts)}


def _of_indexes(
    wanted: Sequence[MetadataIndex], seen: TableSeen | TableUnseen | None, version: int | None
) -> Iterator[str]:
    """By the releases that write tables of this version: 6 by 0.14 and 0.15, 8 by 1.0 and later, 9 by 1.1 and later.

    Versions 6 and 8 are also written by later releases than those whose own they are.
    """
    is_old = version is None or version < 9
    head = _BEFORE_10.format(releases=_releases(version)) if is_old else _SINCE_11
    yield head + _lines(_enabling(wanted))
    yield _ASYNC
    if version != 6:
        yield _streaming(wanted, seen)
        yield _KEEP


def _enabling(wanted: Sequence[MetadataIndex]) -> dict[str, str]:
    properties: dict[str, str] = {}
    for index in wanted:
        properties |= _BY_PARTITION if index.is_partitioned else _ENABLE[index.index_type]
        if index.index_type is IndexType.COLUMN_STATS and index.columns:
            properties[_COLUMN_LIST] = ",".join(index.columns)
    return properties


def _streaming(wanted: Sequence[MetadataIndex], seen: TableSeen | TableUnseen | None) -> str:
    if len({index.engine_name for index in wanted if index.index_type is IndexType.SECONDARY_INDEX}) > 1:
        return _STREAMING_NEVER
    indexes = seen.indexes if isinstance(seen, TableSeen) else ()
    complete = {index.name for index in indexes if index.state is IndexState.COMPLETE}
    return _STREAMING_ON if complete.issuperset(index.engine_name for index in wanted) else _STREAMING_OFF


def _releases(version: int | None) -> str:
    if version is None:
        return "0.15 and 1.0, and later releases"
    return "0.14 and 0.15" if version < 8 else "1.0 and later"


def _lines(properties: Mapping[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in properties.items())
