"""Every way in which the engine says no.

    EngineError
    ├── NotFound             10  no such path, bucket or file
    ├── NotATable            11  something is there, but no Hudi table
    ├── AccessDenied         12  the store refuses us
    ├── StorageUnavailable   13  the store does not answer, or answers with a fault      (retry)
    ├── NoSpaceLeft          14  disk full or quota reached                              (retry)
    ├── AlreadyExists        15  somebody else created it first; nothing was written
    ├── OutcomeUnknown       16  a write may have landed though its answer was lost      (retry after a look)
    ├── CorruptFile          17  torn or damaged bytes: names the file and the offset
    ├── Unsupported          18  understood well enough to know that we must not go on
    ├── UnsafePath           19  a name that leads outside the table
    ├── Contradiction        20  the table or the configuration says two things that cannot both hold
    ├── Busy                 21  another runner works on the same plan, and lives          (retry)
    ├── LockUnavailable      22  others held the lock for all of the time given            (retry)
    ├── LockLost             23  the lock may be another's by now; nothing was published   (retry)
    ├── Superseded           24  a newer attempt took this plan over; nothing was published
    ├── TimedOut             25  others did not finish in the time given; what was begun is undone   (retry)
    ├── PlanChanged          26  what would be built is not what was approved; nothing was written
    ├── NotAllowed           27  the policy of whoever asks does not allow it; nothing was opened
    └── LockUnreachable      28  the service that keeps the lock does not answer           (retry)

Raise leaves only. Each message says what was found, what was expected, where, and what to do next. The number is
the exit code of `hudi-engine`; `retry` says whether the same call may succeed later with nothing else changed.
"""

from typing import ClassVar


class EngineError(Exception):
    """The root: never raised itself."""

    exit_code: ClassVar[int] = 1
    retry: ClassVar[bool] = False


class NotFound(EngineError):
    """The store answered that nothing is there."""

    exit_code = 10


class NotATable(EngineError):
    """The path exists and is no Hudi table."""

    exit_code = 11


class AccessDenied(EngineError):
    """The store knows us and says no, or does not know us."""

    exit_code = 12


class StorageUnavailable(EngineError):
    """The store did not answer or answered with a fault of its own."""

    exit_code = 13
    retry = True


class NoSpaceLeft(EngineError):
    """The disk is full or a quota is reached; what stood before is untouched."""

    exit_code = 14
    retry = True


class AlreadyExists(EngineError):
    """A `create` lost: the name was taken. Nothing was written."""

    exit_code = 15


class OutcomeUnknown(EngineError):
    """A write may have been applied though its answer was lost: read before deciding anything."""

    exit_code = 16
    retry = True


class CorruptFile(EngineError):
    """Bytes that cannot be what the format promises.

    Parsers know offsets but no names; whoever read the bytes adds the path with `in_file`.
    """

    exit_code = 17

    def __init__(self, what: str, offset: int, path: str = "") -> None:
        super().__init__(what, offset, path)
        self.what = what
        self.offset = offset
        self.path = path

    def __str__(self) -> str:
        return f"{self.path or '<bytes>'}: corrupt at offset {self.offset}: {self.what}"

    def in_file(self, path: str) -> "CorruptFile":
        return CorruptFile(self.what, self.offset, self.path or path)


class Unsupported(EngineError):
    """A version, action, payload or property that the engine knows it must not guess about."""

    exit_code = 18


class UnsafePath(EngineError):
    """A name read from a table or a request that resolves outside the base path."""

    exit_code = 19


class Contradiction(EngineError):
    """Two statements about one table that cannot both be true."""

    exit_code = 20


class Busy(EngineError):
    """Another runner of the same plan lives: its heartbeat says so."""

    exit_code = 21
    retry = True


class LockUnavailable(EngineError):
    """Others held the table's lock for all of the time given."""

    exit_code = 22
    retry = True


class LockLost(EngineError):
    """The lock was held, and nobody can say that it still is: nothing was published since."""

    exit_code = 23
    retry = True


class Superseded(EngineError):
    """A newer attempt has taken the plan over: whatever this one made is not in effect and never will be."""

    exit_code = 24


class TimedOut(EngineError):
    """Others did not finish in the time given; what was begun is undone."""

    exit_code = 25
    retry = True


class PlanChanged(EngineError):
    """What would be built now is not what somebody has planned and approved; nothing was written."""

    exit_code = 26


class NotAllowed(EngineError):
    """Whoever asks on behalf of others does not let them open this; nothing was opened."""

    exit_code = 27


class LockUnreachable(EngineError):
    """The service that keeps the table's lock does not answer: no writer can commit."""

    exit_code = 28
    retry = True
