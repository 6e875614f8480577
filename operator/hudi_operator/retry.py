"""How runs ended, and whether and when what they were for is tried again."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from hudi_engine.contract import Action, Outcome
from hudi_operator.decision import Defaults
from hudi_operator.names import digest
from hudi_operator.resources.model import Execution
from hudi_operator.runs import RunPhase, RunSeen
from hudi_operator.words import Reason


class FailureClass(StrEnum):
    """What a failure is the fault of, and so what is to be done about it."""

    CONFIGURATION = "configuration"  # never tried again before somebody changes something
    CONTENTION = "contention"  # others were in the way: tried again for as long as it takes
    INFRASTRUCTURE = "infrastructure"
    DISRUPTION = "disruption"  # a node or the lock's service went away: tried again for as long as it takes
    OUT_OF_MEMORY = "out of memory"  # once more: what else ran there may have been the cause
    OUT_OF_DISK = "out of disk"  # as memory
    INTERNAL = "internal"


_CLASSES = {
    Reason.BAD_CONFIGURATION: FailureClass.CONFIGURATION,
    Reason.NOT_ALLOWED: FailureClass.CONFIGURATION,
    Reason.CONTENTION: FailureClass.CONTENTION,
    # Its service may be away for long, and no run can do anything about that.
    Reason.LOCK_UNAVAILABLE: FailureClass.DISRUPTION,
    Reason.INFRASTRUCTURE: FailureClass.INFRASTRUCTURE,
    Reason.DEADLINE_EXCEEDED: FailureClass.INFRASTRUCTURE,
    Reason.IMAGE_PULL_FAILED: FailureClass.INFRASTRUCTURE,
    Reason.UNSCHEDULABLE: FailureClass.INFRASTRUCTURE,
    Reason.POD_REFUSED: FailureClass.INFRASTRUCTURE,
    Reason.QUOTA_EXCEEDED: FailureClass.INFRASTRUCTURE,
    Reason.SERVICE_ACCOUNT_MISSING: FailureClass.INFRASTRUCTURE,
    Reason.SECRET_MISSING: FailureClass.INFRASTRUCTURE,
    Reason.VOLUME_MISSING: FailureClass.INFRASTRUCTURE,
    Reason.EVICTED: FailureClass.DISRUPTION,
    Reason.PREEMPTED: FailureClass.DISRUPTION,
    Reason.NODE_LOST: FailureClass.DISRUPTION,
    Reason.OUT_OF_MEMORY: FailureClass.OUT_OF_MEMORY,
    Reason.OUT_OF_DISK: FailureClass.OUT_OF_DISK,
    Reason.INTERNAL: FailureClass.INTERNAL,
}

# Exit codes of the engine (its errors.py), and of processes that a signal ended.
_BY_EXIT_CODE = {
    2: Reason.BAD_CONFIGURATION,
    10: Reason.BAD_CONFIGURATION,
    11: Reason.BAD_CONFIGURATION,
    12: Reason.BAD_CONFIGURATION,
    13: Reason.INFRASTRUCTURE,
    14: Reason.INFRASTRUCTURE,
    15: Reason.CONTENTION,
    16: Reason.INFRASTRUCTURE,
    17: Reason.BAD_CONFIGURATION,
    18: Reason.BAD_CONFIGURATION,
    19: Reason.BAD_CONFIGURATION,
    20: Reason.BAD_CONFIGURATION,
    21: Reason.CONTENTION,
    22: Reason.CONTENTION,
    23: Reason.CONTENTION,
    24: Reason.CONTENTION,
    25: Reason.CONTENTION,
    26: Reason.PLAN_CHANGED,
    27: Reason.NOT_ALLOWED,
    28: Reason.LOCK_UNAVAILABLE,
    130: Reason.INFRASTRUCTURE,
    # SIGKILL is sent by people, kubelets and kernels. Only OOMKilled, above the exit code, says that memory ran out.
    137: Reason.INFRASTRUCTURE,
    143: Reason.INFRASTRUCTURE,
}
_BY_TROUBLE = {
    "OOMKilled": Reason.OUT_OF_MEMORY,
    # A process of this machine. Nobody can tell who killed it, and memory that ran out is the worse of the two causes.
    "Killed": Reason.OUT_OF_MEMORY,
    "DeadlineExceeded": Reason.DEADLINE_EXCEEDED,
    "ImagePullBackOff": Reason.IMAGE_PULL_FAILED,
    "ErrImagePull": Reason.IMAGE_PULL_FAILED,
    "ErrImageNeverPull": Reason.IMAGE_PULL_FAILED,
    "InvalidImageName": Reason.IMAGE_PULL_FAILED,
    "Unschedulable": Reason.UNSCHEDULABLE,
    "OutOfDisk": Reason.OUT_OF_DISK,
    "Evicted": Reason.EVICTED,
    "Preempted": Reason.PREEMPTED,
    "NodeLost": Reason.NODE_LOST,
    "FailedCreate": Reason.POD_REFUSED,
    "CreateContainerConfigError": Reason.POD_REFUSED,
    "QuotaExceeded": Reason.QUOTA_EXCEEDED,
    "ServiceAccountMissing": Reason.SERVICE_ACCOUNT_MISSING,
    "SecretMissing": Reason.SECRET_MISSING,
    "ConfigMapMissing": Reason.VOLUME_MISSING,
    "FailedMount": Reason.VOLUME_MISSING,
    "FailedAttachVolume": Reason.VOLUME_MISSING,
}
_MORE = {
    FailureClass.OUT_OF_MEMORY: "raise the memory limit of the driver",
    FailureClass.OUT_OF_DISK: "give the run a larger volume",
}
_PATIENT = (FailureClass.CONTENTION, FailureClass.DISRUPTION)
# An image with an older engine ends with 3 where nothing was to be done.
_DONE = (0, 3)
_LONGEST_MESSAGE = 400


def class_of(reason: Reason) -> FailureClass | None:
    """None if the reason is not that of a failure."""
    return _CLASSES.get(reason)


def hindrance_of(run: RunSeen) -> Reason | None:
    """What keeps a run that waits from being started; None if nothing is known to."""
    return _BY_TROUBLE.get(run.trouble_reason) if run.phase is RunPhase.WAITING else None


def ending_of(run: RunSeen) -> tuple[Reason, str]:
    """How a run that is no longer live ended, in a word and in a sentence."""
    said = (run.report.reason if run.report is not None else "") or run.trouble
    if run.report is not None and run.report.outcome in _TOLD_BY_OUTCOME:
        return _TOLD_BY_OUTCOME[run.report.outcome], _cut(said)
    if _has_succeeded(run):
        return Reason.SUCCEEDED, _cut(said)
    if run.trouble_reason in _BY_TROUBLE:
        return _BY_TROUBLE[run.trouble_reason], _cut(run.trouble or said or run.trouble_reason)
    reason, why = _by_exit_code(run)
    return reason, _cut(said or why)


def _by_exit_code(run: RunSeen) -> tuple[Reason, str]:
    code = run.report.exit_code if run.report is not None and run.report.exit_code else run.exit_code
    match code:
        case None:
            return Reason.INFRASTRUCTURE, run.trouble_reason or "the run is gone, and nothing says how it ended"
        case 0:
            return Reason.INTERNAL, "it ended well by its exit code, and without a report of what it did"
        case 137 if run.is_stopping:
            return Reason.INFRASTRUCTURE, "ended by force after it had been asked to end"
        case 137:
            return Reason.INFRASTRUCTURE, "killed (exit code 137), and nothing says by whom"
    return _BY_EXIT_CODE.get(code, Reason.INTERNAL), f"exit code {code}"


# These say by themselves what became of it, whatever the exit code is.
_TOLD_BY_OUTCOME = {Outcome.INVALID: Reason.INVALID, Outcome.PLAN_CHANGED: Reason.PLAN_CHANGED}


def _has_succeeded(run: RunSeen) -> bool:
    if run.report is not None:
        return run.report.exit_code in _DONE and run.report.outcome not in (Outcome.FAILED, Outcome.INTERRUPTED)
    # Without its report a plan has no hash, and a validation no verdict.
    return run.exit_code in _DONE and run.action not in (Action.PLAN, Action.VALIDATE)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}…"


@dataclass(frozen=True, slots=True)
class Limits:
    """How often and how soon."""

    limit: int
    backoff_seconds: int
    max_backoff_seconds: int

    @staticmethod
    def of(execution: Execution, defaults: Defaults) -> "Limits":
        retry = execution.retry
        return Limits(
            limit=defaults.retry_limit if retry.limit is None else retry.limit,
            backoff_seconds=defaults.backoff_seconds if retry.backoff_seconds is None else retry.backoff_seconds,
            max_backoff_seconds=(
                defaults.max_backoff_seconds if retry.max_backoff_seconds is None else retry.max_backoff_seconds
            ),
        )

    def delay(self, failures: int, name: str) -> timedelta:
        """After so many failures; three quarters to all of the doubled time, the same for the same name."""
        if failures < 1:
            return timedelta()
        whole = min(self.backoff_seconds * 2 ** min(failures - 1, 30), self.max_backoff_seconds)
        jitter = int(digest(f"jitter/{name}"), 16) % 1000 / 1000
        return timedelta(seconds=whole * (0.75 + 0.25 * jitter))


@dataclass(frozen=True, slots=True)
class Past:
    """A run that has ended, as its record tells, or as the status still tells once that is gone.

    `is_shared`: it was for several resources, and its failure may be the fault of any of them.
    """

    name: str
    action: Action
    trigger: str
    attempt: int
    reason: Reason
    message: str
    started_at: datetime | None
    ended_at: datetime
    is_shared: bool = False

    @property
    def has_succeeded(self) -> bool:
        return self.reason in (Reason.SUCCEEDED, Reason.INVALID)


@dataclass(frozen=True, slots=True)
class Go:
    attempt: int


@dataclass(frozen=True, slots=True)
class BackOff:
    """`is_stalled`: for so long that somebody should know, though it goes on."""

    until: datetime
    why: Past
    failures: int
    is_stalled: bool = False


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Nothing is tried before the need itself changes."""

    reason: Reason
    message: str


