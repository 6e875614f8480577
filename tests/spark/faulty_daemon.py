"""What Spark starts in the place of `pyspark.daemon`: its tasks die once they have written a shard, or wait
before they do, if asked to.

Whoever creates a file with the name of a shard's file id in the folder FAULTS asks for it, for one try of its task. As
long as there is one with `.wait` behind that name, tasks go no further than to that shard.
"""

import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from pyspark import daemon

from hudi_engine.storage.local import LocalStorage

_create = LocalStorage.create_in_parts


def _create_and_fail(storage: LocalStorage, path: str, parts: Iterable[bytes]) -> None:
    fault = Path(os.environ["FAULTS"], path.rpartition("/")[2].partition("_")[0])
    while fault.with_name(f"{fault.name}.wait").exists():
        time.sleep(0.02)
    _create(storage, path, parts)
    if fault.exists():
        fault.unlink()
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    LocalStorage.create_in_parts = _create_and_fail  # type: ignore[method-assign, assignment]  # the store of one that fails
    daemon.manager()  # type: ignore[no-untyped-call]  # as Spark's own
