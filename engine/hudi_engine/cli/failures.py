"""How a command ends that could not do what it was asked."""

import os
import sys
from typing import NoReturn

import typer

from hudi_engine.cli import screen
from hudi_engine.cli.stopping import Terminated
from hudi_engine.errors import EngineError

INTERNAL_ERROR = 70  # sysexits.h, EX_SOFTWARE: a fault of ours, never one of the table's
# What a shell makes of the signals for Ctrl-C, for a pipe that nobody reads, and for a polite request to end.
INTERRUPTED, CLOSED_PIPE, TERMINATED = 130, 141, 143
DEBUG = "HUDI_ENGINE_DEBUG"


def document_of(error: BaseException) -> dict[str, object]:
    """What a program is told."""
    retry = isinstance(error, EngineError) and error.retry
    return {"class": type(error).__name__, "message": message(error), "retry": retry, "exit": exit_code(error)}


def leave(error: BaseException) -> NoReturn:
    """Ends with one line for people and the exit code; with the traceback if that was asked for."""
    if os.environ.get(DEBUG):
        raise error
    typer.echo(f"hudi-engine: {screen.safe(message(error))}", err=True)
    sys.exit(exit_code(error))


def message(error: BaseException) -> str:
    if isinstance(error, EngineError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return f"internal error: {type(error).__name__}: {error}. Run again with --debug and report what it shows."


def exit_code(error: BaseException) -> int:
    if isinstance(error, Terminated):
        return TERMINATED
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return error.exit_code if isinstance(error, EngineError) else INTERNAL_ERROR