Next = Go | BackOff | GiveUp


def next_attempt(tried: Sequence[Past], limits: Limits, now: datetime) -> Next:
    """What follows from all that was tried for one need, oldest first.

    Attempts are counted by their numbers, so records that are gone are not forgotten. What failed together with others
    says nothing of this one: it is waited after it, and counted from it anew.
    """
    if not tried:
        return Go(1)
    newest = tried[-1]
    if newest.has_succeeded or newest.reason is Reason.PLAN_CHANGED:
        return Go(newest.attempt + 1)
    fresh = (past.attempt for past in tried if past.has_succeeded or (past.is_shared and past is not newest))
    failures = newest.attempt - max(fresh, default=0)
    given_up = _given_up(tried, limits)
    if given_up is not None:
        return given_up
    until = newest.ended_at + limits.delay(failures, newest.name)
    if now >= until:
        return Go(newest.attempt + 1)
    is_stalled = is_tried_for_ever(newest.reason) and failures > limits.limit
    return BackOff(until, newest, failures, is_stalled)


def is_tried_for_ever(reason: Reason) -> bool:
    """Whether such a failure is nobody's fault, and neither counted against a limit nor given up."""
    return class_of(reason) in _PATIENT


def _given_up(tried: Sequence[Past], limits: Limits) -> GiveUp | None:
    newest = tried[-1]
    if newest.is_shared:
        return None
    match class_of(newest.reason):
        case FailureClass.CONTENTION | FailureClass.DISRUPTION:
            return None
        case FailureClass.CONFIGURATION:
            return GiveUp(
                Reason.BAD_CONFIGURATION,
                f"{newest.message} (run {newest.name}; not tried again before the spec changes)",
            )
        case (FailureClass.OUT_OF_MEMORY | FailureClass.OUT_OF_DISK) as short if _in_a_row(tried, only=short) > 1:
            return GiveUp(newest.reason, f"{short} twice (run {newest.name}): {_MORE[short]}; {newest.message}")
    in_a_row = _in_a_row(tried, only=None)
    if in_a_row > limits.limit:
        return GiveUp(Reason.RETRIES_EXHAUSTED, f"{in_a_row} failures, the last one {newest.reason}: {newest.message}")
    return None


def _in_a_row(tried: Sequence[Past], only: FailureClass | None) -> int:
    """How many of the newest failed of this class, or of any but those that are no fault of the run."""
    newest = tried[-1]
    for past in reversed(tried):
        found = class_of(past.reason)
        is_other = found is not only if only else found is None or found in _PATIENT
        if is_other or past.is_shared:
            return newest.attempt - past.attempt
    return newest.attempt - (tried[0].attempt - 1 if only else 0)
