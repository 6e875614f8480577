"""Cases in a process of their own, which may hang, grow or die without taking the run along."""

import json
import mmap
import os
import resource
import signal
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.fuzz.cases import Case, Target
from tests.fuzz.judge import judge

_NOTHING = -1


@dataclass(frozen=True, slots=True)
class Limits:
    """What one case may take. Memory is what the process grew by since it was forked, its dead weight left out."""

    cpu_seconds: float = 5.0
    wall_seconds: float = 60.0
    growth_bytes: int = 512 << 20
    ceiling_bytes: int = 2 << 30


@dataclass(frozen=True, slots=True)
class Job:
    """Some cases of a target, the same ones whenever they are asked for. Without `until` all of them are tried."""

    target: Target
    cases: Callable[[], Iterator[Case]]
    first: int = 0
    until: float | None = None

    def case(self, number: int) -> Case:
        """The case of this number, made again."""
        return next(case for at, case in enumerate(self.cases()) if at == number)


@dataclass(slots=True)
class Tally:
    """What came of some cases."""

    cases: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    slowest_ms: float = 0.0
    slowest: str = ""
    growth_bytes: int = 0
    heaviest: str = ""

    def note(self, outcome: str, cpu_ms: float, growth_bytes: int, case: Case) -> None:
        """One more case."""
        self.cases += 1
        self.outcomes[outcome] += 1
        if cpu_ms > self.slowest_ms:
            self.slowest_ms, self.slowest = cpu_ms, f"{case.seed}, {case.mutation}"
        if growth_bytes > self.growth_bytes:
            self.growth_bytes, self.heaviest = growth_bytes, f"{case.seed}, {case.mutation}"

    def add(self, other: "Tally") -> None:
        """What came of other cases of the same target."""
        self.cases += other.cases
        self.outcomes += other.outcomes
        if other.slowest_ms > self.slowest_ms:
            self.slowest_ms, self.slowest = other.slowest_ms, other.slowest
        if other.growth_bytes > self.growth_bytes:
            self.growth_bytes, self.heaviest = other.growth_bytes, other.heaviest


@dataclass(frozen=True, slots=True)
class Finding:
    """A case that ended as none may."""

    target: str
    case: Case
    fault: str


class Worker:
    """A forked process at work on a job; what it is at stands on a board that outlives it."""

    def __init__(self, job: Job, limits: Limits) -> None:
        self.job = job
        self._limits = limits
        # One number, so that it is written in one go: `struct` would write noughts first, for the other side to read.
        self._board = memoryview(mmap.mmap(-1, 8)).cast("q")
        self._board[0] = _NOTHING
        self._seen, self._since = _NOTHING, time.monotonic()
        self._text = bytearray()
        self._was_too_long = False
        self.pipe, child_end = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            status = 1
            try:
                os.close(self.pipe)
                _work(job, limits, self._board, child_end)
                status = 0
            except BaseException:  # noqa: BLE001  nothing of the parent's may run here
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(child_end)

    def receive(self) -> bool:
        """Take what it has sent; False once there is nothing more to come."""
        data = os.read(self.pipe, 1 << 16)
        self._text += data
        return bool(data)

    def stop_if_stuck(self) -> None:
        """Kill it when a case takes too long by the clock on the wall: it may be asleep."""
        if self._board[0] != self._seen:
            self._seen, self._since = self._board[0], time.monotonic()
        elif time.monotonic() - self._since > self._limits.wall_seconds:
            self._was_too_long = True
            os.kill(self._pid, signal.SIGKILL)

    def finish(self) -> tuple[Tally, list[Finding], Job | None]:
        """What came of it, and the job that is left if it died on the way."""
        os.close(self.pipe)
        _, status = os.waitpid(self._pid, 0)
        tally, findings = Tally(), []
        for line in self._text.decode().splitlines():
            message = json.loads(line)
            if "fault" in message:
                findings.append(Finding(self.job.target.name, self.job.case(message["case"]), message["fault"]))
            else:
                tally = Tally(**{**message, "outcomes": Counter(message["outcomes"])})
        if status == 0:
            return tally, findings, None
        number = self._board[0]
        if number == _NOTHING:
            raise RuntimeError(f"a worker for {self.job.target.name} died before its first case: status {status}")
        findings.append(Finding(self.job.target.name, self.job.case(number), self._cause_of_death(status)))
        return Tally(cases=number - self.job.first + 1), findings, _from(self.job, number + 1)

    def _cause_of_death(self, status: int) -> str:
        if self._was_too_long:
            return f"not done after {self._limits.wall_seconds:g} s"
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
            return f"not done after {self._limits.cpu_seconds:g} s of processor time"
        if os.WIFSIGNALED(status):
            return f"the process died of {signal.Signals(os.WTERMSIG(status)).name}"
        return f"the process ended with status {os.waitstatus_to_exitcode(status)}"


def _from(job: Job, first: int) -> Job:
    return Job(job.target, job.cases, first, job.until)


def _work(job: Job, limits: Limits, board: memoryview, pipe: int) -> None:
    """In the child: try the cases, send what is found at once and the tally at the end."""
    # A warning in the user's terminal would come from a library's inside, too.
    warnings.simplefilter("error")
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ceiling = _data_bytes() + limits.ceiling_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (ceiling, ceiling))
    start = _peak_bytes()
    tally = Tally()
    for number, case in enumerate(job.cases()):
        if number < job.first:
            continue
        if job.until is not None and time.monotonic() > job.until:
            break
        board[0] = number
        # Without a handler the signal ends the process, in the middle of a library's loop too.
        signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)
        verdict = judge(job.target, case)
        signal.setitimer(signal.ITIMER_PROF, 0)
        growth = _peak_bytes() - start
        fault = verdict.fault
        if growth > limits.growth_bytes and tally.growth_bytes <= limits.growth_bytes:
            fault = fault or f"memory grew by {growth >> 20} MiB"
        tally.note(verdict.outcome, verdict.cpu_ms, growth, case)
        if fault:
            _send(pipe, {"case": number, "fault": fault})
    _send(pipe, {name: getattr(tally, name) for name in Tally.__slots__})


def _send(pipe: int, message: dict[str, object]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _data_bytes() -> int:
    """What counts against RLIMIT_DATA now."""
    with open("/proc/self/statm", encoding="ascii") as numbers:
        return int(numbers.read().split()[5]) * resource.getpagesize()
