"""What Spark starts in the place of `pyspark.daemon`, whose tasks then die, or stay, once they have written a shard.

Each does so once: the folder in FAULTS remembers. Whoever creates a file there that ends in a shard's file id and
`.dies`, or `.stays`, asks for it.
"""

import os
import signal
import time
from pathlib import Path

from pyspark import daemon

from hudi_engine.storage.local import LocalStorage

_create = LocalStorage.create


def _create_and_fail(storage: LocalStorage, path: str, data: bytes) -> None:
    _create(storage, path, data)
    file_id = path.rpartition("/")[2].partition("_")[0]
    faults = Path(os.environ["FAULTS"])
    if _is_asked_for(faults / f"{file_id}.dies"):
        os.kill(os.getpid(), signal.SIGKILL)
    if _is_asked_for(faults / f"{file_id}.stays"):
        time.sleep(600)


def _is_asked_for(fault: Path) -> bool:
    try:
        fault.unlink()
    except FileNotFoundError:
        return False
    return True


if __name__ == "__main__":
    LocalStorage.create = _create_and_fail  # type: ignore[method-assign]  # the store of a process that fails
    daemon.manager()
