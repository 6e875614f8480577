"""What an index lacks of commits that left it out: derived from the data as it is now, never replayed.

Whatever a commit did may have been overtaken since by one that the index does hold. So what counts is which keys the
current slices of the file groups have that it touched.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.action.keeping import Question
from hudi_engine.action.newest import newest_of_each, rows_elsewhere, rows_with
from hudi_engine.action.reading import Group, Reading, ShardState
from hudi_engine.compute.keys import keys_of
from hudi_engine.errors import Contradiction
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.file_view import FileSlice
from hudi_engine.table.zone import to_ms

_KEY: Final = pa.field("key", pa.large_binary())
PUTS: Final = pa.schema([_KEY, ("partition", pa.string()), ("file_id", pa.string()), ("instant_ms", pa.int64())])
DELETES: Final = pa.schema([_KEY, ("partition", pa.string())])
_EXAMPLES: Final = 5
_NO_KEYS: Final = pa.array([], pa.large_binary())


@dataclass(frozen=True, slots=True)
class Changes:
    """What makes the index right about some file groups.

    `puts` are by the schema PUTS, `deletes` by DELETES: of an index by partition the one that the entry is kept for.
    No entry is in both. They are right as long as `slices`, the current slices of all file groups that were looked
    at, and `seen`, the rows that the index had for these keys, are what they were; `seen` is for sure as long as the
    files of the index are, as `shards` has them. `looked_at` counts rows of data.
    """

    puts: pa.Table
    deletes: pa.Table
    seen: pa.Table
    slices: Mapping[Group, FileSlice | None]
    shards: Mapping[str, ShardState]
    looked_at: int

    @property
    def count(self) -> int:
        return len(self.puts) + len(self.deletes)


def touched(commits: Iterable[CommitMetadata]) -> frozenset[Group]:
    """The file groups that these commits wrote to or replaced."""
    found: set[Group] = set()
    for commit in commits:
        found |= {(stat.partition, stat.file_id) for stat in commit.stats if stat.file_id}
        found |= {(partition, file_id) for partition, ids in commit.replaced.items() for file_id in ids}
    return frozenset(found)


def written(commit: CommitMetadata) -> frozenset[tuple[str, str]]:
    """The files, by partition and name, that this commit made or added to."""
    return frozenset((stat.partition, stat.path.rpartition("/")[2]) for stat in commit.stats if stat.path)


def deleted(commit: CommitMetadata) -> frozenset[tuple[str, str]]:
    """The files, by partition and name, that this clean took away."""
    return frozenset((partition, name) for partition, names in commit.cleaned.items() for name in names)


def derive(reading: Reading, question: Question, *, keeps_newest: bool = False) -> Changes:
    """What the index lacks, or has too much, of these file groups; one group's keys are in memory at a time.

    Of a key that has several rows where the index has room for one, the row that was written last counts if
    `keeps_newest`; else there is a `Contradiction` with examples.
    """
    groups = sorted(question.groups)
    found = _Found(reading, keeps_newest)
    scanned = _pointing_at(reading, [group for group in groups if reading.may_lack_files(group)])
    for group in groups:
        found.compare(group, question, scanned.get(group, _NO_KEYS))
    if keeps_newest:
        found.keep_newest(question)
    else:
        found.require_one_place()
    return found.changes()


@dataclass(slots=True)
class _Found:
    """What comes together while file groups are looked at one by one."""

    reading: Reading
    keeps_newest: bool
    puts: list[pa.Table] = field(default_factory=list)
    stale: list[pa.Table] = field(default_factory=list)
    seen: list[pa.Table] = field(default_factory=list)
    slices: dict[Group, FileSlice | None] = field(default_factory=dict)
    looked_at: int = 0

    def compare(self, group: Group, question: Question, scanned: pa.Array) -> None:
        """One file group's keys with what the index says of them."""
        current = self._keys_of(group)
        self.looked_at += len(current)
        if self.keeps_newest:
            current = pc.unique(current)
        else:
            _refuse_repeated(group, current)
        former = _minus(_union([*self._named_keys(group), scanned]), current)
        rows = rows_of(self.reading, group[0], _union([current, former]))
        here = rows.filter(_is_at(rows, group))["key"]
        lacking, stale = _minus(current, here), _common(former, here)
        if group in question.later and len(lacking) + len(stale):
            then = self._keys_at(group, question.instant)
            lacking, stale = _common(lacking, then), _minus(stale, then)
        if len(lacking):
            self.puts.append(self._located(lacking, group))
        if len(stale):
            self.stale.append(pa.table([stale, pa.repeat(group[0], len(stale))], schema=DELETES))
        changed = _union([lacking, stale])
        self.seen.append(rows.filter(pc.is_in(rows["key"], changed)))

    def require_one_place(self) -> None:
        """Refuse keys that have rows in several file groups; `compare` has been asked of all."""
        puts = self._all_puts()
        by_key = puts.group_by("key").aggregate([("file_id", "count"), ("partition", "count_distinct")])
        per = "partition_count_distinct" if self.reading.is_partitioned else None
        allowed = by_key[per] if per else pa.scalar(1, pa.int64())
        if len(twice := by_key.filter(pc.greater(by_key["file_id_count"], allowed))["key"]):
            raise self._duplicates(twice, puts)
        for group, keys in self._replaced_places(puts).items():
            if len(twice := _common(self._keys_of(group), keys)):
                raise self._duplicates(twice, pa.concat_tables([puts, self._located(twice, group)]))

    def keep_newest(self, question: Question) -> None:
        """Put each key at its newest row alone, also where a row that the index does not know remains of it."""
        puts, stale, seen = self._all_puts(), self._all_stale(), self._all_seen()
        groups = {*_groups_of(puts), *self._replaced_places(puts)}
        rows = self._before_later(rows_with(self.reading, groups, puts["key"]), seen, question)
        lost = stale.filter(pc.invert(pc.is_in(self._entry(stale), self._entry(puts))))
        rows = pa.concat_tables([rows, rows_elsewhere(self.reading, question.groups, lost)])
        newest = newest_of_each(rows, is_partitioned=self.reading.is_partitioned)
        lacking = newest.filter(pc.invert(pc.is_in(_place(newest), _place(seen))))
        for group in _groups_of(lacking):
            self.slices.setdefault(group, self.reading.slice_of(group))
        self.puts = [
            self._located(_one(lacking.filter(_is_at(lacking, group))["key"]), group) for group in _groups_of(lacking)
        ]

    def _before_later(self, rows: pa.Table, seen: pa.Table, question: Question) -> pa.Table:
        """The rows without those that a later commit wrote, where the index has another row of the key until then.

        The entry of the later commit has a higher instant than what is written for this one, and overrides it.
        """
        later = [pa.scalar(False), *(_is_at(rows, group) for group in question.later)]
        is_late = pc.greater(rows["written"], int(question.instant[:17].ljust(17, "0")))
        is_left = pc.and_(is_late, reduce(pc.or_, later))
        present = rows.filter(pc.is_in(_place(rows), _place(seen)))
        return rows.filter(pc.invert(pc.and_(is_left, pc.is_in(self._entry(rows), self._entry(present)))))

    def changes(self) -> Changes:
        puts, stale, seen = self._all_puts(), self._all_stale(), self._all_seen()
        # What has moved is stale where it was and put where it is; the new entry takes the place of the old.
        is_put = pc.is_in(self._entry(stale), self._entry(puts))
        deletes = stale.filter(pc.invert(is_put))
        changed = pa.chunked_array([*self._entry(puts).chunks, *self._entry(deletes).chunks], pa.large_binary())
        seen = seen.filter(pc.is_in(self._entry(seen), changed.combine_chunks()))
        return Changes(puts, deletes, seen, self.slices, self.reading.shard_states(), self.looked_at)

    def _keys_of(self, group: Group) -> pa.Array:
        found = self.slices.setdefault(group, self.reading.slice_of(group))
        return _NO_KEYS if found is None else flat(keys_of(self.reading.reader(), found))

    def _keys_at(self, group: Group, instant: str) -> pa.Array:
        found = self.reading.slice_at(group, instant)
        return _NO_KEYS if found is None else flat(keys_of(self.reading.reader(instant), found))

    def _named_keys(self, group: Group) -> list[pa.Array]:
        reader, now = self.reading.reader(), self.slices[group]
        slices = self.reading.slices_since_base(group)
        # Of a current slice that is but a base file the keys are known.
        former = [each for each in slices if now is None or each.log_files or each != now]
        return [pc.cast(keys, pa.large_binary()) for each in former for keys in reader.named_keys(each)]

    def _located(self, keys: pa.Array, group: Group) -> pa.Table:
        """Keys as the index should have them. The instant of a location is that of its slice, as Hudi's builders do."""
        found = self.slices[group]
        assert found is not None, f"{group} has keys and no slice"
        moment = to_ms(found.base_instant, self.reading.metadata.data.zone)
        if moment is None:
            raise Contradiction(
                f"{self.reading.metadata.data.storage.location}: the file group {found.file_id} in "
                f"{found.partition!r} has the instant {found.base_instant}, which is no time: no entry of a record "
                "index can name it. Let a Hudi writer rewrite this file group (clustering does)."
            )
        place = zip((*group, moment), list(PUTS)[1:], strict=True)
        values = [pa.repeat(pa.scalar(value, column.type), len(keys)) for value, column in place]
        return pa.table([keys, *values], schema=PUTS)

    def _all_puts(self) -> pa.Table:
        return pa.concat_tables([PUTS.empty_table(), *self.puts])

    def _all_stale(self) -> pa.Table:
        return pa.concat_tables([DELETES.empty_table(), *self.stale])

    def _all_seen(self) -> pa.Table:
        return pa.concat_tables([PUTS.empty_table(), *self.seen])

    def _replaced_places(self, puts: pa.Table) -> Mapping[Group, pa.Array]:
        """By file group the keys to be put elsewhere that the index has there."""
        seen = self._all_seen()
        replaced = seen.filter(pc.is_in(self._entry(seen), self._entry(puts)))
        return {group: _one(replaced.filter(_is_at(replaced, group))["key"]) for group in _groups_of(replaced)}

    def _entry(self, rows: pa.Table) -> pa.ChunkedArray:
        """What tells entries apart: their key and, of an index by partition, that."""
        if not self.reading.is_partitioned:
            return rows["key"]
        partition = pc.cast(rows["partition"], pa.large_binary())
        return pc.binary_join_element_wise(partition, rows["key"], pa.scalar(b"\0", pa.large_binary()))

    def _duplicates(self, keys: Any, rows: pa.Table) -> Contradiction:
        examples = pc.unique(keys).slice(0, _EXAMPLES)
        where = [
            f"{key.decode(errors='replace')!r} in {_places(rows.filter(pc.equal(rows['key'], key)))}"
            for key in examples.to_pylist()
        ]
        return Contradiction(
            f"{self.reading.metadata.data.storage.location}: {len(pc.unique(keys))} record keys have several rows, for "
            f"example {'; '.join(where)}. A record index has one place for each key. Remove the duplicates, or build "
            "an index by partition if keys are unique within a partition, or with --duplicates newest; what was begun "
            "is undone."
        )


