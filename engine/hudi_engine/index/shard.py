"""One shard of an index: its base HFile and its logs, merged into typed rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile
from hudi_engine.format.hfile.find import begin_with_any, prefixes_of
from hudi_engine.format.hfile.read import ENTRIES
from hudi_engine.index.layers import Deleted, Layers, Written
from hudi_engine.index.payloads import Family
from hudi_engine.index.stored_hfile import StoredHFile
from hudi_engine.table.file_view import FileSlice


@dataclass(frozen=True, slots=True)
class Shard:
    """Rows come in the family's schema; what was deleted does not come at all."""

    file_slice: FileSlice
    family: Family
    layers: Layers

    def find(self, keys: pa.Array) -> pa.Table:
        """The rows of these keys, large binaries that ascend and differ."""
        return self._merged(lambda hfile: hfile.find(keys), lambda deleted: pc.is_in(deleted, keys))

    def find_prefixes(self, prefixes: pa.Array) -> pa.Table:
        """The rows whose key starts with one of these large binaries, which ascend and differ."""
        sought = prefixes_of(prefixes.to_pylist())
        return self._merged(
            lambda hfile: hfile.find_prefixes(prefixes),
            lambda deleted: begin_with_any(pc.cast(deleted, pa.large_binary()), sought),
        )

    def scan(self) -> Iterator[pa.Table]:
        """All rows, in pieces as the base file holds them, then those that only the logs have.

        What the logs say is held in memory, the base is not.
        """
        yield from (living for rows in self._all_rows() if len(living := _living(rows)))

    def _all_rows(self) -> Iterator[pa.Table]:
        logged = self.family.merge([self._nothing(), *self._log_layers(_all_entries, _all_keys)])
        is_met = np.zeros(len(logged), bool)
        for rows in self._base_pieces():
            yield self._over(rows, logged, is_met) if len(logged) else rows
        yield logged.filter(pa.array(~is_met))

    def _over(self, rows: pa.Table, logged: pa.Table, is_met: np.ndarray) -> pa.Table:
        """The rows with what the logs say of them; `is_met` learns which logged rows that was.

        Rows need not be in order: 0.15 sorted some keys otherwise. So nothing but being among them counts.
        """
        least, most = pc.min_max(rows["key"]).values()
        near = np.flatnonzero(pc.and_(pc.greater_equal(logged["key"], least), pc.less_equal(logged["key"], most)))
        if not len(near):
            return rows
        changes = logged.take(pa.array(near))
        touched = pc.is_in(rows["key"], changes["key"])
        changing = pc.is_in(changes["key"], rows.filter(touched)["key"])
        is_met[near[changing.to_numpy(zero_copy_only=False)]] = True
        merged = self.family.merge([rows.filter(touched), changes.filter(changing)])
        return pa.concat_tables([rows.filter(pc.invert(touched)), merged])

    def _merged(self, look: "_Look", concerns: Callable[[pa.Array], pa.Array]) -> pa.Table:
        base = self._base()
        layers = [self._nothing() if base is None else self._rows(base, look(base.entries))]
        layers += self._log_layers(look, lambda deleted: deleted.filter(concerns(deleted)))
        return _living(self.family.merge(layers) if len(layers) > 1 else layers[0])

    def _log_layers(self, look: "_Look", chosen: Callable[[pa.Array], pa.Array]) -> Iterator[pa.Table]:
        for layer in self.layers.logged(self.file_slice.log_files):
            match layer:
                case Deleted(keys):
                    rows = self.family.deleted(chosen(keys)) if len(keys) else self._nothing()
                case Written(entries):
                    rows = self._rows(layer, look(entries))
            if len(rows):
                yield rows

    def _base_pieces(self) -> Iterator[pa.Table]:
        if (base := self._base()) is not None:
            for entries in base.entries.scan():
                if len(entries):
                    yield self._rows(base, entries)

    def _base(self) -> Written | None:
        file = self.file_slice.base_file
        return None if file is None else self.layers.base(file)

    def _rows(self, source: Written, entries: pa.Table) -> pa.Table:
        if not len(entries):
            return self._nothing()
        try:
            # Decoding takes a batch at a time, and a look-up finds a few entries in each of many runs of blocks.
            return self.family.decode(entries.combine_chunks(), source.schema)
        except CorruptFile as corrupt:
            raise corrupt.in_file(source.path) from corrupt

    def _nothing(self) -> pa.Table:
        return self.family.schema.empty_table()


_Look = Callable[[StoredHFile], pa.Table]


def _all_entries(hfile: StoredHFile) -> pa.Table:
    return pa.concat_tables([ENTRIES.empty_table(), *hfile.scan()])


def _all_keys(keys: pa.Array) -> pa.Array:
    return keys


def _living(rows: pa.Table) -> pa.Table:
    return rows.filter(pc.invert(rows["is_deleted"]))
