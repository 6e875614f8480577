"""What a process and all that it started take: processor seconds and, at any one moment, memory."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

# Often enough for a build of three seconds, seldom enough not to be felt by it.
_SAMPLE_SECONDS = 0.1


class Measured:
    """The answers of a process, one JSON line each, and the most memory that it and its descendants had together."""

    def __init__(self, answers: list[dict[str, Any]], peak_bytes: int) -> None:
        self.answers = answers
        self.peak_bytes = peak_bytes


def run_watched(module: str, *arguments: str, whole: bool = True, every_seconds: float = _SAMPLE_SECONDS) -> Measured:
    """Runs a module of ours to its end. Without `whole` the process itself is left out, and what it started counts."""
    command = [sys.executable, "-m", module, *arguments]
    environment = {**os.environ, "TZ": "UTC", "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)}
    with tempfile.TemporaryFile("w+") as said:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True, env=environment) as process:
            watching = _Watching(process.pid, every_seconds, whole=whole)
            watching.start()
            assert process.stdout is not None
            out = process.stdout.read()
            process.wait()
            watching.stop()
        said.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command[2:5])} failed: {said.read()[-3000:]}")
    return Measured([json.loads(line) for line in out.splitlines()], watching.peak_bytes)


def descendants(pid: int) -> list[int]:
    """The process, its children, theirs, and so on."""
    found = [pid]
    for each in found:
        with suppress(OSError):
            for task in Path(f"/proc/{each}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def cpu_seconds(pid: int) -> float:
    """What the process and its descendants have used up to now, those that have ended included."""
    return sum(map(_ticks, descendants(pid))) / os.sysconf("SC_CLK_TCK")


def memory_bytes(pids: Sequence[int]) -> int:
    """What is resident, a page that several share counted once."""
    return sum(map(_proportional_bytes, pids))


class _Watching(threading.Thread):
    def __init__(self, pid: int, every_seconds: float, *, whole: bool) -> None:
        super().__init__(daemon=True)
        self.peak_bytes = 0
        self._pid = pid
        self._every_seconds = every_seconds
        self._whole = whole
        self._is_over = threading.Event()

    def run(self) -> None:
        while not self._is_over.wait(self._every_seconds):
            pids = descendants(self._pid)
            self.peak_bytes = max(self.peak_bytes, memory_bytes(pids if self._whole else pids[1:]))

    def stop(self) -> None:
        self._is_over.set()
        self.join()


def _ticks(pid: int) -> int:
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15]))
    return 0


def _proportional_bytes(pid: int) -> int:
    with suppress(OSError):
        for line in _lines(pid):
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def _lines(pid: int) -> Iterator[str]:
    yield from Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
