"""What is asked of the engine and what it answers: one request in, one report out, both JSON that anybody may write.

Imports nothing of the engine, so that a program that only starts jobs and reads their reports needs nothing else.
"""

from hudi_engine.contract.fields import Malformed
from hudi_engine.contract.grant import ANY, Grant
from hudi_engine.contract.observe import MAX_ANSWER_BYTES, MAX_QUESTION_BYTES, ObserveAnswer, ObserveRequest
from hudi_engine.contract.place import is_within, place_of
from hudi_engine.contract.progress import MAX_PROGRESS_BYTES, MAX_SAID, RunProgress
from hudi_engine.contract.report import (
    MAX_PHASE,
    MAX_PHASES,
    MAX_REPORT_BYTES,
    JobReport,
    KindReport,
    LockHolds,
    Outcome,
)
from hudi_engine.contract.request import (
    DEFAULT_MEMORY_BYTES,
    MAX_COLUMNS,
    MAX_REQUEST_BYTES,
    Action,
    ComputeKind,
    DuplicateKeys,
    JobRequest,
)
from hudi_engine.contract.seen import (
    MAX_COLUMNS_SEEN,
    MAX_PENDING,
    MAX_SENTENCE,
    IndexSeen,
    IndexState,
    PendingSeen,
    TableSeen,
    TableUnseen,
    TimelineSeen,
    UnseenReason,
)
from hudi_engine.contract.text import printable

__all__ = [
    "ANY",
    "DEFAULT_MEMORY_BYTES",
    "MAX_ANSWER_BYTES",
    "MAX_COLUMNS",
    "MAX_COLUMNS_SEEN",
    "MAX_PENDING",
    "MAX_PHASE",
    "MAX_PHASES",
    "MAX_PROGRESS_BYTES",
    "MAX_QUESTION_BYTES",
    "MAX_REPORT_BYTES",
    "MAX_REQUEST_BYTES",
    "MAX_SAID",
    "MAX_SENTENCE",
    "Action",
    "ComputeKind",
    "DuplicateKeys",
    "Grant",
    "IndexSeen",
    "IndexState",
    "JobReport",
    "JobRequest",
    "KindReport",
    "LockHolds",
    "Malformed",
    "ObserveAnswer",
    "ObserveRequest",
    "Outcome",
    "PendingSeen",
    "RunProgress",
    "TableSeen",
    "TableUnseen",
    "TimelineSeen",
    "UnseenReason",
    "is_within",
    "place_of",
    "printable",
]
