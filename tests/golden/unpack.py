"""A golden table on disk again, fit for every reader."""

import os
import zipfile
from datetime import datetime
from pathlib import Path

_HERE = Path(__file__).parent
_INSTANT_DIGITS = 17


def unpack(name: str, folder: Path) -> Path:
    """The table's base path, below `folder`.

    Layout 1 has no completion time but the modification time of a timeline file, and Hudi 1.x slices the logs of such
    tables by it: with the time of unpacking, every log lands in the newest slice. A zip does not keep the times, so
    each file is given its own instant, which is before the next writer's.
    """
    table = folder / name
    with zipfile.ZipFile(_HERE / name / "table.zip") as packed:
        packed.extractall(table)
    for timeline in (table / ".hoodie", table / ".hoodie/metadata/.hoodie"):
        for file in timeline.glob("[0-9]*"):
            _set_time(file, file.name.partition(".")[0])
    return table


def _set_time(file: Path, instant: str) -> None:
    # The instants that make the metadata table are all zeros with a number behind: older than any time there is.
    if instant.startswith("0000"):
        return
    # In whole nanoseconds: a fraction of seconds would be cut to the millisecond before.
    second, thousandths = instant[:14], int(instant[14:_INSTANT_DIGITS])
    at = int(datetime.strptime(f"{second}+0000", "%Y%m%d%H%M%S%z").timestamp()) * 10**9 + thousandths * 10**6
    os.utime(file, ns=(at, at))
