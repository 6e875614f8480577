"""A table that a real Java writer commits to, whenever a test has it do so."""

from pathlib import Path
from typing import Final

from tests.java.jvm import Jvm
from tests.java.live import Scene

LOCK: Final = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "200",
    "hoodie.write.lock.client.num_retries": "1250",
}
# A job that knows nothing of the index: Hudi takes it for unwanted.
WITHOUT_THE_SETTING: Final = {
    "hoodie.metadata.record.index.enable": "false",
    "hoodie.metadata.index.async": "false",
}


def live_table(jvm: Jvm, folder: Path) -> Scene:
    """Its writer has what docs/writers.md recommends."""
    return Scene(jvm, folder, LOCK, {})
