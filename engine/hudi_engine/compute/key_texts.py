"""Record keys in two texts. Of a single field Hudi's complex key generator makes `field:value` up to 0.14.0 and from
1.1 on, and `value` in the releases between.

An upsert by the one finds no row of the other, so that a table which both wrote has rows twice, under a key each.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import Contradiction, CorruptFile, NotFound
from hudi_engine.format.parquet_file import open_parquet
from hudi_engine.storage.file_object import StoredFile
from hudi_engine.table.config import TableConfig
from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.snapshot import RowReader
from hudi_engine.table.table import Table

_COMPLEX: Final = {
    "hoodie.table.keygenerator.type": ("COMPLEX", "COMPLEX_AVRO"),
    "hoodie.table.keygenerator.class": (
        "org.apache.hudi.keygen.ComplexKeyGenerator",
        "org.apache.hudi.keygen.ComplexAvroKeyGenerator",
    ),
}
_LOWEST: Final = b"hoodie_min_record_key"
_HIGHEST: Final = b"hoodie_max_record_key"
# So many footers are read at most, and of so many files keys.
_FOOTERS: Final = 512
_FILES: Final = 16
_READERS: Final = 16
_Item = TypeVar("_Item")


class _Bounds(NamedTuple):
    """The lowest and the highest key of a base file."""

    where: FileSlice
    lowest: str
    highest: str


def refuse_mixed_keys(table: Table) -> None:
    """Raise if base files have keys of both texts. Only tables that may have both are looked into, and only a sample:
    footers of some hundred file groups, the oldest to the newest, and the keys of a few where footers leave it open.
    """
    if not table.config.has_meta_columns or not _may_have_both(table.config):
        return
    (field,) = table.config.record_key_fields
    snapshot = table.snapshot()
    with_base = [found for found in snapshot.slices if found.base_file is not None]
    if not with_base:
        return
    sample = _Sample(table.rows(snapshot), field)
    named = None
    bounds = sample.bounds(_spread(sorted(with_base, key=lambda found: found.base_instant), _FOOTERS))
    bare = next(((key, each.where) for each in bounds for key in each[1:] if not key.startswith(sample.prefix)), None)
    if bare is not None:
        named = sample.named_key(each.where for each in _spread(sample.open(bounds), _FILES))
    if bare is not None and named is not None:
        raise Contradiction(
            f"{table.storage.location}: record keys of the field {field} are there in two texts: {_told(named)} and "
            f"{_told(bare)}. Hudi's complex key generator writes `field:value` up to 0.14.0 and from 1.1 on, `value` "
            f"from 0.14.1 to 1.0.2, and neither finds rows of the other, so that one {field} may have "
            "two rows, and an index would keep both. Write the table anew by one release (all rows read by Spark, the "
            f"older ones of each {field} left out, then bulk_insert), and index that."
        )


def _may_have_both(config: TableConfig) -> bool:
    """As Java judges it: the type counts where it is given, else the class."""
    name = next((name for name in _COMPLEX if config.properties.get(name)), None)
    return name is not None and config.properties[name] in _COMPLEX[name] and len(config.record_key_fields) == 1


@dataclass(frozen=True, slots=True)
class _Sample:
    """A look at base files alone. Keys that begin with the field's name are `named`, others `bare`."""

    reader: RowReader
    field: str

    @property
    def prefix(self) -> str:
        return f"{self.field}:"

    def bounds(self, slices: Sequence[FileSlice]) -> list[_Bounds]:
        with ThreadPoolExecutor(_READERS) as pool:
            return [each for each in pool.map(self._bounds_of, slices) if each is not None]

    def open(self, bounds: Iterable[_Bounds]) -> list[_Bounds]:
        """Those whose bounds let in named keys."""
        return [each for each in bounds if each.lowest[: len(self.prefix)] <= self.prefix <= each.highest]

    def named_key(self, slices: Iterable[FileSlice]) -> tuple[str, FileSlice] | None:
        """A key that is named beyond doubt: a bare one may begin so, too, as its row's field then does."""
        texts = self._texts()
        for found in slices:
            with suppress(NotFound):  # cleaned since it was listed
                for rows in self._rows(found, [RECORD_KEY, *texts]):
                    named = rows.filter(pc.starts_with(rows[RECORD_KEY], self.prefix))
                    for name in texts:
                        named = named.filter(pc.not_equal(named[RECORD_KEY], named[name]))
                    if len(named):
                        return str(named[RECORD_KEY][0]), found
        return None

    def _texts(self) -> tuple[str, ...]:
        """The field, if its values are texts: others never begin with a name."""
        whole = self.reader.whole
        is_text = self.field in whole.names and pa.types.is_string(whole.field(self.field).type)
        return (self.field,) if is_text else ()

    def _bounds_of(self, found: FileSlice) -> _Bounds | None:
        """By the footer, else by the first rows; None for a file that is empty, or cleaned since it was listed."""
        assert found.base_file is not None
        stat = found.base_file.stat
        try:
            about = open_parquet(StoredFile(self.reader.storage, stat.path, stat.size_bytes)).metadata.metadata or {}
            if _LOWEST in about and _HIGHEST in about:
                return _Bounds(found, *(about[name].decode(errors="replace") for name in (_LOWEST, _HIGHEST)))
            first = next((rows for rows in self._rows(found, [RECORD_KEY]) if len(rows)), None)
        except NotFound:
            return None
        except CorruptFile as corrupt:
            raise corrupt.in_file(stat.path) from corrupt
        return None if first is None else _Bounds(found, *pc.min_max(first[RECORD_KEY]).as_py().values())

    def _rows(self, found: FileSlice, columns: Sequence[str]) -> Iterable[pa.Table]:
        reader = replace(self.reader, schema=pa.schema([self.reader.whole.field(name) for name in columns]))
        return reader.rows_of(replace(found, log_files=()))


def _spread(items: Sequence[_Item], count: int) -> Sequence[_Item]:
    """At most so many of them, in equal steps."""
    return items[:: max(1, -(-len(items) // count))]


def _told(found: tuple[str, FileSlice]) -> str:
    key, where = found
    assert where.base_file is not None
    return f"{key!r} in {where.base_file.stat.path}"
