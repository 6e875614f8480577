"""The whole status of a resource of any kind."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from hudi_operator.decision import Decision, Said, World
from hudi_operator.resources.model import HudiTable, MetadataIndex, TableService
from hudi_operator.resources.unreadable import Stored, Unreadable
from hudi_operator.status.facts import index_facts, service_facts, table_facts
from hudi_operator.status.times import parsed, shown

# A table that does not change need not have its status written at every look.
_OBSERVED_ANEW = timedelta(minutes=10)
_LONGEST_MESSAGE = 1_000
_OF_ALL = ("observedGeneration", "state", "conditions")


def status_of(resource: Stored, world: World, decision: Decision) -> dict[str, object]:
    """What is to stand there. Nothing of it but times of transition and what is older than the runs needs the last."""
    match resource:
        case HudiTable():
            facts = table_facts(resource, world)
            _keep_observed(facts, world.previous)
        case MetadataIndex():
            facts = index_facts(resource, world)
        case TableService():
            facts = service_facts(world)
        case Unreadable():
            facts = {name: value for name, value in world.previous.items() if name not in _OF_ALL}
    return {
        "observedGeneration": resource.meta.generation,
        "state": decision.state.value,
        "conditions": [_condition(said, resource, world) for said in decision.said],
        **facts,
        **decision.facts,
    }


def _condition(said: Said, resource: Stored, world: World) -> dict[str, object]:
    return {
        "type": said.condition.value,
        "status": said.status,
        "reason": said.reason.value,
        "message": said.message[:_LONGEST_MESSAGE],
        "lastTransitionTime": _since(said, world),
        "observedGeneration": resource.meta.generation,
    }


def _since(said: Said, world: World) -> str:
    before = condition_of(world.previous, said.condition.value)
    since = None if before is None else parsed(before.get("lastTransitionTime"))
    if before is not None and since is not None and before.get("status") == said.status:
        return shown(since)
    return shown(world.now)


def condition_of(previous: Mapping[str, object], name: str) -> Mapping[str, object] | None:
    """The condition as the status has it, or had it when it was last written."""
    conditions = previous.get("conditions")
    entries: Sequence[object] = conditions if isinstance(conditions, list | tuple) else ()
    return next((entry for entry in entries if isinstance(entry, Mapping) and entry.get("type") == name), None)


def _keep_observed(facts: dict[str, object], previous: Mapping[str, object]) -> None:
    """The former time of the last look while all else is as it was, and it is not too old."""
    last, now = parsed(previous.get("lastObservedTime")), parsed(facts.get("lastObservedTime"))
    if last is None or now is None or not timedelta() <= now - last < _OBSERVED_ANEW:
        return
    if all(previous.get(name) == value for name, value in facts.items() if name != "lastObservedTime"):
        facts["lastObservedTime"] = shown(last)
