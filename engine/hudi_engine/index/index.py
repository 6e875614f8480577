"""An index: its shards, and the rule by which keys are spread over them."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hudi_engine.errors import Contradiction
from hudi_engine.index.definitions import IndexDefinition, IndexVersion
from hudi_engine.index.hashing import shard_numbers
from hudi_engine.index.keys import hashed_part
from hudi_engine.index.kinds import IndexKind, parse_shard_name, shards_by_partition
from hudi_engine.index.payloads import Family
from hudi_engine.index.ranges import REMOTE_READERS, Effort, in_order
from hudi_engine.index.shard import Shard
from hudi_engine.storage.protocol import Storage, is_remote
from hudi_engine.table.interleave import interleave

_CORES = os.cpu_count() or 1
# With few keys a shard, the time goes into waiting for a remote store and not into unpacking blocks.
_FEW_KEYS = 1000
_WAITING = 16

_WITH_VALUES_OF_USERS = {IndexKind.COLUMN_STATS, IndexKind.PARTITION_STATS, IndexKind.EXPRESSION_INDEX}

_Task = tuple[Shard, pa.Array]
_Search = Callable[[Shard, pa.Array], pa.Table]


@dataclass(frozen=True, slots=True)
class Index:
    """Rows come in the schema of the index's family, deleted ones left out, in no order that means anything.

    `groups` has the shards that share one numbering: those of a data partition, or under None those of the table.
    """

    name: str
    kind: IndexKind
    definition: IndexDefinition | None
    family: Family
    groups: Mapping[str | None, tuple[Shard, ...]]

    @property
    def shards(self) -> tuple[Shard, ...]:
        return tuple(shard for group in self.groups.values() for shard in group)

    def find(self, keys: pa.Array, partition: str | None = None) -> pa.Table:
        """The rows of these keys, each looked for in the one shard where it must be.

        An index that is kept per data partition is searched in all of them, or in `partition`.
        """
        wanted = _distinct(keys)
        return self._search(Shard.find, self._tasks(wanted, self.hashed(wanted), partition))

    def hashed(self, keys: Any) -> Any:
        """What of each key tells its shard."""
        return hashed_part(keys) if self._hashes_values_only else keys

    def find_prefixes(self, prefixes: pa.Array) -> pa.Table:
        """The rows whose key starts with one of these, which any shard may have."""
        wanted = _distinct(prefixes)
        return self._search(Shard.find_prefixes, [(shard, wanted) for shard in self.shards])

    def find_values(self, prefixes: pa.Array) -> pa.Table:
        """Of a secondary index the rows of these values, each value given as its keys begin, `$` included."""
        if not self._hashes_values_only:
            return self.find_prefixes(prefixes)
        wanted = _distinct(prefixes)
        return self._search(Shard.find_prefixes, self._tasks(wanted, wanted, None))

    def scan(self) -> Iterator[pa.Table]:
        """All rows in pieces, as many shards at once as there are cores."""
        return interleave((shard.scan for shard in self.shards), _CORES)

    @property
    def _hashes_values_only(self) -> bool:
        version = None if self.definition is None else self.definition.version
        return self.kind is IndexKind.SECONDARY_INDEX and version is IndexVersion.V2

    def _tasks(self, wanted: pa.Array, hashed: pa.Array, partition: str | None) -> list[_Task]:
        """Which shard is to be searched for which of the wanted."""
        named = {None, partition} if partition is not None else self.groups.keys()
        groups = [group for name, group in self.groups.items() if name in named]
        numbers = {size: shard_numbers(hashed, size) for size in {len(group) for group in groups}}
        return [
            (shard, part)
            for group in groups
            for number, shard in enumerate(group)
            if len(part := wanted.filter(pa.array(numbers[len(group)] == number)))
        ]

    def _search(self, search: _Search, tasks: Sequence[_Task]) -> pa.Table:
        found = in_order(lambda task: search(task[0], _ascending(task[1])), tasks, _workers(tasks), len(tasks))
        return pa.concat_tables([self.family.schema.empty_table(), *found])


def effort_for(storage: Storage, kind: IndexKind, shard_count: int) -> Effort:
    """The effort for each shard of an index: where several are read at once, none needs threads of its own."""
    readers = REMOTE_READERS if is_remote(storage) else 1
    return Effort(readers, _CORES if shard_count == 1 else 1, may_probe=kind not in _WITH_VALUES_OF_USERS)


def _workers(tasks: Sequence[_Task]) -> int:
    is_waiting = sum(len(keys) for _, keys in tasks) <= _FEW_KEYS * len(tasks)
    most = _WAITING if is_waiting and any(is_remote(shard.layers.storage) for shard, _ in tasks) else _CORES
    return min(most, len(tasks))


def shard_groups(where: str, shards: Sequence[Shard]) -> Mapping[str | None, tuple[Shard, ...]]:
    """The shards of an index by data partition, each group whole: without one of them keys are lost."""
    ordered = sorted(shards, key=lambda shard: shard.file_slice.file_id)
    file_ids = [shard.file_slice.file_id for shard in ordered]
    if not file_ids:
        raise Contradiction(
            f"{where}: the index is listed as complete and has no shards. Let a Hudi writer rebuild it."
        )
    groups = shards_by_partition(file_ids)
    for partition, places in groups.items():
        numbers = [parse_shard_name(file_ids[place]).number for place in places]
        if numbers != list(range(len(numbers))):
            of = "" if partition is None else f" of the partition {partition!r}"
            raise Contradiction(
                f"{where}: it has the shards {numbers}{of}, expected 0 to {max(numbers)}. With one missing, keys would "
                "be sought in the wrong ones. Drop this index and build it anew."
            )
    return {partition: tuple(ordered[place] for place in places) for partition, places in groups.items()}


def _distinct(keys: pa.Array) -> pa.Array:
    return pc.unique(pc.cast(keys, pa.large_binary()))


def _ascending(keys: pa.Array) -> pa.Array:
    return keys.take(pc.sort_indices(keys))
