"""What is seen of a run from its record."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from hudi_engine.contract import JobReport, Malformed, RunProgress
from hudi_operator.launch.records import Ordered, RunFolder
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.words import Reason

# An order whose process is not there by then was given by an operator that ended before it could start one.
STARTING_SECONDS = 10.0
_KILLED = 128 + 9


@dataclass(frozen=True, slots=True)
class _Fate:
    phase: RunPhase
    ended_at: datetime | None = None
    exit_code: int | None = None
    trouble: str = ""
    trouble_reason: str = ""


def sight_of(folder: RunFolder, now: datetime) -> RunSeen:
    """The run as it is. One that never began and whose time to begin is over is given up, for good."""
    ordered = folder.ordered()
    fate = _fate(folder, ordered, now)
    is_live = fate.phase in (RunPhase.WAITING, RunPhase.RUNNING)
    report = None if is_live else _report(folder)
    if fate.phase is RunPhase.LOST and report is not None:
        # The keeper was killed, and the engine came to its end all the same.
        fate = replace(fate, phase=RunPhase.ENDED, exit_code=report.exit_code, trouble="", trouble_reason="")
    if not is_live and folder.has("secrets"):
        folder.remove_secrets()
    return RunSeen(
        name=ordered.name,
        owner=ordered.owner,
        owner_uid=ordered.owner_uid,
        table=ordered.table,
        action=ordered.action,
        trigger=ordered.trigger,
        attempt=ordered.attempt,
        phase=fate.phase,
        created_at=ordered.created_at,
        base_path=ordered.base_path,
        started_at=folder.changed_at("keeper"),
        ended_at=fate.ended_at,
        exit_code=fate.exit_code,
        report=report,
        progress=_progress(folder),
        trouble=fate.trouble,
        trouble_reason=fate.trouble_reason,
        is_stopping=is_live and folder.has("stop"),
        kinds=ordered.kinds,
    )


def _fate(folder: RunFolder, ordered: Ordered, now: datetime) -> _Fate:
    if folder.is_unbegun:
        if (now - ordered.created_at).total_seconds() < STARTING_SECONDS or not _is_given_up(folder):
            return _Fate(RunPhase.WAITING, trouble="its process is being started", trouble_reason="Starting")
        return _lost(folder)
    is_held = folder.is_held
    # Written before the lock is let go: once that is free, there is an end to read or there never will be.
    end = folder.text("exit")
    if end:
        return _ended(folder, end)
    if is_held:
        return _Fate(RunPhase.RUNNING)
    return _lost(folder)


def _is_given_up(folder: RunFolder) -> bool:
    """Nobody can begin it any more; false if somebody is about to, or did so just now."""
    with folder.held() as lock:
        if lock is None or not folder.is_unbegun:
            return False
        folder.write("lost", "the operator ended after it had ordered the run and before it had started its process")
        return True


def _ended(folder: RunFolder, end: str) -> _Fate:
    code, _, at = end.partition(" ")
    fate = _Fate(RunPhase.ENDED, datetime.fromtimestamp(float(at), UTC), int(code))
    if folder.has("overdue"):
        deadline = folder.text("overdue")
        said = f"it was stopped because it had not ended after {deadline} seconds (activeDeadlineSeconds)"
        return replace(fate, trouble=said, trouble_reason=Reason.DEADLINE_EXCEEDED)
    if int(code) == _KILLED:
        said = "it was killed (SIGKILL): by somebody, or by the system because memory ran out"
        return replace(fate, trouble=said, trouble_reason="Killed")
    if int(code) and not folder.has("report.json"):
        return replace(fate, trouble=folder.last_words() or "it ended without a word", trouble_reason="NoReport")
    return fate


def _lost(folder: RunFolder) -> _Fate:
    last = max(filter(None, map(folder.changed_at, ("order.json", "keeper", "err", "progress.json"))))
    why = folder.text("lost") or "its processes were killed, and how it ended is not known"
    words = folder.last_words()
    return _Fate(RunPhase.LOST, last, trouble=f"{why}; it said last: {words}" if words else why, trouble_reason="Lost")


def _report(folder: RunFolder) -> JobReport | None:
    try:
        return JobReport.from_json(folder.text("report.json").strip())
    except Malformed:
        return None


def _progress(folder: RunFolder) -> RunProgress | None:
    try:
        return RunProgress.from_json(folder.text("progress.json").strip())
    except Malformed:
        return None
