"""The real `hudi-engine`, which writes down its steps and pauses where a test wants to do something to it.

    python -m tests.kit.paused_engine FOLDER index build …

Steps are:
* a change of a file, on a disk or in an object store: `create PATH`, `replace PATH`, `delete PATH`;
* `half of PATH`: a part of a new file is written (on a disk only: an object appears whole);
* what the engine learns of its lock: `acquired`, `asked`, `released`;
* `catch up`: an index is in flight, and nobody holds the lock; `caught up`: nothing was missing at the last look.

FOLDER/pauses.json lists the steps before which the engine pauses, and how: `hold` waits for FOLDER/NAME.go while the
heart beats on, `stop` is SIGSTOP. The engine makes FOLDER/NAME when a pause begins. FOLDER/steps has all steps so far,
FOLDER/session the number and the password of the newest session of ZooKeeper.
"""

import ctypes
import json
import os
import re
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from hudi_engine.action.catch_up import CatchUp
from hudi_engine.cli.main import entry
from hudi_engine.concurrency.zookeeper import ZooKeeperLock
from hudi_engine.concurrency.zookeeper_session import ZooKeeperSession
from hudi_engine.storage.local import LocalStorage
from hudi_engine.storage.objects import ObjectStorage

_HEARTBEAT = ".hoodie/.heartbeat/"  # beats by the clock, in a thread of its own
_SET_PARENT_DEATH_SIGNAL = 1  # of prctl
# The methods that all changes go through, in each kind of store.
_CHANGES = {LocalStorage: ("create_in_parts", "replace", "delete"), ObjectStorage: ("create", "replace", "delete")}


class Pauses:
    """What is to happen before which step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._left: list[dict[str, Any]] = json.loads((folder / "pauses.json").read_text())
        self._guard = threading.Lock()

    def step(self, what: str) -> None:
        if _HEARTBEAT in what:
            return
        with self._guard:
            with Path(self._folder, "steps").open("a") as steps:
                print(what, file=steps)
            due = [each for each in self._left if self._is_due(each, what)]
            self._left = [each for each in self._left if each not in due]
            for each in due:
                self._pause(each["name"], each["how"])

    def _is_due(self, pause: dict[str, Any], what: str) -> bool:
        """Whether as many steps that fit as it says have been there, this one included, since the one it is `after`."""
        if pause.get("after"):
            if re.search(pause["after"], what):
                pause["after"] = ""
            return False
        if re.search(pause["on"], what) is None:
            return False
        pause["at"] -= 1
        return int(pause["at"]) == 0

    def _pause(self, name: str, how: str) -> None:
        Path(self._folder, name).touch()
        if how == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
            return
        while not Path(self._folder, f"{name}.go").exists():
            time.sleep(0.02)


def _tell_of(kind: type, name: str, tell: Callable[..., None], *, is_after: bool = False) -> None:
    """Has `tell` called with the arguments of a method before, or after, each of its calls."""
    method = getattr(kind, name)

    def told(self: object, *arguments: object) -> object:
        if not is_after:
            tell(*arguments)
        answer = method(self, *arguments)
        if is_after:
            tell(*arguments)
        return answer

    setattr(kind, name, told)


def _tell_of_halves(pauses: Pauses) -> None:
    """Has the first part of a file on a disk written in two pieces, with a step between them."""
    create_in_parts = LocalStorage.create_in_parts

    def told(self: LocalStorage, path: str, parts: Iterable[bytes]) -> None:
        create_in_parts(self, path, _in_halves(parts, lambda: pauses.step(f"half of {path}")))

    LocalStorage.create_in_parts = told  # type: ignore[method-assign]  # to log its calls


def _in_halves(parts: Iterable[bytes], between: Callable[[], None]) -> Iterator[bytes]:
    for number, part in enumerate(parts):
        if number:
            yield part
            continue
        yield part[: len(part) // 2]
        between()
        yield part[len(part) // 2 :]


def _note_sessions(file: Path) -> None:
    """A test ends a session by its number and password."""
    open_session = ZooKeeperSession.open

    def told(self: ZooKeeperSession, wait_seconds: float) -> None:
        open_session(self, wait_seconds)
        client = self._client
        file.write_text(json.dumps([client._session_id, client._session_passwd.hex()]))

    ZooKeeperSession.open = told  # type: ignore[method-assign]  # to log its calls


def _end_with_parent() -> None:
    """The system kills this process when the thread that started it ends: nobody is left to let go of a pause."""
    assert ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL) == 0


def _give_up_privileges() -> None:
    """Root may write everywhere but for these capabilities (capset of Linux, version 3)."""
    assert ctypes.CDLL(None).capset(struct.pack("Ii", 0x20080522, 0), bytes(24)) == 0


if __name__ == "__main__":
    folder = Path(sys.argv.pop(1))
    if (folder / "ends with parent").exists():
        _end_with_parent()
    pauses = Pauses(folder)
    _tell_of_halves(pauses)
    for store, methods in _CHANGES.items():
        for method in methods:
            change = method.partition("_")[0]
            _tell_of(store, method, lambda path, *_, change=change: pauses.step(f"{change} {path}"))
    _tell_of(ZooKeeperLock, "acquire", lambda _: pauses.step("acquired"), is_after=True)
    _tell_of(ZooKeeperLock, "require_held", lambda: pauses.step("asked"))
    _tell_of(ZooKeeperLock, "release", lambda: pauses.step("released"))
    _tell_of(CatchUp, "run", lambda: pauses.step("catch up"))
    _tell_of(CatchUp, "run", lambda: pauses.step("caught up"), is_after=True)
    _note_sessions(folder / "session")
    if (folder / "unprivileged").exists():
        _give_up_privileges()
    entry()
