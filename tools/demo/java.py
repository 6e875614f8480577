"""The Java writer as a process of ours: what it has committed, and answers to what it is asked."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tools.parts import bundle_jar
from tools.spark_session import FOR_SMALL_COMMITS

HUDI = "1.2.0"
_ROOT = Path(__file__).parents[2]
_LONG = 300.0
_END_SECONDS = 40


class WriterError(Exception):
    """The writer ended, or did not do in time what was waited for."""


@dataclass(frozen=True, slots=True)
class Commit:
    """Times are those of the clock. `keys` is how many there are from then on."""

    began: float
    ended: float
    rows: int
    keys: int
    is_right: bool


class JavaWriter:
    """Makes the table and commits to it from the moment it is entered until it is left. One JVM.

    `tell` is called with each commit, from a thread of its own.
    """

    def __init__(self, table: Path, tell: Callable[[int, Commit], None]) -> None:
        self.commits: list[Commit] = []
        self._tell = tell
        self._answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._scratch = tempfile.TemporaryDirectory(prefix="hudi-demo-jvm-")
        self._log = Path(self._scratch.name, "log")
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tools.demo.writer", str(bundle_jar(HUDI)), str(table)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self._scratch.name,  # Spark leaves its warehouse in the working folder
                env=self._environment(),
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, commits: int) -> None:
        """Until there are so many."""
        end = time.monotonic() + _LONG
        while len(self.commits) < commits:
            if self._process.poll() is not None or time.monotonic() > end:
                raise WriterError(self._last_words(f"{commits} commits expected, {len(self.commits)} there"))
            time.sleep(0.1)

    def commit_wrongly(self) -> Commit:
        """One commit as a job makes it that lacks the index's settings."""
        self._ask({"do": "commit wrongly"})
        end = time.monotonic() + _LONG
        while not (wrong := [commit for commit in self.commits if not commit.is_right]):
            if self._process.poll() is not None or time.monotonic() > end:
                raise WriterError(self._last_words("the misconfigured job did not commit"))
            time.sleep(0.05)
        return wrong[-1]

    def find(self, keys: Sequence[str]) -> Mapping[str, list[str]]:
        """Partition, file group and instant of each key that Java finds by the record index."""
        places: dict[str, list[str]] = self._answer({"do": "find", "keys": list(keys)})["places"]
        return places

    def count(self) -> tuple[int, int]:
        """Rows and different keys that Spark reads."""
        counted = self._answer({"do": "count"})
        return counted["rows"], counted["keys"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()  # the end of its input is the end of it, after the commit under way
        try:
            self._process.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._scratch.cleanup()

    def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        self._ask(question)
        try:
            return self._answers.get(timeout=_LONG)
        except queue.Empty:
            raise WriterError(self._last_words(f"no answer to {question}")) from None

    def _ask(self, question: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            print(json.dumps(question), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise WriterError(self._last_words(f"it was to do {question}")) from None

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            match json.loads(line):
                case {"event": "commit"} as said:
                    commit = Commit(*(said[name] for name in ("began", "ended", "rows", "keys", "is_right")))
                    self.commits.append(commit)
                    self._tell(len(self.commits), commit)
                case {"event": "found" | "counted"} as answer:
                    self._answers.put(answer)

    def _last_words(self, what: str) -> str:
        said = self._log.read_text(errors="replace")[-3000:]
        return f"the Java writer (Hudi {HUDI}): {what}; its log ends with: {said}"

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(_ROOT),
            "PYSPARK_PYTHON": sys.executable,
            "TZ": "UTC",
            "JAVA_TOOL_OPTIONS": FOR_SMALL_COMMITS,
            "SPARK_LOCAL_DIRS": self._scratch.name,
        }
