"""The lock of Hudi's FileSystemBasedLockProvider: whoever creates the file has it (hudi-format 7.3).

Java looks at nothing but the file's existence, and at its age if an expiry is configured. It deletes the file when it
lets go, and when a client closes, whether the file is its own or not: so we look again before we publish.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from hudi_engine.clock import Clock
from hudi_engine.concurrency.owner import Owner
from hudi_engine.errors import (
    AlreadyExists,
    Contradiction,
    EngineError,
    LockLost,
    LockUnavailable,
    NotFound,
    OutcomeUnknown,
)
from hudi_engine.storage.protocol import FileStat, Storage

EXPIRE_KEY = "hoodie.write.lock.filesystem.expire"

_PAUSE_SECONDS = 0.2
_SETTLE_SECONDS = 1.0
_MARGIN_MS = 10_000
"""So long before a configured expiry nothing is begun any more: others may take the file away at the expiry."""


@dataclass(frozen=True, slots=True)
class LockFile:
    """Where the file is, and after how long it may be taken over; 0 means never."""

    storage: Storage
    path: str
    expire_ms: int

    @property
    def shown(self) -> str:
        return f"{self.storage.location}/{self.path}"

    def content(self) -> bytes | None:
        try:
            return self.storage.read(self.path)
        except NotFound:
            return None

    def stat(self) -> FileStat | None:
        folder = self.path.rpartition("/")[0]
        return next((file for file in self.storage.list(folder) if file.path == self.path), None)


class FileSystemLock:
    """`Lock` by a file that is created once. Waiting is polling: who comes first after a release is chance."""

    def __init__(self, file: LockFile, clock: Clock, owner: Owner) -> None:
        self._file = file
        self._clock = clock
        self._owner = owner
        self._content = b""
        self._since_ms = 0

    def acquire(self, wait_seconds: float) -> None:
        if self._content:
            raise Contradiction(f"{self._file.shown}: {self._owner} holds this lock already")
        until_ms = self._clock.now_ms() + round(wait_seconds * 1000)
        while not (self._create() or self._take_over()):
            if self._clock.now_ms() >= until_ms:
                raise LockUnavailable(self._refusal(wait_seconds))
            self._clock.sleep(_PAUSE_SECONDS)

    def release(self) -> None:
        # So near to the expiry the file may be another's before the deletion arrives: it stays, and expires.
        if self._content and self._file.content() == self._content and not self._is_expiring():
            self._file.storage.delete(self._file.path)
        self._content = b""

    def require_held(self) -> None:
        if not self._content:
            raise LockLost(f"{self._file.shown}: {self._owner} does not hold this lock")
        try:
            found = self._file.content()
        except EngineError as failure:
            raise LockLost(f"{self._file.shown}: nobody can say whose it is: {failure}; repeat") from failure
        if found != self._content:
            whose = "gone" if found is None else f"held by {_holder(found)}"
            raise LockLost(
                f"{self._file.shown}: this lock of {self._owner} is {whose}. Hudi's own writers delete the file when "
                "they close, whoever made it. Nothing was published since; run the same request again."
            )
        if self._is_expiring():
            raise LockLost(
                f"{self._file.shown}: held for {self._held_ms()} ms of the {self._file.expire_ms} ms after which "
                f"others may take it; nothing was published since. Raise {EXPIRE_KEY} for all writers and run it again."
            )

    def _is_expiring(self) -> bool:
        return self._file.expire_ms > 0 and self._held_ms() > self._file.expire_ms - _MARGIN_MS

    def _held_ms(self) -> int:
        return self._clock.now_ms() - self._since_ms

    def _create(self) -> bool:
        since_ms, content = self._new_content()
        try:
            self._file.storage.create(self._file.path, content)
        except AlreadyExists:
            return False
        except OutcomeUnknown:
            if self._file.content() != content:
                raise
        self._since_ms, self._content = since_ms, content
        return True

    def _take_over(self) -> bool:
        """Whether an expired file became ours.

        Never deleted first: of two that found it expired the second would delete the file of the first. Each writes
        its own content over it and, after all who saw the old file have done so, the last one has it.
        """
        seen = self._file.stat()
        if not self._file.expire_ms or seen is None or self._clock.now_ms() - seen.modified_ms <= self._file.expire_ms:
            return False
        before = self._file.content()
        since_ms, content = self._new_content()
        if before is None or self._file.stat() != seen:
            return False
        self._file.storage.replace(self._file.path, content)
        self._clock.sleep(_SETTLE_SECONDS)
        if self._file.content() != content:
            return False
        self._since_ms, self._content = since_ms, content
        return True

    def _new_content(self) -> tuple[int, bytes]:
        """Now, and Java's own JSON of this moment with our owner in it: Java shows it to people, no more."""
        now_ms = self._clock.now_ms()
        created = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        said = {"lockCreateTime": created, "lockThreadName": str(self._owner), "lockStacksInfo": []}
        return now_ms, json.dumps(said, indent=2, separators=(",", " : ")).encode()

    def _refusal(self, wait_seconds: float) -> str:
        stat, content = self._file.stat(), self._file.content()
        if stat is None or content is None:
            return f"{self._file.shown}: others held this lock for all of {wait_seconds:g} seconds; try again later"
        age_seconds = (self._clock.now_ms() - stat.modified_ms) / 1000
        advice = (
            ""
            if self._file.expire_ms
            else f" If it died, delete that file, and set {EXPIRE_KEY} (minutes) for all writers."
        )
        return (
            f"{self._file.shown}: held by {_holder(content)} for {age_seconds:.0f} seconds; {self._owner} waited "
            f"{wait_seconds:g} seconds. Try again when it has ended.{advice}"
        )


def _holder(content: bytes) -> str:
    """Who a lock file says it is. Hudi's own writers leave it empty, whatever their source means to write."""
    try:
        said = json.loads(content)
        return str(said["lockThreadName"])
    except (ValueError, KeyError, TypeError):
        return "a writer that does not say who it is"
