"""Rows outside of a sample: the entry of a key with several rows may lead to one of these, and be right."""

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.table.conform import RECORD_KEY
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.snapshot import RowReader
from hudi_engine.validate.data_rows import pieces_of
from hudi_engine.validate.meeting import Dispute, Row
from hudi_engine.validate.report import place_of
from hudi_engine.validate.subject import Subject


def with_rows_outside(subject: Subject, reader: RowReader, disputes: Iterable[Dispute]) -> Iterator[Dispute]:
    """The disputes, with the rows that file groups outside of the sample have where entries lead there.

    All disputes of a part are in memory then, as the part was.
    """
    if not subject.is_sample:
        yield from disputes
        return
    gathered = list(disputes)
    outside = _led_to(subject, gathered)
    known = {place: frozenset(_keys(reader, found, outside[place])) for place, found in _slices(subject, outside)}
    for dispute in gathered:
        places = dict.fromkeys(entry.place for entry in dispute.entries if dispute.key in known.get(entry.place, ()))
        yield dispute._replace(rows=[*dispute.rows, *(_row(dispute, place) for place in places)])


def _led_to(subject: Subject, disputes: Iterable[Dispute]) -> Mapping[str, list[str]]:
    """By file groups outside of the sample the keys that have a row within it and an entry for there."""
    inside = {place_of(found.partition, found.file_id) for found in subject.slices}
    keys: dict[str, list[str]] = {}
    for dispute in disputes:
        for place in {entry.place for entry in dispute.entries if dispute.rows} - inside:
            keys.setdefault(place, []).append(dispute.key)
    return keys


def _slices(subject: Subject, wanted: Mapping[str, object]) -> Iterator[tuple[str, FileSlice]]:
    for found in subject.snapshot.slices:
        if (place := place_of(found.partition, found.file_id)) in wanted:
            yield place, found


def _keys(reader: RowReader, found: FileSlice, wanted: list[str]) -> Iterator[str]:
    """The keys that rows of this file group have."""
    value_set = pa.array(wanted, pa.string())
    for batch in pieces_of(reader, found):
        keys = batch.column(RECORD_KEY)
        yield from keys.filter(pc.is_in(keys, value_set)).to_pylist()


def _row(dispute: Dispute, place: str) -> Row:
    entry = next(entry for entry in dispute.entries if entry.place == place)
    return entry._replace(is_entry=False, flaw=None)
