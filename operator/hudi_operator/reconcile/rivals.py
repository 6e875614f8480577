"""Which tables are one and the same: a path, and the store that it was read in.

Anybody may write any path into a resource. Who could not read what is there has no claim to it.
"""

from dataclasses import dataclass, field

from hudi_engine.contract import TableSeen, TableUnseen, place_of
from hudi_operator.resources.model import HudiTable, Ref, age_order


@dataclass(slots=True)
class Stores:
    """In which store each table was seen last, by its own properties."""

    _of: dict[Ref, str] = field(default_factory=dict)

    def note_seen(self, table: Ref, seen: TableSeen | TableUnseen) -> None:
        if isinstance(seen, TableSeen):
            self._of[table] = seen.store
        elif not seen.retry:
            # A store that is silent for now is still where the table is.
            self.forget(table)

    def forget(self, table: Ref) -> None:
        self._of.pop(table, None)

    def are_rivals(self, one: HudiTable, other: HudiTable) -> bool:
        """Whether both have the path, and both were seen, in the same store."""
        theirs = self._of.get(one.meta.ref)
        return have_same_path(one, other) and theirs is not None and theirs == self._of.get(other.meta.ref)

    def are_apart(self, one: Ref, other: Ref) -> bool:
        """Whether the two were seen in different stores: nothing that one is at can be the other's."""
        theirs, own = self._of.get(one), self._of.get(other)
        return theirs is not None and own is not None and theirs != own


def have_same_path(one: HudiTable, other: HudiTable) -> bool:
    """However it is spelt, in whatever stores."""
    return place_of(one.base_path) == place_of(other.base_path)


def is_older(one: HudiTable, other: HudiTable) -> bool:
    return age_order(one.meta) < age_order(other.meta)
