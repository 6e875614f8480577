"""The folder that is the record of one run, and what can be told from it.

order.json     what was ordered, and for whom; there from the first moment on
lock           held by the keeper and by the engine as long as one of them lives
keeper engine  their processes: number and beginning
stop           somebody wants it stopped
overdue        it was stopped because its time was over
progress.json  the engine's newest word, report.json its last one
out err        what it printed
exit           how it ended, and when
lost           why it never ran
secrets/       properties that must not be seen; gone once the run has ended
"""

import fcntl
import json
import os
import re
import shutil
import signal
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hudi_engine.contract import Action, JobRequest, Malformed
from hudi_engine.contract.fields import Fields, a_text, a_whole, one_of
from hudi_operator.launch.keeper import start_of
from hudi_operator.resources.model import Ref
from hudi_operator.runs import RunKey, RunOrder
from hudi_operator.words import Kind

MAX_ORDER_BYTES = 1 << 20
_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_LONGEST_LAST_WORDS = 500


@dataclass(frozen=True, slots=True)
class Ordered:
    """What a record says of its run besides how it goes."""

    name: str
    owner: Ref
    owner_uid: str
    table: str
    action: Action
    trigger: str
    attempt: int
    created_ms: int
    base_path: str
    kinds: tuple[str, ...]

    @property
    def key(self) -> RunKey:
        return RunKey(self.owner.namespace, self.name, self.owner_uid)

    @property
    def created_at(self) -> datetime:
        return datetime.fromtimestamp(self.created_ms / 1000, UTC)

    @staticmethod
    def from_json(text: bytes) -> "Ordered":
        """The order as it was written down, or `Malformed`."""
        given = Fields.parsed(text, "order.json", MAX_ORDER_BYTES)
        owner = given.take("owner", Fields.of)
        request = JobRequest.from_json(given.take("request", a_text))
        return Ordered(
            name=given.take("name", a_text),
            owner=Ref(owner.take("kind", one_of(Kind)), owner.take("namespace", a_text), owner.take("name", a_text)),
            owner_uid=given.take("owner_uid", a_text),
            table=given.take("table", a_text),
            action=request.action,
            trigger=given.take("trigger", a_text),
            attempt=given.take("attempt", a_whole),
            created_ms=given.take("created_ms", a_whole),
            base_path=request.table,
            kinds=request.kinds,
        )


def order_text(order: RunOrder, created_ms: int) -> str:
    owner = {"kind": order.owner.kind, "namespace": order.owner.namespace, "name": order.owner.name}
    tree = {
        "version": 1,
        "name": order.name,
        "owner": owner,
        "owner_uid": order.owner_uid,
        "table": order.table,
        "trigger": order.trigger,
        "attempt": order.attempt,
        "created_ms": created_ms,
        "request": order.request.to_json(),
    }
    return json.dumps(tree)


@dataclass(frozen=True, slots=True)
class Process:
    """A process as it named itself."""

    number: int
    start: str

    @property
    def is_itself(self) -> bool:
        """The number has not become another process's."""
        try:
            os.kill(self.number, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return start_of(self.number) == self.start

    def signal(self, what: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.number, what)


@dataclass(frozen=True, slots=True)
class RunFolder:
    path: Path

    def create(self, order: str) -> bool:
        """The folder with its order, made in one step; false if there is one already."""
        draft = self.path.with_name(f".{self.path.name}-{uuid.uuid4().hex}")
        draft.mkdir(mode=0o700)
        try:
            write_private(draft / "lock", b"")
            write_private(draft / "order.json", order.encode())
            draft.rename(self.path)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
            if self.path.is_dir():
                return False
            raise
        return True

    def ordered(self) -> Ordered:
        """What was ordered; FileNotFoundError if there is no such record, `Malformed` if it is none of ours."""
        ordered = Ordered.from_json((self.path / "order.json").read_bytes())
        if ordered.name != self.path.name:
            raise Malformed(f"order.json: of the run {ordered.name!r}, expected {self.path.name!r}")
        return ordered

    def has(self, name: str) -> bool:
        return (self.path / name).exists()

    @property
    def is_unbegun(self) -> bool:
        """No process of it has ever run, nor was it given up."""
        return not (self.has("keeper") or self.has("exit") or self.has("lost"))

    @property
    def is_held(self) -> bool:
        """Some process of the run lives."""
        with _opened(self.path / "lock") as lock:
            return not _is_locked_now(lock, fcntl.LOCK_SH)

    @contextmanager
    def held(self) -> Iterator[int | None]:
        """The open lock file, locked until it is closed everywhere; None if somebody else holds it."""
        with _opened(self.path / "lock") as lock:
            yield lock if _is_locked_now(lock, fcntl.LOCK_EX) else None

    def process(self, name: str) -> Process | None:
        number, _, start = self.text(name).partition(" ")
        return Process(int(number), start) if number.isdigit() else None

    def text(self, name: str) -> str:
        """What the file says; empty if it is not there."""
        try:
            return (self.path / name).read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def changed_at(self, name: str) -> datetime | None:
        try:
            return datetime.fromtimestamp((self.path / name).stat().st_mtime, UTC)
        except FileNotFoundError:
            return None

    def write(self, name: str, text: str) -> None:
        """The file appears whole or not at all."""
        draft = self.path / f".{name}-{uuid.uuid4().hex}"
        write_private(draft, text.encode())
        draft.rename(self.path / name)

    def last_words(self) -> str:
        """The last line that the run wrote for people."""
        try:
            with (self.path / "err").open("rb") as file:
                file.seek(max(file.seek(0, os.SEEK_END) - 4_096, 0))
                lines = file.read().decode(errors="replace").split("\n")
        except FileNotFoundError:
            return ""
        return next((line.strip()[-_LONGEST_LAST_WORDS:] for line in reversed(lines) if line.strip()), "")

    def remove(self) -> None:
        """Gone in one step, whatever interrupts the rest."""
        doomed = self.path.with_name(f".{self.path.name}-{uuid.uuid4().hex}")
        try:
            self.path.rename(doomed)
        except FileNotFoundError:
            return
        shutil.rmtree(doomed)

    def remove_secrets(self) -> None:
        shutil.rmtree(self.path / "secrets", ignore_errors=True)


def write_secrets(place: Path, secrets: Mapping[str, Mapping[str, bytes]]) -> tuple[str, ...]:
    """A private folder for each secret, a private file for each of its keys, as Kubernetes mounts them.

    Answers with the folders. A key that is no name of a file is a ValueError.
    """
    place.mkdir(mode=0o700, exist_ok=True)
    for name, entries in secrets.items():
        (place / name).mkdir(mode=0o700)
        for key, value in entries.items():
            if not _KEY.fullmatch(key) or key in {".", ".."}:
                raise ValueError(f"the secret {name!r} has the key {key!r}, expected letters, digits, '-', '_' and '.'")
            write_private(place / name / key, value)
    return tuple(str(place / name) for name in secrets)


def write_private(path: Path, content: bytes) -> None:
    """A new file that nobody else may read, on disk when this returns."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR)
    try:
        yield file
    finally:
        os.close(file)


def _is_locked_now(file: int, how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
