"""Which check an index gets, and what became of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from hudi_engine.errors import Contradiction, CorruptFile, NotFound, Unsupported
from hudi_engine.index.kinds import IndexKind, kind_of
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.validate.bloom_filters import check_bloom_filters
from hudi_engine.validate.column_stats import check_column_stats
from hudi_engine.validate.data_rows import reader_of, require_record_keys
from hudi_engine.validate.files import check_files
from hudi_engine.validate.partition_stats import check_partition_stats
from hudi_engine.validate.record_index import check_record_index
from hudi_engine.validate.report import Discrepancy, DuplicateKey
from hudi_engine.validate.secondary_index import check_secondary_index
from hudi_engine.validate.secondary_values import column_of
from hudi_engine.validate.subject import Subject
from hudi_engine.validate.watch import Watch

_Check = Callable[[Subject, str], Iterator[Discrepancy | DuplicateKey]]

# From what all readers need to what few do.
_CHECKS: Final[Mapping[IndexKind, _Check]] = {
    IndexKind.FILES: lambda subject, _: check_files(subject),
    IndexKind.RECORD_INDEX: lambda subject, _: check_record_index(subject),
    IndexKind.SECONDARY_INDEX: check_secondary_index,
    IndexKind.COLUMN_STATS: lambda subject, _: check_column_stats(subject),
    IndexKind.PARTITION_STATS: lambda subject, _: check_partition_stats(subject),
    IndexKind.BLOOM_FILTERS: lambda subject, _: check_bloom_filters(subject),
}

# What has to be understood of a table before an index of the kind can be compared at all.
_PREPARATIONS: Final[Mapping[IndexKind, Callable[[Subject, str], object]]] = {
    IndexKind.BLOOM_FILTERS: require_record_keys,
    IndexKind.RECORD_INDEX: lambda subject, name: reader_of(subject, (), name),
    IndexKind.SECONDARY_INDEX: lambda subject, name: reader_of(
        subject, (column_of(subject, subject.metadata.index(name)).top,), name
    ),
}


class Status(StrEnum):
    OK = "ok"
    FAILED = "failed"  # index and data disagree
    UNREADABLE = "unreadable"  # one of them cannot be read, so that nobody can say
    SKIPPED = "skipped"  # not looked at


@dataclass(frozen=True, slots=True)
class Planned:
    """An index of the table. `why_not` says why it cannot be validated; empty if it can."""

    index: str
    kind: IndexKind | None
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one index. `looked_at` counts the rows of the data and the entries of the index.

    `duplicates` counts record keys that have several rows and not as many entries.
    """

    planned: Planned
    status: Status
    reason: str = ""
    looked_at: int = 0
    discrepancies: int = 0
    seconds: float = 0.0
    duplicates: int = 0

    @property
    def is_bad(self) -> bool:
        return self.status in {Status.FAILED, Status.UNREADABLE}


def plan_checks(metadata: MetadataTable, wanted: Sequence[str]) -> tuple[Planned, ...]:
    """The indexes that the wanted names and kinds stand for, or all of the table: those that cannot be validated, too.

    What is asked for by name or kind and cannot be validated is refused instead.
    """
    config = metadata.data.config
    planned = [_planned(name) for name in config.readable_indexes]
    planned += [
        replace(_planned(name), why_not="in flight: it is being built, or its builder died")
        for name in config.inflight_indexes
        if name not in config.readable_indexes
    ]
    if not planned:
        raise NotFound(
            f"{metadata.data.storage.location}: hoodie.table.metadata.partitions lists no index, so there is nothing "
            "to validate, and readers use none. A Hudi writer with hoodie.metadata.enable=true makes them."
        )
    order = [*_CHECKS, *IndexKind, None]
    planned.sort(key=lambda one: (order.index(one.kind), one.index))
    if not wanted:
        return tuple(planned)
    chosen = [one for one in planned if one.index in wanted or one.kind in wanted]
    for name in wanted:
        if not any(name in {one.index, one.kind} for one in chosen):
            raise NotFound(
                f"{metadata.data.storage.location}: no index {name!r}; "
                f"there are: {', '.join(one.index for one in planned) or 'none'}."
            )
    for one in chosen:
        if one.why_not:
            _refuse(metadata, one)
    return tuple(chosen)


def run_check(subject: Subject, planned: Planned, tell: Callable[[Discrepancy], None]) -> Outcome:
    """Validates one index and tells each discrepancy as it is found.

    An index, or data, that cannot be read is an outcome and no error: others may still be fine. What says nothing of
    the table, as a store that does not answer, is raised. A table whose rows or values are beyond us may be sound.
    """
    if why_not := planned.why_not or _beyond_us(subject, planned):
        return Outcome(planned, Status.SKIPPED, why_not)
    assert planned.kind is not None  # else it says why not
    tally = _Tally(subject.watch)
    clock = subject.table.clock
    began_ms, found, duplicates, reason = clock.now_ms(), 0, 0, ""
    try:
        for each in _CHECKS[planned.kind](replace(subject, watch=tally), planned.index):
            if isinstance(each, DuplicateKey):
                duplicates += 1
                continue
            found += 1
            tell(each)
    except (CorruptFile, Contradiction, NotFound, Unsupported) as unreadable:
        reason = str(unreadable)
    status = Status.UNREADABLE if reason else Status.FAILED if found else Status.OK
    return Outcome(planned, status, reason, tally.count, found, (clock.now_ms() - began_ms) / 1000, duplicates)


@dataclass(slots=True)
class _Tally:
    """A watch that counts, too."""

    watch: Watch
    count: int = 0

    def advance(self, count: int) -> None:
        self.count += count
        self.watch.advance(count)


def _planned(name: str) -> Planned:
    try:
        kind = kind_of(name)
    except Unsupported as unknown:
        return Planned(name, None, f"not checked: {unknown}")
    return Planned(name, kind, "" if kind in _CHECKS else f"not checked: there is no check for the kind {kind} yet")


def _beyond_us(subject: Subject, planned: Planned) -> str:
    prepare = None if planned.kind is None else _PREPARATIONS.get(planned.kind)
    try:
        if prepare is not None:
            prepare(subject, planned.index)
    except Unsupported as beyond:
        return f"not checked: {beyond}"
    except (CorruptFile, Contradiction, NotFound):
        pass  # The check meets it again, and it counts against the index.
    return ""


def _refuse(metadata: MetadataTable, planned: Planned) -> None:
    if planned.index in metadata.data.config.inflight_indexes:
        metadata.index(planned.index)  # which says what to do about it
    raise Unsupported(f"{metadata.data.storage.location}: {planned.index}: {planned.why_not}. Leave this index out.")
