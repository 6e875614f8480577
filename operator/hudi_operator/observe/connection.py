"""One living `hudi-engine observe` and the questions that it has not answered yet."""

import asyncio
import contextlib
import logging
import os
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hudi_engine.contract import MAX_ANSWER_BYTES, Malformed, ObserveAnswer, ObserveRequest, printable

log = logging.getLogger(__name__)

_KEPT_WORDS = 5
_LONGEST_WORDS = 300
_ENDS_IN_SECONDS = 2.0


class Gone(Exception):
    """The process ended, or said what nobody understands, before it answered; the message says what it said last."""


@dataclass(slots=True)
class Connection:
    """Answers come in any order and are told apart by their number; whoever asked waits, and nobody else does."""

    process: asyncio.subprocess.Process
    _waiting: dict[int, asyncio.Future[ObserveAnswer]] = field(default_factory=dict)
    _words: deque[str] = field(default_factory=lambda: deque(maxlen=_KEPT_WORDS))
    _readers: list[asyncio.Task[None]] = field(default_factory=list)
    _is_over: bool = False
    has_answered: bool = False

    @staticmethod
    async def opened(command: Sequence[str], environment: Mapping[str, str] | None = None) -> "Connection":
        """Of a process with that environment, ours unless given."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            limit=MAX_ANSWER_BYTES + 1,
            start_new_session=True,
            env=environment,
        )
        connection = Connection(process)
        connection._readers += [
            asyncio.create_task(connection._read_answers()),
            asyncio.create_task(connection._read_words()),
        ]
        log.info("observer started: process=%d", process.pid)
        return connection

    @property
    def is_over(self) -> bool:
        return self._is_over

    @property
    def resident_bytes(self) -> int:
        """Its memory; 0 where the system does not tell."""
        try:
            with open(f"/proc/{self.process.pid}/statm") as statm:
                return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return 0

    async def ask(self, question: ObserveRequest) -> ObserveAnswer:
        """Its answer, or `Gone`. Whoever stops waiting leaves nothing behind."""
        if self._is_over:
            raise Gone(self._last_words())
        answer: asyncio.Future[ObserveAnswer] = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = answer
        try:
            assert self.process.stdin is not None, "opened with a pipe"
            self.process.stdin.write(question.to_json().encode() + b"\n")
            await self.process.stdin.drain()
            return await answer
        except (BrokenPipeError, ConnectionResetError) as gone:
            raise Gone(self._last_words()) from gone
        finally:
            self._waiting.pop(question.id, None)

    async def close(self) -> None:
        """Ended, with nothing left of it: by the end of its input, else by force."""
        assert self.process.stdin is not None, "opened with a pipe"
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), _ENDS_IN_SECONDS)
        except TimeoutError:
            await self.kill()
        await asyncio.gather(*self._readers)

    async def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        await asyncio.gather(*self._readers)

    async def _read_answers(self) -> None:
        assert self.process.stdout is not None, "opened with a pipe"
        try:
            while line := await self.process.stdout.readline():
                answer = ObserveAnswer.from_json(line.decode())
                self.has_answered = True
                waiting = None if answer.id is None else self._waiting.get(answer.id)
                # Whoever asked may have stopped waiting.
                if waiting is not None and not waiting.done():
                    waiting.set_result(answer)
        except (Malformed, ValueError) as unclear:
            # What comes after it cannot be told apart from the rest of it.
            self._words.append(f"an answer that is not understood: {str(unclear)[:_LONGEST_WORDS]}")
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
        self._is_over = True
        await self.process.wait()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(Gone(self._last_words()))

    async def _read_words(self) -> None:
        assert self.process.stderr is not None, "opened with a pipe"
        while line := await self.process.stderr.readline():
            words = printable(line.decode(errors="replace").rstrip()[:_LONGEST_WORDS])
            self._words.append(words)
            log.warning("observer: %s", words)

    def _last_words(self) -> str:
        code = self.process.returncode
        return f"exit code {code}: {self._words[-1]}" if self._words else f"exit code {code}"
