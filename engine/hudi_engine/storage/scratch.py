"""A folder of this machine for what does not fit into memory."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hudi_engine.errors import NoSpaceLeft


@contextmanager
def room_in(folder: Path, for_what: str, what_next: str) -> Iterator[None]:
    """Writes to the folder; that there is no room left is said as what it is, by `NoSpaceLeft`."""
    try:
        yield
    except OSError as failed:
        if failed.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise NoSpaceLeft(f"{folder}: no room for {for_what} ({failed}). {what_next}") from failed
