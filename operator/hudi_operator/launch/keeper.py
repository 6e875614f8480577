"""Keeps one run: starts the engine, ends it when its time is over or somebody asks, and writes down how it ended.

Executed by its path with `python -I -S`, for it is to weigh little beside the engine: it imports next to nothing, and
nothing of ours. Its arguments: the run's folder, the deadline and the grace period in seconds, and the engine's
command. It is given the open lock file, under a number agreed upon. `engine` has the engine's process, written by that
process before it becomes the engine; `exit` the engine's exit code, 128 and the signal's number where a signal ended
it, as shells have it.
"""

import os
import signal
import sys
import time

LOCK = 9
"""The number of the open lock file that the keeper inherits, and the engine from it."""

_WATCHED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGALRM)
_CANNOT_EXECUTE = 126


def main(arguments: list[str]) -> None:
    folder, deadline, grace = arguments[0], int(arguments[1]), int(arguments[2])
    os.chdir(folder)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    # Whoever finds this file knows that the engine may have run: the run is never begun again.
    write("keeper", identity())
    engine = os.fork()
    if engine == 0:
        _become(arguments[3:])
    code = _watched(engine, deadline, grace)
    remove_secrets()
    write("exit", f"{code} {time.time()}")


def _become(command: list[str]) -> None:
    """The engine instead of this process; it inherits the open lock file, which stands for the run being alive."""
    os.setpgid(0, 0)
    try:
        write("engine", identity())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
        os.execv(command[0], command)
    except OSError as refused:
        os.write(2, f"the engine could not be started: {command[0]}: {refused.strerror}\n".encode())
    finally:
        os._exit(_CANNOT_EXECUTE)


def _watched(engine: int, deadline: int, grace: int) -> int:
    """The exit code of the engine once it has ended: asked to if somebody wants it or its time is over, then made to.

    What it started and left behind is ended with it: while the engine is not yet waited for, its number, which is that
    of its group, cannot be another's.
    """
    signal.alarm(max(deadline, 1))
    # Who wants the run stopped writes this file before looking for this process: no wish is missed.
    is_asked = os.path.exists("stop") and _asked(engine, grace)
    while os.waitid(os.P_PID, engine, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        what = signal.sigwait(_WATCHED)
        if what == signal.SIGCHLD:
            continue
        if not is_asked:
            if what == signal.SIGALRM:
                write("overdue", str(deadline))
            is_asked = _asked(engine, grace)
        elif what == signal.SIGALRM:
            _kill_group(engine)
    _kill_group(engine)
    code = os.waitstatus_to_exitcode(os.waitpid(engine, 0)[1])
    return code if code >= 0 else 128 - code


def _asked(engine: int, grace: int) -> bool:
    os.kill(engine, signal.SIGTERM)
    signal.alarm(max(grace, 1))
    return True


def _kill_group(engine: int) -> None:
    try:
        os.killpg(engine, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # It has not yet a group of its own, or nobody but itself, and that has ended.
        os.kill(engine, signal.SIGKILL)


def identity() -> str:
    """This process's number and, where the system tells, when it began: together they name it and no other."""
    return f"{os.getpid()} {start_of(os.getpid())}"


def start_of(process: int) -> str:
    """When the living process began, in ticks since the machine did; `ended` of one that only waits to be buried, and
    `-` where there is no telling or no such process."""
    try:
        with open(f"/proc/{process}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return "-"
    return "ended" if fields[0] in "ZX" else fields[19]


def remove_secrets() -> None:
    for place, folders, files in os.walk("secrets", topdown=False):
        for name in files:
            os.unlink(os.path.join(place, name))
        for name in folders:
            os.rmdir(os.path.join(place, name))
    if os.path.isdir("secrets"):
        os.rmdir("secrets")


def write(name: str, text: str) -> None:
    """The file appears whole or not at all."""
    with open(f"{name}.new", "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(f"{name}.new", name)


if __name__ == "__main__":
    main(sys.argv[1:])