def _groups_of(rows: pa.Table) -> list[Group]:
    places = rows.select(["partition", "file_id"]).group_by(["partition", "file_id"]).aggregate([])
    return sorted((place["partition"], place["file_id"]) for place in places.to_pylist())


def _place(rows: pa.Table) -> pa.ChunkedArray:
    """One text for each row, which differs for rows of one key in different file groups."""
    texts = [pc.cast(rows[name], pa.large_binary()) for name in ("partition", "file_id")]
    return pc.binary_join_element_wise(*texts, rows["key"], pa.scalar(b"\0", pa.large_binary()))


def _places(rows: pa.Table) -> str:
    return " and ".join(sorted({f"{row['partition']}/{row['file_id']}" for row in rows.to_pylist()}))


def _refuse_repeated(group: Group, keys: pa.Array) -> None:
    if pc.count_distinct(keys).as_py() == len(keys):
        return
    counted = keys.value_counts()
    twice = counted.filter(pc.greater(counted.field("counts"), 1)).field("values").slice(0, _EXAMPLES)
    named = ", ".join(repr(key.decode(errors="replace")) for key in twice.to_pylist())
    raise Contradiction(
        f"{group[0]}/{group[1]}: record keys with several rows in this file group, for example {named}. A record index "
        "has one place for each key. Remove the duplicates, or build with --duplicates newest; what was begun is "
        "undone."
    )


