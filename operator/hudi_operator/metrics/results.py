"""How a run ended, in one word of few."""

from enum import StrEnum

from hudi_operator.retry import FailureClass, class_of, ending_of
from hudi_operator.runs import RunSeen
from hudi_operator.words import Reason


class Result(StrEnum):
    """Failures by what they are the fault of, as retries are."""

    SUCCEEDED = "succeeded"
    INVALID = "invalid"  # a validation that found an index to differ from the data
    PLAN_CHANGED = "plan_changed"
    CONFIGURATION = "configuration"
    CONTENTION = "contention"
    INFRASTRUCTURE = "infrastructure"
    DISRUPTION = "disruption"
    OUT_OF_MEMORY = "out_of_memory"
    OUT_OF_DISK = "out_of_disk"
    INTERNAL = "internal"


_OF_REASONS = {
    Reason.SUCCEEDED: Result.SUCCEEDED,
    Reason.INVALID: Result.INVALID,
    Reason.PLAN_CHANGED: Result.PLAN_CHANGED,
}
_OF_CLASSES = {
    FailureClass.CONFIGURATION: Result.CONFIGURATION,
    FailureClass.CONTENTION: Result.CONTENTION,
    FailureClass.INFRASTRUCTURE: Result.INFRASTRUCTURE,
    FailureClass.DISRUPTION: Result.DISRUPTION,
    FailureClass.OUT_OF_DISK: Result.OUT_OF_DISK,
    FailureClass.OUT_OF_MEMORY: Result.OUT_OF_MEMORY,
    FailureClass.INTERNAL: Result.INTERNAL,
}


def result_of(run: RunSeen) -> Result:
    """The run's, which is no longer live."""
    reason, _ = ending_of(run)
    failure = class_of(reason)
    return _OF_CLASSES[failure] if failure is not None else _OF_REASONS[reason]
