"""What is wrong, and what to do about it: found in what was seen, without another look."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from hudi_operator.plugin.claims import remedy, troubles
from hudi_operator.plugin.documents import Document, TableGroup
from hudi_operator.plugin.place import Surroundings
from hudi_operator.plugin.words import age
from hudi_operator.words import Kind

_SERVICES = frozenset({"compaction", "logcompaction", "clustering", "clean"})


@dataclass(frozen=True, slots=True)
class Finding:
    """`about` names the resource, or what else it is."""

    about: str
    what: str
    to_do: str


def findings(groups: Iterable[TableGroup], around: Surroundings, now: datetime) -> list[Finding]:
    """The operator first, then table by table."""
    listed = list(groups)
    found = list(_of_operators(listed, around, now))
    for group in listed:
        found += _of_group(group, around)
    return found


def _of_operators(groups: list[TableGroup], around: Surroundings, now: datetime) -> Iterator[Finding]:
    unseen = [each for group in groups for each in group.documents if not _is_read(each)]
    if unseen:
        named = ", ".join(f"{each.ref.kind} {each.ref.name}" for each in unseen[:5])
        what = f"{len(unseen)} resources as they stand now were not looked at by any operator: {named}"
        yield Finding("operator", what, "see that hudi-operator runs, and that it watches their namespace")
    for lease in around.leases or ():
        renewed, seconds = lease.moment("spec", "renewTime"), lease.number("spec", "leaseDurationSeconds")
        if renewed is None or not lease.text("spec", "holderIdentity"):
            continue
        if now - renewed > timedelta(seconds=2 * (seconds or 15)):
            where = f"{lease.text('metadata', 'namespace')}/{lease.text('metadata', 'name')}"
            what = f"held by {lease.text('spec', 'holderIdentity')}, who renewed it {age(renewed, now)}"
            yield Finding(f"lease {where}", what, "no operator runs: see its pod or process")


def _is_read(document: Document) -> bool:
    """By its operator, with the spec that it has now."""
    generation = document.tree.number("metadata", "generation")
    observed = document.status.number("observedGeneration")
    return observed is not None and (generation is None or observed >= generation)


def _of_group(group: TableGroup, around: Surroundings) -> Iterator[Finding]:
    if group.table is None:
        names = ", ".join(f"{each.ref.kind} {each.ref.name}" for each in group.documents)
        what = f"there is no such HudiTable, and {names} refer to it"
        yield Finding(f"{Kind.TABLE} {group.namespace}/{group.name}", what, "apply the HudiTable, or delete them")
    else:
        yield from _of_pending(group.table)
        yield from _of_writers(group, around)
    for document in group.documents:
        for claim in troubles(document):
            what = f"{claim.condition}={claim.status}, {claim.reason}: {claim.message}".rstrip(": ")
            yield Finding(_named(document), what, remedy(document, claim.reason))


def _of_pending(table: Document) -> Iterator[Finding]:
    """Pending instants of writers that are gone."""
    for pending in table.status.trees("timeline", "pending"):
        action = pending.text("action")
        # A plan that nobody has begun has no owner yet.
        is_waiting = pending.text("state") == "requested" and action in _SERVICES
        if pending.claim("live") is not False or is_waiting:
            continue
        what = f"{pending.text('instant')} ({action}, {pending.text('state')}) has no living owner"
        yield Finding(_named(table), what, _of_dead(action))


def _of_dead(action: str) -> str:
    if action == "indexing":
        return "an orphaned plan: a MetadataIndex of its type takes it over; hudi-engine index abort takes it back"
    if action in _SERVICES:
        return "its runner died: the next writer that runs this service takes it up again"
    return "the next writer with hoodie.cleaner.policy.failed.writes=LAZY rolls it back when it cleans"


def _of_writers(group: TableGroup, around: Surroundings) -> Iterator[Finding]:
    if around.writer_maps is None or not group.indexes or group.table is None or not _is_read(group.table):
        return
    wanted = f"{group.name}-writer"
    if (group.namespace, wanted) not in around.writer_maps:
        what = f"there is no ConfigMap {wanted} with the properties that the table's writers need"
        yield Finding(_named(group.table), what, "see that the operator may write ConfigMaps in this namespace")


def _named(document: Document) -> str:
    return f"{document.ref.kind} {document.ref.namespace}/{document.ref.name}"


def finding_tree(finding: Finding) -> dict[str, str]:
    return {"about": finding.about, "what": finding.what, "toDo": finding.to_do}
