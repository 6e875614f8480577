"""What is done when nothing else is: wishes that are fulfilled or cannot be, and records nobody needs."""

from collections.abc import Sequence

from hudi_operator.decide.case import Case
from hudi_operator.decide.verdict import Verdict
from hudi_operator.decision import Forget, RemoveAnnotation
from hudi_operator.names import Annotation, approved_hash
from hudi_operator.resources.model import MetadataIndex, TableService
from hudi_operator.retry import Past
from hudi_operator.status.past import MAX_HISTORY
from hudi_operator.words import Reason, State


def tidied(case: Case, verdict: Verdict) -> RemoveAnnotation | Forget | None:
    """The first such thing."""
    return _stop(case) or _approval(case, verdict) or _forget(case)


def _stop(case: Case) -> RemoveAnnotation | None:
    name = case.resource.meta.annotations.get(Annotation.STOP)
    if name is None or any(run.name == name for run in case.live):
        return None
    is_known = any(past.name == name for past in case.past)
    why = "" if is_known else f"{Annotation.STOP}={name!r} names no live run of this resource: removed"
    return RemoveAnnotation(Annotation.STOP, why)


def _approval(case: Case, verdict: Verdict) -> RemoveAnnotation | None:
    """Removed when what it approved is done, or is not what there is to approve."""
    index, hash_ = case.resource, approved_hash(case.resource.meta.annotations)
    if not isinstance(index, MetadataIndex):
        return None
    if hash_ is None:
        return RemoveAnnotation(Annotation.APPROVE) if Annotation.APPROVE in index.meta.annotations else None
    if verdict.state is State.READY and verdict.reason is Reason.INDEX_IN_SYNC:
        return RemoveAnnotation(Annotation.APPROVE)
    if verdict.state is not State.AWAITING_APPROVAL:
        return None
    now = verdict.facts.get("plan")
    found = now.get("hash") if isinstance(now, dict) else None
    return RemoveAnnotation(
        Annotation.APPROVE, f"the plan {hash_} was approved, and the plan is {found} by now: look at it"
    )


def _forget(case: Case) -> Forget | None:
    """Ended runs beyond what is kept; never the newest, nor the newest of its kind."""
    runs = {run.name: run.key for run in case.world.runs if not run.is_live}
    past = [each for each in case.past if each.name in runs]
    kept = _kept(case, past)
    beyond = tuple(runs[each.name] for each in past if each.name not in kept)
    return Forget(beyond) if beyond else None


def _kept(case: Case, past: Sequence[Past]) -> set[str]:
    newest = {each.action: each.name for each in past}
    kept = set(newest.values())
    if isinstance(case.resource, TableService):
        done = [each.name for each in past if each.reason is Reason.SUCCEEDED]
        failed = [each.name for each in past if each.reason is not Reason.SUCCEEDED]
        kept |= set(_last(done, case.resource.successful_runs_history_limit))
        return kept | set(_last(failed, case.resource.failed_runs_history_limit))
    return kept | set(_last([each.name for each in past], max(MAX_HISTORY, case.limits.limit + 2)))


def _last(names: Sequence[str], most: int) -> Sequence[str]:
    return names[-most:] if most > 0 else ()
