"""Which events follow from a status that changes and from what is done."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from hudi_operator.decision import Act, RemoveAnnotation, Start, Stop
from hudi_operator.reconcile.home import Event
from hudi_operator.words import Condition, Reason

# The status of each condition that is well. Steps on the way are in the status alone; events tell what somebody may
# have to act on, and that it is over.
_WELL = {
    Condition.READY: "True",
    Condition.STALLED: "False",
    Condition.REACHABLE: "True",
    Condition.LOCK_AVAILABLE: "True",
    Condition.METADATA_CONSISTENT: "True",
    Condition.TIMELINE_HEALTHY: "True",
    Condition.UNIQUE: "True",
    Condition.LAST_RUN_SUCCEEDED: "True",
}

# An index that is not built is on its way, unless somebody took it away.
_TAKEN_AWAY = (Reason.DROPPED_BY_WRITER, Reason.INDEX_STALE, Reason.INDEX_INVALID, Reason.ORPHANED_PLAN)

_Conditions = Mapping[str, Mapping[str, str]]


def told_of_conditions(before: Mapping[str, object], after: Mapping[str, object]) -> Iterator[Event]:
    """An event of each condition that turned bad, or bad for another reason, and of each that turned well again."""
    old, new = _conditions(before), _conditions(after)
    yield from _told_of_loss(old, new)
    for name, entry in new.items():
        was = old.get(name)
        message = entry.get("message") or f"{name} is {entry['status']}"
        if name not in _WELL:
            continue
        if entry["status"] == _WELL[Condition(name)]:
            if _turned_well(name, was):
                yield Event("Normal", entry["reason"], message)
        elif _is_trouble(name, entry) and (was is None or _word(was) != _word(entry)):
            yield Event("Warning", entry["reason"], message)


def _told_of_loss(old: _Conditions, new: _Conditions) -> Iterator[Event]:
    """An index that was taken away is told of even if it is built again by itself; one that is stalled says so once."""
    was, entry, stalled = old.get(Condition.BUILT), new.get(Condition.BUILT), new.get(Condition.STALLED)
    if entry is None or entry["reason"] not in _TAKEN_AWAY or (was is not None and _word(was) == _word(entry)):
        return
    if stalled is None or stalled["reason"] != entry["reason"]:
        yield Event("Warning", entry["reason"], entry.get("message") or "the index is not what it was")


def told_of_act(act: Act) -> Event | None:
    match act:
        case Start(order, why):
            said = f"{order.request.action}, attempt {order.attempt}: run {order.name}"
            return Event("Normal", "RunStarted", f"{said}: {why}" if why else said)
        case Stop(run, why):
            return Event("Normal", "RunStopped", f"run {run.name}: {why}")
        case RemoveAnnotation(name, why) if why:
            return Event("Normal", "AnnotationRemoved", f"{name}: {why}")
        case _:
            return None


def _turned_well(name: str, was: Mapping[str, str] | None) -> bool:
    """That nothing is wrong is no news of what nobody had looked at before; that a resource is ready always is."""
    if name == Condition.READY:
        return was is None or was["status"] != "True"
    return was is not None and was["status"] not in ("Unknown", _WELL[Condition(name)])


def _is_trouble(name: str, entry: Mapping[str, str]) -> bool:
    """Everything is not ready before it is; what is wrong, another condition says."""
    return name != Condition.READY and entry["status"] != "Unknown"


def _word(entry: Mapping[str, str]) -> tuple[str, str]:
    return entry["status"], entry["reason"]


def _conditions(status: Mapping[str, object]) -> _Conditions:
    listed = cast(Sequence[Mapping[str, str]], status.get("conditions", ()))
    return {entry["type"]: entry for entry in listed}
