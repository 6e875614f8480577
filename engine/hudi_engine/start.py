"""The command `hudi-engine` as it is installed."""

import os
import signal
from types import FrameType
from typing import NoReturn

_TERMINATED = 128 + signal.SIGTERM


def start() -> NoReturn:
    """Run the command. SIGTERM ends the process from here on, while the engine's modules are still being imported.

    The first process of a container ignores a signal without a handler: a run that was told to stop then would go on
    until it was killed at the end of its grace period.
    """
    signal.signal(signal.SIGTERM, _leave)
    from hudi_engine.cli.main import entry  # noqa: PLC0415

    entry()


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Nothing has begun, and so there is nothing to undo."""
    os._exit(_TERMINATED)
