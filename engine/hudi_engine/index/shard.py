"""One shard of an index: its base HFile and its logs, merged into typed rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import CorruptFile
from hudi_engine.format.hfile.read import ENTRIES
from hudi_engine.index.layers import Deleted, Layers, Written
from hudi_engine.index.logged_keys import Sought
from hudi_engine.index.payloads import Family
from hudi_engine.table.file_view import FileSlice

_ENTRIES_AT_ONCE = 1 << 14


@dataclass(frozen=True, slots=True)
class Shard:
    """Rows come in the family's schema; what was deleted does not come at all."""

    file_slice: FileSlice
    family: Family
    layers: Layers

    def find(self, keys: pa.Array) -> pa.Table:
        """The rows of these keys, large binaries that ascend and differ."""
        wanted, logged = Sought(keys), []
        for layer in reversed(list(self._logs())):
            if not len(wanted):
                break
            found = layer.find(wanted)
            logged.append((layer, found))
            if self.family.has_newest_only:
                wanted.drop(found["key"] if isinstance(layer, Written) else found)
        return self._merged(lambda base: base.find(wanted), reversed(logged))

    def find_prefixes(self, prefixes: pa.Array) -> pa.Table:
        """The rows whose key starts with one of these large binaries, which ascend and differ."""
        logged = ((layer, layer.find_prefixes(prefixes)) for layer in self._logs())
        return self._merged(lambda base: base.find_prefixes(prefixes), logged)

    def scan(self) -> Iterator[pa.Table]:
        """All rows, in pieces as the base file holds them, then those that only the logs have.

        What the logs say is held in memory, the base is not.
        """
        yield from (living for rows in self._all_rows() if len(living := _living(rows)))

    def _all_rows(self) -> Iterator[pa.Table]:
        logged = self.family.merge([self._nothing(), *self._rows_of((layer, _all(layer)) for layer in self._logs())])
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

    def _merged(self, look: Callable[[Written], pa.Table], logged: "Iterable[_Found]") -> pa.Table:
        base = self._base()
        layers = [self._nothing() if base is None else self._rows([(base, look(base))]), *self._rows_of(logged)]
        return _living(self.family.merge(layers) if len(layers) > 1 else layers[0])

    def _rows_of(self, logged: "Iterable[_Found]") -> Iterator[pa.Table]:
        """The rows of what was found in logs, the oldest first.

        To decode a few entries takes as long as to decode a thousand. So neighbours are decoded together: to every
        family they are one layer as well as several.
        """
        run: list[_Entries] = []
        for layer, found in logged:
            if not len(found):
                continue
            if run and not _goes_with(layer, run):
                yield self._rows(run)
                run = []
            if isinstance(layer, Written):
                run.append((layer, found))
            else:
                yield self.family.deleted(found)
        if run:
            yield self._rows(run)

    def _logs(self) -> Iterator[Written | Deleted]:
        return self.layers.logged(self.file_slice.log_files)

    def _base_pieces(self) -> Iterator[pa.Table]:
        if (base := self._base()) is not None:
            for entries in base.entries.scan():
                if len(entries):
                    yield self._rows([(base, entries)])

    def _base(self) -> Written | None:
        file = self.file_slice.base_file
        return None if file is None else self.layers.base(file)

    def _rows(self, run: "Sequence[_Entries]") -> pa.Table:
        """The rows of entries that one schema wrote."""
        source, _ = run[0]
        entries = pa.concat_tables([found for _, found in run])
        if not len(entries):
            return self._nothing()
        try:
            # Decoding takes a batch at a time, and a look-up finds a few entries in each of many runs of blocks.
            return self.family.decode(entries.combine_chunks(), source.schema)
        except CorruptFile as corrupt:
            for each in run if len(run) > 1 else ():
                self._rows([each])  # which file it is shows if each is decoded alone
            raise corrupt.in_file(source.path) from corrupt

    def _nothing(self) -> pa.Table:
        return self.family.schema.empty_table()


_Entries = tuple[Written, pa.Table]
_Found = tuple[Written | Deleted, pa.Table | pa.Array]
"""A layer, and what of its entries, or of the keys that it deletes, is asked for."""


def _goes_with(layer: Written | Deleted, run: Sequence[_Entries]) -> bool:
    """Whether it may be decoded together with these: until then they are in memory as they are stored, too."""
    count = sum(len(found) for _, found in run)
    return isinstance(layer, Written) and layer.schema == run[0][0].schema and count < _ENTRIES_AT_ONCE


def _all(layer: Written | Deleted) -> pa.Table | pa.Array:
    if isinstance(layer, Deleted):
        return layer.keys
    return pa.concat_tables([ENTRIES.empty_table(), *layer.entries.scan()])


def _living(rows: pa.Table) -> pa.Table:
    return rows.filter(pc.invert(rows["is_deleted"]))
