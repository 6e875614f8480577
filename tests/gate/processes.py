"""A program with its output shown and kept, ended with all that it started when it takes too long."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

_SECONDS_BETWEEN_LOOKS: Final = 0.2
_SECONDS_TO_END: Final = 15.0


@dataclass(frozen=True, slots=True)
class Ended:
    """`was_stopped`: the program took longer than it may."""

    code: int
    seconds: float
    was_stopped: bool


def start(command: Sequence[str], log: Path, folder: Path, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """The program in a process group of its own, by which it can be ended; its output goes to the file."""
    with log.open("wb") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            env=environment,
            process_group=0,
        )


def run_shown(
    command: Sequence[str], log: Path, folder: Path, environment: Mapping[str, str], most_seconds: float
) -> Ended:
    """Runs the program to its end, or to the end of its time.

    Its output is read from the file and not from a pipe: a process that outlives the program would keep a pipe open.
    """
    began = time.monotonic()
    process = start(command, log, folder, environment)
    try:
        with log.open("rb") as output:
            while _is_running(process) and time.monotonic() - began < most_seconds:
                _show(output)
            was_stopped = process.poll() is None
            if was_stopped:
                end(process)
            _show(output)
    finally:
        end(process)
    return Ended(process.wait(), time.monotonic() - began, was_stopped)


def end(process: "subprocess.Popen[bytes]") -> None:
    """Ends the process group, first by SIGTERM, then by SIGKILL. Members that outlived the program end, too."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS_TO_END)


def _is_running(process: "subprocess.Popen[bytes]") -> bool:
    with suppress(subprocess.TimeoutExpired):
        process.wait(_SECONDS_BETWEEN_LOOKS)
    return process.returncode is None


def _show(output: IO[bytes]) -> None:
    sys.stdout.buffer.write(output.read())
    sys.stdout.flush()
