"""Where record keys live: what a user asks of a record index."""

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import Unsupported
from hudi_engine.index.index import Index
from hudi_engine.table.zone import at_time

LOCATIONS = pa.schema(
    [
        ("key", pa.large_string()),
        ("found", pa.bool_()),
        ("partition", pa.large_string()),
        ("file_id", pa.large_string()),
        ("instant", pa.string()),
    ]
)
"""What a look-up says of each key. `instant` is that of the commit which put the key into its file group."""

_FOUND = pa.scalar(True)  # made once: to make one takes longer than to look for a key


@dataclass(frozen=True, slots=True)
class RecordIndex:
    """A record index, of the whole table or kept per partition. Instants are told in the table's `zone`."""

    index: Index
    zone: ZoneInfo

    @property
    def is_partitioned(self) -> bool:
        return None not in self.index.groups

    def locate(self, keys: pa.Array | Sequence[str], partition: str | None = None) -> pa.Table:
        """For each key, in the order given, where its record is or that there is none, by the schema LOCATIONS.

        An index that is kept per partition may know a key in several: it then has a row for each, unless one
        `partition` is asked for.
        """
        asked = _texts(keys)
        found = self.index.find(asked, partition)
        if partition is not None:
            found = found.filter(pc.equal(found["partition"], partition))
        if self.is_partitioned and len(pc.unique(found["key"])) < len(found):
            return _in_order_of(asked, self._locations(found))
        rows = self._locations(found).take(pc.index_in(asked, value_set=found["key"]))
        return rows.set_column(0, "key", asked).set_column(1, "found", pc.is_valid(rows["file_id"]))

    def _locations(self, rows: pa.Table) -> pa.Table:
        """Rows of the index as rows of LOCATIONS."""
        instants = pc.dictionary_encode(rows["instant_ms"]).combine_chunks()
        named = pa.array([at_time(moment, self.zone) for moment in instants.dictionary.to_pylist()], pa.string())
        columns = [rows["key"], pa.repeat(_FOUND, len(rows)), rows["partition"], rows["file_id"]]
        return pa.table([*columns, named.take(instants.indices)], names=LOCATIONS.names).cast(LOCATIONS)


def _in_order_of(asked: pa.Array, locations: pa.Table) -> pa.Table:
    """Each key's rows where the key was asked for; a row that says so for one that has none."""
    places = pa.table({"key": asked, "place": pa.array(range(len(asked)), pa.int64())})
    rows = places.join(locations, "key").sort_by([("place", "ascending"), ("partition", "ascending")])
    return rows.set_column(rows.schema.get_field_index("found"), "found", pc.is_valid(rows["file_id"])).select(
        LOCATIONS.names
    )


def _texts(keys: pa.Array | Sequence[str]) -> pa.Array:
    """Keys as Arrow holds them; a null, or half of a surrogate pair, is nobody's record key."""
    try:
        asked = keys if isinstance(keys, pa.Array | pa.ChunkedArray) else pa.array(keys, pa.large_string())
        asked = pc.cast(asked, pa.large_string())
    except (UnicodeEncodeError, pa.ArrowException) as broken:
        raise Unsupported(f"a record key that is no text: {broken}") from broken
    asked = asked.combine_chunks() if isinstance(asked, pa.ChunkedArray) else asked
    if asked.null_count:
        raise Unsupported(f"{asked.null_count} of {len(asked)} record keys are null: no record has such a key")
    return asked
