"""The bloom filter of a base file, read from its footer alone."""

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format.bloom import require_bloom_filter
from hudi_engine.format.bloom_footer import StoredFilter, filter_in_footer
from hudi_engine.format.parquet_file import open_parquet
from hudi_engine.storage.file_object import StoredFile
from hudi_engine.storage.protocol import FileStat, Storage


def read_bloom_filter(storage: Storage, stat: FileStat) -> StoredFilter | None:
    """The filter as the file has it; None of a file without one, which gets no entry, as with Java.

    A filter that cannot be read is refused: copied, it would hide from every look-up what its file holds.
    """
    if not stat.name.endswith(".parquet"):
        raise Unsupported(
            f"{stat.path}: bloom filters are read from Parquet files only. Leave the index bloom_filters out."
        )
    try:
        found = filter_in_footer(open_parquet(StoredFile(storage, stat.path, stat.size_bytes)).metadata.metadata or {})
        if found is not None:
            require_bloom_filter(found.text, found.type_code)
    except CorruptFile as corrupt:
        raise corrupt.in_file(stat.path) from corrupt
    except Unsupported as unknown:
        raise Unsupported(
            f"{stat.path}: {unknown}. Let Hudi rewrite the file by clustering, or leave the index bloom_filters out."
        ) from unknown
    return found
