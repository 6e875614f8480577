"""What is said of a resource while a run of its own is live."""

from hudi_engine.contract import Action
from hudi_operator.decide.begin import is_contended
from hudi_operator.decide.case import Case
from hudi_operator.decide.gates import overdue
from hudi_operator.decide.verdict import LATER, Verdict
from hudi_operator.decision import Stop
from hudi_operator.names import Annotation
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.words import Reason, State


def running(case: Case, run: RunSeen) -> Verdict:
    """How far it is, or its end if its time is over or somebody asks for it."""
    state, reason = _stage(run)
    stop = _asked(case, run) or overdue(run, case)
    is_stuck = is_contended(case, run.action, run.trigger)
    return Verdict(
        state,
        Reason.CONTENTION if is_stuck else reason,
        _told(run),
        is_moving=True,
        is_stuck=is_stuck,
        act=stop,
        again=LATER,
    )


def _asked(case: Case, run: RunSeen) -> Stop | None:
    if case.resource.meta.annotations.get(Annotation.STOP) != run.name or run.is_stopping:
        return None
    return Stop(run.name, f"asked for by the annotation {Annotation.STOP}")


def _stage(run: RunSeen) -> tuple[State, Reason]:
    match run.action:
        case Action.PLAN:
            return State.PLANNING, Reason.PLANNING
        case Action.DROP | Action.ABORT:
            return State.RECOVERING, Reason.REBUILDING
        case Action.VALIDATE:
            return State.RUNNING, Reason.RUNNING
    if run.progress is not None and run.progress.phase.startswith("catch-up"):
        return State.CATCHING_UP, Reason.CATCHING_UP
    return State.BUILDING, Reason.BUILDING


def _told(run: RunSeen) -> str:
    said = f"run {run.name}, attempt {run.attempt}"
    if run.is_stopping:
        return f"{said}, is being stopped"
    if run.phase is RunPhase.WAITING:
        return f"{said}, waits to be started" + (f": {run.trouble}" if run.trouble else "")
    if run.progress is None:
        return said
    return f"{said}: {run.progress.said or run.progress.phase}"
