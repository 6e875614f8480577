"""Entries of an index by file that are about nothing: no such file, or a shard where nobody looks for them."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.index import Index
from hudi_engine.index.keys import bloom_filter_key
from hudi_engine.validate.data_files import DataFiles
from hudi_engine.validate.report import Discrepancy, Fault
from hudi_engine.validate.subject import Subject

# What the keys of `column_stats` and `bloom_filters` end with: the ids of a partition and of a file in it.
_FILE_ID_LENGTH = 36


def scanned(subject: Subject, index: Index) -> Iterator[tuple[pa.Table, list[Discrepancy]]]:
    """All rows of an index that are where their keys are looked for, and what is to say of the others."""
    for shards in index.groups.values():
        for number, shard in enumerate(shards):
            for rows in shard.scan():
                subject.watch.advance(len(rows))
                is_stray = pa.array(shard_numbers(rows["key"], len(shards)) != number)
                strays = [
                    _stray(index, key, shard.file_slice.file_id) for key in rows["key"].filter(is_stray).to_pylist()
                ]
                yield rows.filter(pc.invert(is_stray)), strays


def _stray(index: Index, key: str, shard: str) -> Discrepancy:
    expected = "it in the shard of its key, where readers look for it"
    return Discrepancy(index.name, Fault.GHOST, key, shard, f"an entry in the shard {shard}", expected)


def known_file_ids(files: DataFiles) -> pa.Array:
    """The ends of keys that an entry may have: those of files that are there, or that a clean in flight removes.

    Files of commits that failed are among them: after a restore Hudi indexes all files that lie there
    (`convertToColumnStatsRecord`).
    """
    listed = (
        bloom_filter_key(partition, file.stat.name) for partition in files.listings for file in files.of(partition)
    )
    doomed = (bloom_filter_key(partition, name) for partition, name in files.doomed)
    return pa.array([*listed, *doomed], pa.large_string())


def is_of_known_file(rows: pa.Table, known: pa.Array) -> pa.ChunkedArray:
    """Which rows of `column_stats` or `bloom_filters` are about one of these files."""
    return pc.is_in(pc.utf8_slice_codeunits(rows["key"], -_FILE_ID_LENGTH), known)
