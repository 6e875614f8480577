"""The shards of an index in one numbering, and what their files are called."""

from collections.abc import Mapping
from dataclasses import dataclass

from hudi_engine.format.names import BaseFileName
from hudi_engine.index.kinds import IndexKind, ShardName, shard_file_id


@dataclass(frozen=True, slots=True)
class Group:
    """The shards that share out the keys of a partition, or of the table: `count` of them from place `first` on."""

    partition: str | None
    first: int
    count: int


def groups_of(shard_counts: Mapping[str | None, int]) -> Mapping[str | None, Group]:
    """Each group with the places of its shards: by partition, then by number."""
    groups: dict[str | None, Group] = {}
    first = 0
    for partition in sorted(shard_counts, key=lambda name: name or ""):
        groups[partition] = Group(partition, first, shard_counts[partition])
        first += shard_counts[partition]
    return groups


def shard_file_ids(
    shard_counts: Mapping[str | None, int], index: str = IndexKind.RECORD_INDEX.value
) -> tuple[str, ...]:
    """The file ids of all shards of an index, each at its place."""
    return tuple(
        shard_file_id(index, ShardName(number, group.partition))
        for group in groups_of(shard_counts).values()
        for number in range(group.count)
    )


@dataclass(frozen=True, slots=True)
class ShardAttempt:
    """The file that one try at a shard writes; `place` is the shard's among all of its index."""

    file_id: str
    place: int
    attempt: int
    task_attempt: int
    instant: str
    index: str = IndexKind.RECORD_INDEX.value

    @property
    def path(self) -> str:
        """Within the metadata table. No two tries at a shard have the same."""
        token = f"{self.place}-{self.attempt}-{self.task_attempt}"
        return f"{self.index}/{BaseFileName(self.file_id, token, self.instant, 'hfile')}"
