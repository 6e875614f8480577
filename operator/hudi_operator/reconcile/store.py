"""What was last seen of everything; worlds are made of it, and nothing in it need survive."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from hudi_engine.contract import TableSeen, TableUnseen, place_of
from hudi_operator.decision import Defaults, World
from hudi_operator.reconcile.rivals import Stores, have_same_path, is_older
from hudi_operator.resources.model import HudiTable, Meta, Ref, Resource, table_ref
from hudi_operator.resources.unreadable import Unreadable
from hudi_operator.runs import RunKey, RunOrder, RunPhase, RunSeen
from hudi_operator.words import Kind


@dataclass(frozen=True, slots=True)
class Held:
    """A resource and the status that stands there."""

    resource: Resource
    status: Mapping[str, object]


@dataclass(slots=True)
class Store:
    """Resources, runs and tables as they were last seen; written through the methods alone.

    What is `unreadable` is no resource: nothing is decided of it or by it, but that it is there.
    """

    resources: dict[Ref, Held] = field(default_factory=dict)
    unreadable: dict[Ref, tuple[Unreadable, Mapping[str, object]]] = field(default_factory=dict)
    runs: dict[RunKey, RunSeen] = field(default_factory=dict)
    seen: dict[Ref, TableSeen | TableUnseen] = field(default_factory=dict)
    _of_table: dict[Ref, set[Ref]] = field(default_factory=dict)
    _stores: Stores = field(default_factory=Stores)

    def put(self, resource: Resource, status: Mapping[str, object]) -> bool:
        """Whether that is news: another resource of that name, another wish, or a status that somebody else wrote."""
        ref = resource.meta.ref
        before = self.resources.get(ref)
        if before is not None and before.resource.meta.uid != resource.meta.uid:
            self.remove(ref)
        self.unreadable.pop(ref, None)
        self.resources[ref] = Held(resource, status)
        self._of_table.setdefault(table_ref(resource), set()).add(ref)
        return before is None or _wish(before.resource) != _wish(resource) or before.status != status

    def put_unreadable(self, found: Unreadable, status: Mapping[str, object]) -> bool:
        """Whether that is news. The wish that stood there before counts no more."""
        ref = found.meta.ref
        before = self.unreadable.get(ref)
        self.remove(ref)
        self.unreadable[ref] = found, status
        return before != self.unreadable[ref]

    def meta(self, ref: Ref) -> Meta | None:
        """Of what has that name, readable or not."""
        if ref in self.unreadable:
            return self.unreadable[ref][0].meta
        return self.resources[ref].resource.meta if ref in self.resources else None

    def remove(self, ref: Ref) -> None:
        self.unreadable.pop(ref, None)
        held = self.resources.pop(ref, None)
        self.seen.pop(ref, None)
        self._stores.forget(ref)
        if held is not None:
            table = table_ref(held.resource)
            refs = self._of_table[table]
            refs.discard(ref)
            if not refs:
                del self._of_table[table]

    def table(self, ref: Ref) -> HudiTable | None:
        held = self.resources.get(ref)
        return held.resource if held is not None and isinstance(held.resource, HudiTable) else None

    def tables(self) -> Iterator[HudiTable]:
        held = tuple(self.resources.values())
        return (one.resource for one in held if isinstance(one.resource, HudiTable))

    def of_table(self, table: Ref) -> frozenset[Ref]:
        """The table's resources that there are, its own among them."""
        return frozenset(self._of_table.get(table, ()))

    def related(self, ref: Ref) -> frozenset[Ref]:
        """All to which a change of this resource may matter: those of its table, and of tables in the same place."""
        held = self.resources.get(ref)
        if held is None:
            return frozenset()
        found = self.table(table_ref(held.resource))
        if found is None or ref.kind is not Kind.TABLE:
            return self.of_table(table_ref(held.resource))
        return frozenset().union(*(self.of_table(other.meta.ref) for other in self._of_path(found)))

    def exclusion_key(self, ref: Ref) -> str:
        """Resources with the same key share a table: never two of them are worked on at the same time."""
        held = self.resources.get(ref)
        table = ref if held is None else table_ref(held.resource)
        found = self.table(table)
        return f"{table.namespace}/{table.name}" if found is None else place_of(found.base_path)

    def note_seen(self, table: Ref, seen: TableSeen | TableUnseen) -> None:
        if table in self.resources:
            self.seen[table] = seen
            self._stores.note_seen(table, seen)

    def awaits_first_look(self, held: Held) -> bool:
        """Whether what its status says still stands for what this operator has not seen for itself yet.

        What was ready does not cease to be so because an operator was started. Nor does a table with an older one's
        path begin anything before the older one was looked at: whether that is a rival is not known before.
        """
        table = table_ref(held.resource)
        if bool(held.status) and table in self.resources and table not in self.seen:
            return True
        found = self.table(table)
        if found is None:
            return False
        return any(other.meta.ref not in self.seen and is_older(other, found) for other in self._of_path(found))

    def replace_runs(self, listed: Iterable[RunSeen], listed_at: datetime) -> frozenset[Ref]:
        """Takes over a listing that was begun then; the tables of which some run is other than it was.

        What was ordered since then may not be in the listing, and stays. That a run went on does not make it another.
        """
        before, now = self.runs, {run.key: run for run in listed}
        younger = {
            key: run
            for key, run in before.items()
            if key not in now and run.phase is RunPhase.WAITING and run.created_at >= listed_at
        }
        self.runs = now | younger
        changed = (key for key in before.keys() | now.keys() if _is_another(before.get(key), self.runs.get(key)))
        return frozenset(table_of_run(self.runs.get(key) or before[key]) for key in changed)

    def note_ordered(self, order: RunOrder, now: datetime) -> None:
        """Remembers a run as ordered until it is seen, so that nothing else of the table is begun meanwhile."""
        self.runs.setdefault(order.key, replace(waiting_run(order, now), trouble="it was ordered"))

    def note_stopping(self, run: RunKey) -> None:
        known = self.runs.get(run)
        if known is not None:
            self.runs[run] = replace(known, is_stopping=True)

    def note_forgotten(self, run: RunKey) -> None:
        self.runs.pop(run, None)

    def live_tables(self) -> frozenset[Ref]:
        """The tables on which some run of ours is at work."""
        return frozenset(table_of_run(run) for run in self.runs.values() if run.is_live)

    def world(self, held: Held, now: datetime, defaults: Defaults) -> World:
        resource = held.resource
        table = table_ref(resource)
        runs = [run for run in self.runs.values() if self._is_on(run, table)]
        neighbours = self._neighbours(resource.meta.ref, table)
        return World(
            now=now,
            table=self.table(table),
            seen=self.seen.get(table),
            runs=tuple(run for run in runs if run.owner_uid == resource.meta.uid),
            others=tuple(run for run in runs if run.owner_uid != resource.meta.uid),
            neighbours=tuple(one.resource for one in neighbours),
            statuses={one.resource.meta.ref: one.status for one in neighbours},
            previous=held.status,
            defaults=defaults,
        )

    def leftovers(self, owner: Ref) -> list[RunSeen]:
        """Runs of a resource of that name that is gone, whether another has its name or not."""
        meta = self.meta(owner)
        uid = None if meta is None else meta.uid
        return [run for run in self.runs.values() if run.owner == owner and run.owner_uid != uid]

    def _is_on(self, run: RunSeen, table: Ref) -> bool:
        """Whether it is the table's; or is at work where the table is, though the table it was ordered for is gone.

        What a record says of itself counts within its own namespace alone: elsewhere anybody may have written it.
        """
        if table_of_run(run) == table:
            return True
        found = self.table(table)
        if found is None or not run.is_live:
            return False
        if run.owner.namespace != table.namespace:
            return self._is_of_elder(run, found)
        is_elsewhere = self._stores.are_apart(table_of_run(run), table)
        return place_of(run.base_path) == place_of(found.base_path) and not is_elsewhere

    def _is_of_elder(self, run: RunSeen, table: HudiTable) -> bool:
        """Whether a resource that there is has the run, on an older table in this place: for a younger none is run."""
        owner = self.resources.get(run.owner)
        if owner is None or owner.resource.meta.uid != run.owner_uid:
            return False
        other = self.table(table_ref(owner.resource))
        return other is not None and self._stores.are_rivals(other, table) and is_older(other, table)

    def _of_path(self, table: HudiTable) -> Iterator[HudiTable]:
        """The table itself, and others with its path."""
        return (other for other in self.tables() if have_same_path(other, table))

    def _neighbours(self, ref: Ref, table: Ref) -> list[Held]:
        """The others of the table, then other tables in the same place."""
        found = self.table(table)
        same = [] if found is None else [other for other in self.tables() if self._stores.are_rivals(other, found)]
        refs = dict.fromkeys((*sorted(self.of_table(table)), *sorted(other.meta.ref for other in same)))
        return [self.resources[other] for other in refs if other != ref]


def waiting_run(order: RunOrder, now: datetime) -> RunSeen:
    """The run as it will be seen first."""
    return RunSeen(
        name=order.name,
        owner=order.owner,
        owner_uid=order.owner_uid,
        table=order.table,
        action=order.request.action,
        trigger=order.trigger,
        attempt=order.attempt,
        phase=RunPhase.WAITING,
        created_at=now,
        base_path=order.request.table,
        kinds=order.request.kinds,
    )


def table_of_run(run: RunSeen) -> Ref:
    return Ref(Kind.TABLE, run.owner.namespace, run.table)


def _is_another(before: RunSeen | None, now: RunSeen | None) -> bool:
    if before is None or now is None:
        return before is not now
    return replace(before, progress=None) != replace(now, progress=None)


def _wish(resource: Resource) -> Resource:
    return replace(resource, meta=replace(resource.meta, resource_version=""))
