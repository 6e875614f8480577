"""`hudi-operator local` as a process of ours, what its resources say, and the records of its runs."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from hudi_engine.contract import Action, JobReport, RunProgress
from hudi_engine.format import properties
from hudi_operator.plugin.documents import Document
from hudi_operator.plugin.folder import Folder
from hudi_operator.words import Condition, Kind

_PROGRAM = Path(sys.executable).with_name("hudi-operator")
_LONG = 300.0
_STEPS_OF_BASE = ("read record keys", "write shards")
_END_SECONDS = 40


class OperatorError(Exception):
    """The operator ended, or did not reach in time what was waited for."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the operator's that has ended; times are those of the clock.

    Of a build: `base` is when keys were read and base files written. Before it comes the plan, after it the catch-up.
    """

    action: Action
    began: float
    ended: float
    exit_code: int
    report: JobReport
    base: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Sight:
    """What an index said from this moment on."""

    at: float
    state: str
    is_ready: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Flag:
    """Whether the table's own properties listed the record index as complete from this moment on."""

    at: float
    is_complete: bool


@dataclass(slots=True)
class LocalOperator:
    """Runs while entered; `tell` is called with each line that it prints. Beside it the table's flags are watched."""

    table: Path
    manifests: Path
    state: Path
    tell: Callable[[str], None]
    sights: list[Sight] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    printed: list[tuple[float, str]] = field(default_factory=list)
    # Of each run the first and the last word of that phase.
    _base: dict[str, tuple[float, float]] = field(default_factory=dict)
    _process: "subprocess.Popen[str] | None" = None
    _is_over: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def wait_for(self, what: str, is_so: Callable[[Self], bool]) -> None:
        """Until it is so; OperatorError if it does not become so."""
        end = time.monotonic() + _LONG
        while not is_so(self):
            assert self._process is not None
            if self._process.poll() is not None:
                raise OperatorError(f"hudi-operator ended with {self._process.returncode}; waited for: {what}")
            if time.monotonic() > end:
                raise OperatorError(f"after {_LONG:.0f} s still not seen: {what}; the index said {self.sights[-3:]}")
            time.sleep(0.1)

    def document(self, kind: Kind) -> Document | None:
        """Its resource of that kind, of which the demo has one each."""
        return next((each for each in Folder(self.state).documents() if each.ref.kind is kind), None)

    def runs(self, *actions: Action) -> list[Run]:
        """Those that have ended, the oldest first."""
        found = (self._run(file.parent) for file in self.state.glob("runs/*/exit"))
        return sorted((run for run in found if run is not None and run.action in actions), key=lambda run: run.began)

    def __enter__(self) -> Self:
        self.state.mkdir()
        command = [str(_PROGRAM), "local", "-f", str(self.manifests), "--state", str(self.state), "--stay"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for work in (self._print, self._watch):
            self._threads.append(threading.Thread(target=work, daemon=True))
            self._threads[-1].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._is_over.set()
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join()

    def _print(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.printed.append((time.time(), line))
            self.tell(line.rstrip("\n"))

    def _watch(self) -> None:
        while not self._is_over.wait(0.1):
            self._note_flag()
            for file in self.state.glob("runs/*/progress.json"):
                self._note_progress(file)
            index = self.document(Kind.INDEX)
            if index is None:
                continue
            ready = index.claim(Condition.READY)
            sight = Sight(
                time.time(), index.state, bool(ready and ready.status == "True"), ready.reason if ready else ""
            )
            if not self.sights or _said(self.sights[-1]) != _said(sight):
                self.sights.append(sight)

    def _note_flag(self) -> None:
        try:
            found = properties.parse((self.table / ".hoodie/hoodie.properties").read_bytes())
        except FileNotFoundError:
            return  # being replaced
        is_complete = "record_index" in found.get("hoodie.table.metadata.partitions", "").split(",")
        if is_complete != (bool(self.flags) and self.flags[-1].is_complete):
            self.flags.append(Flag(time.time(), is_complete))

    def _note_progress(self, file: Path) -> None:
        try:
            progress = RunProgress.from_json(file.read_text().strip())
        except FileNotFoundError:
            return
        if progress.phase == "base":
            said = progress.updated_ms / 1000
            first, _ = self._base.get(file.parent.name, (said, said))
            self._base[file.parent.name] = (first, said)

    def _run(self, folder: Path) -> Run | None:
        """None of a run that ended without a report, or is forgotten meanwhile."""
        try:
            order = json.loads((folder / "order.json").read_text())
            code, _, at = (folder / "exit").read_text().partition(" ")
            report = JobReport.from_json((folder / "report.json").read_text())
        except FileNotFoundError:
            return None
        began, ended = order["created_ms"] / 1000, float(at)
        first, last = self._base.get(folder.name, (ended, ended))
        seconds = sum(report.seconds.get(step, 0.0) for step in _STEPS_OF_BASE)
        # Words come a second apart at most, so that what was measured tells where the phase began.
        until = min(max(last, first + seconds), ended)
        base = (max(until - seconds, began), until) if seconds else None
        return Run(Action(json.loads(order["request"])["action"]), began, ended, int(code), report, base)


def _said(sight: Sight) -> tuple[str, bool, str]:
    return sight.state, sight.is_ready, sight.reason
