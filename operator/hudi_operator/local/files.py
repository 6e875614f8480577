"""Files and a lock in the state folder."""

import fcntl
import os
import uuid
from pathlib import Path
from typing import BinaryIO

from hudi_operator.launch.records import write_private


class Taken(Exception):
    """Another process has the state folder."""


def write_whole(path: Path, content: bytes) -> None:
    """The private file has this content or is as it was, whatever happens; nothing is written if it has it already."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.is_file() and path.read_bytes() == content:
        return
    draft = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    try:
        write_private(draft, content)
        draft.rename(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def take_folder(state: Path) -> BinaryIO:
    """The folder is this process's alone until the answer is closed or the process ends; `Taken` if it is another's."""
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = (state / "lock").open("a+b")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read(64).decode(errors="replace").strip()
        lock.close()
        raise Taken(
            f"{state}: the process {holder} has this state folder; end it, or give another with --state"
        ) from None
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n".encode())
    lock.flush()
    return lock
