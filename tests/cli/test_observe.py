"""`hudi-engine observe` as the process that the operator keeps: lines in, lines out, and how it ends."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hudi_engine.contract import (
    MAX_QUESTION_BYTES,
    ObserveAnswer,
    ObserveRequest,
    TableSeen,
    TableUnseen,
    UnseenReason,
)
from tests.kit.commands import ENGINE

Golden = Callable[[str], Path]
CANARY = "canary-0451-of-the-observer"


@dataclass(frozen=True, slots=True)
class Talk:
    """The process and a way to ask it."""

    process: "subprocess.Popen[bytes]"

    def say(self, line: bytes) -> ObserveAnswer:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return ObserveAnswer.from_json(self.process.stdout.readline())

    def ask(self, request: ObserveRequest) -> ObserveAnswer:
        return self.say(request.to_json().encode())

    def resident_bytes(self) -> int:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def talking(environment: Mapping[str, str] | None = None) -> Iterator[Talk]:
    """Ends well by itself as its input ends."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [ENGINE, "observe"], stdin=pipe, stdout=pipe, stderr=pipe, env={**os.environ, **(environment or {})}
    )
    try:
        yield Talk(process)
    finally:
        if process.poll() is None:
            process.communicate(timeout=30)
    assert process.returncode == 0


def test_questions_are_answered_in_order_and_a_line_that_is_none_ends_nothing(golden: Golden, tmp_path: Path) -> None:
    table = str(golden("v9_mor_indexed"))
    with talking() as talk:
        first = talk.ask(ObserveRequest(1, table))
        assert isinstance(first.found, TableSeen)
        odd = [talk.say(line) for line in (b"{", b'{"version": 1, "id": 2}', b"\xff", b"x" * (MAX_QUESTION_BYTES * 2))]
        missing = talk.ask(ObserveRequest(3, str(tmp_path / "nothing")))
        last = talk.ask(ObserveRequest(4, table, known=first.found.fingerprint))

    for answer in odd:
        assert isinstance(answer.found, TableUnseen)
        assert answer.found.message.startswith("no ObserveRequest: ")
    assert [answer.id for answer in odd] == [None, 2, None, None]
    assert isinstance(missing.found, TableUnseen)
    assert (missing.id, missing.found.reason) == (3, UnseenReason.NOT_FOUND)
    assert (last.id, last.found) == (4, None)


def test_it_ends_with_0_when_told_to() -> None:
    with talking() as talk:
        talk.ask(ObserveRequest(1, "/nowhere"))
        talk.process.send_signal(signal.SIGTERM)
        _, told = talk.process.communicate(timeout=30)

    assert told == b""


def test_memory_stays_flat_however_often_a_table_is_looked_at(golden: Golden) -> None:
    table = golden("v9_mor_indexed")
    with talking() as talk:
        for _ in range(50):
            talk.ask(ObserveRequest(1, str(table)))
        before = talk.resident_bytes()
        for _ in range(300):
            talk.ask(ObserveRequest(1, str(table)))
        after = talk.resident_bytes()

    assert after - before < 8 << 20


@pytest.mark.parametrize("debug", ["", "1"])
def test_no_secret_is_told_whatever_fails(debug: str, golden: Golden, tmp_path: Path) -> None:
    table, folder = golden("v9_mor_indexed"), tmp_path / "secrets"
    folder.mkdir()
    (folder / "fs.s3a.secret.key").write_text(CANARY)
    (folder / "fs.s3a.access.key").write_text(f"access-{CANARY}")
    (folder / "hoodie.client.heartbeat.interval_in_ms").write_text(f"not a number: {CANARY}")
    endpoint = {"fs.s3a.endpoint": "http://127.0.0.1:9", "fs.s3a.endpoint.region": "x"}
    with talking({"HUDI_ENGINE_DEBUG": debug}) as talk:
        answers = [
            talk.ask(ObserveRequest(1, str(table), conf_from=(str(folder),))),
            talk.ask(ObserveRequest(2, "s3a://bucket/table", endpoint, (str(folder),))),
            talk.say(f'{{"version": 1, "id": 3, "table": "{CANARY}\\n"}}'.encode()),
        ]
        told = b"".join(talk.process.communicate(timeout=60))

    assert all(isinstance(answer.found, TableUnseen) for answer in answers)
    assert CANARY not in "".join(answer.to_json() for answer in answers)
    assert CANARY.encode() not in told