def rows_of(reading: Reading, partition: str, keys: pa.Array) -> pa.Table:
    """What the index has for these keys, by the schema PUTS; of an index by partition what it keeps for this one."""
    rows = reading.find(keys, partition)
    columns = [pc.cast(rows["key"], pa.large_binary()), *(rows[name] for name in PUTS.names[1:])]
    return pa.table(columns, schema=PUTS)


def _pointing_at(reading: Reading, groups: Sequence[Group]) -> Mapping[Group, pa.Array]:
    """The keys of all entries that lead to these file groups: a scan, for those whose former keys are not known."""
    if not groups:
        return {}
    file_ids = pa.array(sorted({file_id for _, file_id in groups}), pa.string())
    found: dict[Group, list[pa.Array]] = {group: [] for group in groups}
    for rows in reading.index.scan():
        near = rows.filter(pc.is_in(rows["file_id"], file_ids))
        for group in groups if len(near) else ():
            found[group].append(pc.cast(near.filter(_is_at(near, group))["key"], pa.large_binary()))
    return {group: _union(keys) for group, keys in found.items()}


def _is_at(rows: pa.Table, group: Group) -> pa.ChunkedArray:
    return pc.and_(pc.equal(rows["partition"], group[0]), pc.equal(rows["file_id"], group[1]))


def flat(pieces: Iterable[Any]) -> pa.Array:
    return pa.concat_arrays([_NO_KEYS, *pieces])


def _one(keys: pa.ChunkedArray | pa.Array) -> pa.Array:
    return pa.concat_arrays([_NO_KEYS, *keys.chunks]) if isinstance(keys, pa.ChunkedArray) else keys


def _union(parts: Sequence[Any]) -> pa.Array:
    return pc.unique(flat(map(_one, parts)))


def _minus(keys: Any, others: Any) -> pa.Array:
    return _one(keys.filter(pc.invert(pc.is_in(keys, _one(others)))))


def _common(keys: Any, others: Any) -> pa.Array:
    return _one(keys.filter(pc.is_in(keys, _one(others))))
