"""What is asked of the engine and what it answers: one request in, one report out, both JSON that anybody may write.

Imports nothing of the engine, so that a program that only starts jobs and reads their reports needs nothing else.
"""

from hudi_engine.contract.fields import Malformed
from hudi_engine.contract.report import JobReport, KindReport, LockHolds, Outcome
from hudi_engine.contract.request import DEFAULT_MEMORY_BYTES, Action, ComputeKind, JobRequest

__all__ = [
    "DEFAULT_MEMORY_BYTES",
    "Action",
    "ComputeKind",
    "JobReport",
    "JobRequest",
    "KindReport",
    "LockHolds",
    "Malformed",
    "Outcome",
]
