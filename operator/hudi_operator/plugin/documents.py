"""Resources as some program wrote them down: what is not as expected is as if it were not there."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hudi_operator.resources.model import Ref
from hudi_operator.words import Condition, Kind, Reason, State

_NOTHING: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Tree:
    """A JSON object, asked by paths."""

    value: Mapping[str, object] = field(default_factory=dict)

    def at(self, *path: str) -> "Tree":
        """The object there, or an empty one."""
        found = self._found(path)
        return Tree(found if isinstance(found, Mapping) else _NOTHING)

    def text(self, *path: str) -> str:
        found = self._found(path)
        return found if isinstance(found, str) else ""

    def number(self, *path: str) -> float | None:
        found = self._found(path)
        return found if isinstance(found, int | float) and not isinstance(found, bool) else None

    def claim(self, *path: str) -> bool | None:
        found = self._found(path)
        return found if isinstance(found, bool) else None

    def moment(self, *path: str) -> datetime | None:
        try:
            found = datetime.fromisoformat(self.text(*path))
        except ValueError:
            return None
        return found if found.tzinfo is not None else found.replace(tzinfo=UTC)

    def texts(self, *path: str) -> list[str]:
        found = self._found(path)
        return [entry for entry in found if isinstance(entry, str)] if isinstance(found, list) else []

    def trees(self, *path: str) -> list["Tree"]:
        found = self._found(path)
        return [Tree(entry) for entry in found if isinstance(entry, Mapping)] if isinstance(found, list) else []

    def _found(self, path: Iterable[str]) -> object:
        found: object = self.value
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found


@dataclass(frozen=True, slots=True)
class Claim:
    """A condition as it stands in a status."""

    condition: str
    status: str
    reason: str
    message: str
    since: datetime | None


@dataclass(frozen=True, slots=True)
class Document:
    """One resource, whole."""

    ref: Ref
    tree: Tree

    @property
    def spec(self) -> Tree:
        return self.tree.at("spec")

    @property
    def status(self) -> Tree:
        return self.tree.at("status")

    @property
    def table(self) -> str:
        """Name of the table it is about."""
        return self.ref.name if self.ref.kind is Kind.TABLE else self.spec.text("tableRef", "name")

    @property
    def state(self) -> str:
        """Its word for people; empty if nobody has looked at it yet."""
        return self.status.text("state")

    @property
    def is_awaiting_approval(self) -> bool:
        approved = self.claim(Condition.APPROVED)
        waits = approved is not None and approved.reason == Reason.AWAITING_APPROVAL
        return waits or self.state == State.AWAITING_APPROVAL

    @property
    def plan(self) -> Tree:
        return self.status.at("plan")

    def claims(self) -> Iterator[Claim]:
        for entry in self.status.trees("conditions"):
            kind, status, reason, message = (entry.text(name) for name in ("type", "status", "reason", "message"))
            yield Claim(kind, status, reason, message, entry.moment("lastTransitionTime"))

    def claim(self, condition: Condition) -> Claim | None:
        return next((claim for claim in self.claims() if claim.condition == condition), None)


def document_of(tree: Mapping[str, object]) -> Document | None:
    """The resource if it is one of ours."""
    whole = Tree(tree)
    name = whole.text("metadata", "name")
    if whole.text("kind") not in set(Kind) or not name:
        return None
    return Document(Ref(Kind(whole.text("kind")), whole.text("metadata", "namespace") or "default", name), whole)


@dataclass(frozen=True, slots=True)
class TableGroup:
    """A table and what is wanted of it; `table` is None if there is no such resource."""

    namespace: str
    name: str
    table: Document | None
    indexes: tuple[Document, ...]
    services: tuple[Document, ...]

    @property
    def documents(self) -> tuple[Document, ...]:
        return (*((self.table,) if self.table else ()), *self.indexes, *self.services)


def grouped(documents: Iterable[Document]) -> list[TableGroup]:
    """By namespace and table, in the order of their names."""
    listed = sorted(documents, key=lambda each: each.ref)
    places = sorted({(each.ref.namespace, each.table) for each in listed})
    return [_group(listed, namespace, name) for namespace, name in places]


def _group(listed: list[Document], namespace: str, name: str) -> TableGroup:
    ours = [each for each in listed if (each.ref.namespace, each.table) == (namespace, name)]
    by_kind = {kind: tuple(each for each in ours if each.ref.kind is kind) for kind in Kind}
    table = next(iter(by_kind[Kind.TABLE]), None)
    return TableGroup(namespace, name, table, by_kind[Kind.INDEX], by_kind[Kind.SERVICE])
