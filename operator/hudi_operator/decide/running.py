"""What is said of a resource while a run is live that is its own, or that was ordered for it, too."""

from dataclasses import replace

from hudi_engine.contract import Action, IndexState, TableSeen
from hudi_operator.decide.begin import hampered_by
from hudi_operator.decide.case import Case
from hudi_operator.decide.gates import overdue
from hudi_operator.decide.guard import index_of
from hudi_operator.decide.verdict import LATER, Verdict, moving
from hudi_operator.decision import Stop
from hudi_operator.names import Annotation
from hudi_operator.resources.model import MetadataIndex
from hudi_operator.retry import hindrance_of
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.words import Reason, State

# A run starts by itself once these are there, and they do not come by themselves. A quota may pass.
_TAKES_SOMEBODY = (
    Reason.POD_REFUSED,
    Reason.SERVICE_ACCOUNT_MISSING,
    Reason.SECRET_MISSING,
    Reason.VOLUME_MISSING,
)


def running(case: Case, run: RunSeen) -> Verdict:
    """How far it is, or its end if its time is over or somebody asks for it."""
    state, reason = _stage(case, run)
    stop = _asked(case, run) or overdue(run, case)
    hindrance = hindrance_of(run)
    hampered = hindrance if hindrance in _TAKES_SOMEBODY else hampered_by(case, run.action, run.trigger)
    return Verdict(
        state,
        hampered or hindrance or reason,
        _told(run),
        is_moving=True,
        is_stuck=hampered is not None,
        act=stop,
        again=LATER,
    )


def built_elsewhere(index: MetadataIndex, case: Case) -> Verdict | None:
    """What is said of an index that the run of another builds, too, until the table shows what came of it."""
    if isinstance(case.world.seen, TableSeen) and index_of(index, case).state is IndexState.COMPLETE:
        return None
    if not case.live_elsewhere:
        return None
    run = case.live_elsewhere[0]
    state, reason = _stage(case, run)
    why = f"built together with {run.owner.kind} {run.owner.name}: {_told(run)}"
    return replace(moving(state, reason, why), is_long=True)


def _asked(case: Case, run: RunSeen) -> Stop | None:
    if case.resource.meta.annotations.get(Annotation.STOP) != run.name or run.is_stopping:
        return None
    return Stop(run.key, f"asked for by the annotation {Annotation.STOP}")


def _stage(case: Case, run: RunSeen) -> tuple[State, Reason]:
    match run.action:
        case Action.PLAN:
            return State.PLANNING, Reason.PLANNING
        case Action.DROP | Action.ABORT:
            return State.RECOVERING, Reason.REBUILDING
        case Action.VALIDATE:
            return State.RUNNING, Reason.RUNNING
    if _phase(case, run).startswith("catch-up"):
        return State.CATCHING_UP, Reason.CATCHING_UP
    return State.BUILDING, Reason.BUILDING


def _phase(case: Case, run: RunSeen) -> str:
    """As the run says; of one whose progress cannot be read the table tells."""
    if run.progress is not None:
        return run.progress.phase
    if not isinstance(case.resource, MetadataIndex) or not isinstance(case.world.seen, TableSeen):
        return ""
    return index_of(case.resource, case).phase


def _told(run: RunSeen) -> str:
    said = f"run {run.name}, attempt {run.attempt}"
    if run.is_stopping:
        return f"{said}, is being stopped"
    if run.phase is RunPhase.WAITING:
        return f"{said}, waits to be started" + (f": {run.trouble}" if run.trouble else "")
    if run.progress is None:
        return said
    return f"{said}: {run.progress.said or run.progress.phase}"
