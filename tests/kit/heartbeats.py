"""Heartbeats of who died: as old as they would be, had a test waited for their lease to run out."""

import os
import time
from pathlib import Path
from typing import Final

_FOLDER: Final = ".hoodie/.heartbeat"
_AGE_SECONDS: Final = 24 * 3600


def back_date_heartbeats(table: Path) -> None:
    """The last beats in this folder were a day ago. The engine and Hudi's writers both go by the file's time."""
    beaten_at = time.time() - _AGE_SECONDS
    for heartbeat in (table / _FOLDER).glob("[0-9]*"):
        os.utime(heartbeat, (beaten_at, beaten_at))
