"""What a table's own writers must have set, as properties: docs/writers.md of one table."""

from collections.abc import Iterable

from hudi_engine.contract import IndexState, TableSeen, TableUnseen
from hudi_operator.orders.conf import lock_properties
from hudi_operator.resources.model import ConcurrencyMode, HudiTable, IndexType, MetadataIndex

FILE_NAME = "writer.properties"

_HEAD = """\
# What every writer of {name} needs, services and backfills included, beside what it has.
# Table: {path}
"""
_NO_LOCK = """\
# concurrency.mode is SingleWriter: no writer may run while an index is built or dropped, and none needs a lock.
"""
_BEFORE_10 = """\
# Hudi {releases}: a writer without these deletes the index, and nothing keeps it from that.
hoodie.metadata.record.index.enable=true
hoodie.metadata.index.async=true
"""
_SINCE_11 = """\
# Hudi 1.1 and 1.2: a writer without the first two deletes the index.
hoodie.metadata.record.index.enable=true
hoodie.metadata.index.async=true
"""
_STREAMING_OFF = """\
# While the index is built; afterwards streaming may be on again.
hoodie.metadata.streaming.write.enabled=false
"""
_STREAMING_ON = """\
# The index is ready: streaming may be on again. Set it to false before a rebuild.
# hoodie.metadata.streaming.write.enabled=false
"""
_KEEP = """\
# Since Hudi 1.2 this keeps every writer from deleting an index that it does not enable; earlier releases ignore it.
hoodie.metadata.auto.delete.partitions=false
"""


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
        parts.append("".join(f"{key}={value}\n" for key, value in properties.items()))
    if any(index.index_type is IndexType.RECORD_INDEX for index in indexes):
        parts.extend(_of_record_index(seen))
    return {FILE_NAME: "\n".join(parts)}


def _of_record_index(seen: TableSeen | TableUnseen | None) -> Iterable[str]:
    """By the releases that write tables of this version: 6 by 0.14 and 0.15, 8 by 1.0 and later, 9 by 1.1 and later.

    Versions 6 and 8 are also written by later releases than those whose own they are.
    """
    version = seen.version if isinstance(seen, TableSeen) else None
    is_ready = isinstance(seen, TableSeen) and any(
        index.name == IndexType.RECORD_INDEX.engine_kind and index.state is IndexState.COMPLETE
        for index in seen.indexes
    )
    if version is None or version < 9:
        yield _BEFORE_10.format(releases="0.15 and 1.0, and later releases" if version is None else _releases(version))
    else:
        yield _SINCE_11
    if version != 6:
        yield _STREAMING_ON if is_ready else _STREAMING_OFF
        yield _KEEP


def _releases(version: int) -> str:
    return "0.14 and 0.15" if version < 8 else "1.0 and later"
