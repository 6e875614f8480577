"""What Spark starts in the place of `pyspark.daemon`: its tasks die once they have written a shard, if asked to.

Whoever creates a file with the name of a shard's file id in the folder FAULTS asks for it, for one try of its task.
"""

import os
import signal
from collections.abc import Iterable
from pathlib import Path

from pyspark import daemon

from hudi_engine.storage.local import LocalStorage

_create = LocalStorage.create_in_parts


def _create_and_fail(storage: LocalStorage, path: str, parts: Iterable[bytes]) -> None:
    _create(storage, path, parts)
    fault = Path(os.environ["FAULTS"], path.rpartition("/")[2].partition("_")[0])
    if fault.exists():
        fault.unlink()
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    LocalStorage.create_in_parts = _create_and_fail  # type: ignore[method-assign, assignment]  # the store of one that fails
    daemon.manager()  # type: ignore[no-untyped-call]  # as Spark's own
