"""A network, processes and mounts of its own on this machine, and how to run something in there."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

_INIT: Final = Path(__file__).with_name("init.py")
_ROOT: Final = Path(__file__).parents[2]
_SECONDS_TO_BEGIN: Final = 120.0
_SECONDS_TO_END: Final = 120.0
_CLONE_NEWNET: Final = 0x40000000  # of setns

Command = Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class Seen:
    """A process in there: its number out here, what it was called with, and what is in its environment."""

    pid: int
    arguments: tuple[str, ...]
    environment: tuple[str, ...]


class Inside:
    """A process in there that this one started. `pid` is its number out here; signals go to that."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = _child_of(process)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """As by `kill -9`; fine if it has ended."""
        self.send(signal.SIGKILL)
        self._process.wait()

    def send(self, what: signal.Signals) -> None:
        if self.is_alive:
            os.kill(self.pid, what)

    def wait(self, seconds: float) -> int:
        """The exit code; TimeoutExpired if it is still alive then."""
        return self._process.wait(seconds)


class Namespaces:
    """They end with the block, or with this process, and with them everything in there."""

    def __init__(self) -> None:
        self._started: list[Inside] = []

    def __enter__(self) -> Self:
        self._keeper = subprocess.Popen(
            ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, _INIT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._keeper.stdout is not None
        assert self._keeper.stdout.readline() == b"ready\n"
        self._init = _child_of(self._keeper)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        self._keeper.stdin.close()
        self._keeper.wait()
        self._keeper.stdout.close()
        for inside in self._started:
            inside.wait(_SECONDS_TO_END)

    def run(self, command: Command, given: str = "", environment: Mapping[str, str] | None = None) -> str:
        """What it prints; Refused, with what it says, if it fails."""
        done = subprocess.run(
            self._entered(command),
            input=given,
            env=_environment(environment),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Refused([*map(str, command)], done.returncode, done.stdout + done.stderr)
        return done.stdout

    def start(self, command: Command, log: IO[bytes], environment: Mapping[str, str] | None = None) -> Inside:
        """All that it says goes to the log."""
        process = subprocess.Popen(
            self._entered(command),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_environment(environment),
        )
        self._started.append(Inside(process))
        return self._started[-1]

    def in_network(self) -> list[str]:
        """The beginning of a command that has the network in there, and this machine's files and processes."""
        return ["nsenter", "--target", str(self._init), "--net", "--"]

    def connect(self, port: int) -> socket.socket:
        """A connection to that port of the loopback in there."""
        # A thread of its own: it enters that network and cannot leave it; the socket stays in there for good.
        with ThreadPoolExecutor(1) as entering:
            return entering.submit(self._connected, port).result()

    def processes(self) -> list[Seen]:
        """All that live in there but the first."""
        space = os.readlink(f"/proc/{self._init}/ns/pid")
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if int(folder.name) == self._init or os.readlink(folder / "ns" / "pid") != space:
                    continue
                found.append(Seen(int(folder.name), _parts(folder / "cmdline"), _parts(folder / "environ")))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                pass  # it ended meanwhile, or belongs to the machine itself
        return found

    def _connected(self, port: int) -> socket.socket:
        with open(f"/proc/{self._init}/ns/net") as network:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.setns(network.fileno(), _CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"the network of process {self._init} cannot be entered")
        return socket.create_connection(("127.0.0.1", port))

    def _entered(self, command: Command) -> list[str | Path]:
        # Entering puts the process into the root folder, for its working folder was another mount's.
        place = ("env", f"--chdir={_ROOT}")
        return ["nsenter", "--target", str(self._init), "--net", "--mount", "--pid", "--", *place, *command]


class Refused(Exception):
    """A command ended with another exit code than zero."""

    def __init__(self, command: list[str], code: int, said: str) -> None:
        super().__init__(f"{' '.join(command)} ended with {code}: {said}")
        self.code = code
        self.said = said


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    return {**os.environ, "TZ": "UTC", **(more or {})}


def _child_of(process: subprocess.Popen[bytes]) -> int:
    """The one process that this one has started."""
    end = time.monotonic() + _SECONDS_TO_BEGIN
    while process.poll() is None and time.monotonic() < end:
        if children := Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            return int(children[0])
        time.sleep(0.005)
    raise AssertionError(f"{process.args!r} ended with {process.poll()} before it began")


def _parts(file: Path) -> tuple[str, ...]:
    return tuple(part.decode(errors="replace") for part in file.read_bytes().split(b"\0") if part)
