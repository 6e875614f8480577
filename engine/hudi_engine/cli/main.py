"""`hudi-engine`: wires the commands together and turns each error into one line and its exit code."""

import logging
import os
import sys
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from hudi_engine.cli import index, metadata, screen
from hudi_engine.cli.failures import CLOSED_PIPE, DEBUG, INTERNAL_ERROR, document_of, leave
from hudi_engine.cli.files import files
from hudi_engine.cli.inspect import inspect
from hudi_engine.cli.lookup import lookup
from hudi_engine.cli.observe import observe
from hudi_engine.cli.read import read
from hudi_engine.cli.run import run
from hudi_engine.cli.timeline import timeline
from hudi_engine.cli.validate import validate
from hudi_engine.cli.version import Version
from hudi_engine.compute.heap import share_heaps
from hudi_engine.errors import EngineError

app = typer.Typer(
    name="hudi-engine",
    help="Look into real Apache Hudi tables (versions 6, 8 and 9) and build their indexes without a JVM. "
    "Exit codes: docs/cli.md.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (inspect, timeline, files, read, lookup, validate, run, observe):
    app.command()(command)
app.add_typer(index.app, name="index")
app.add_typer(metadata.app, name="metadata")


@app.callback()
def options(
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Version = False,
) -> None:
    if debug:
        os.environ[DEBUG] = "1"


def entry() -> NoReturn:
    """The process: `main`, and an end that is not Python's own.

    A thread of Arrow's that is about to give back what Python lent it aborts a process whose Python is gone already,
    after all is done and said: a build that was ready ended with SIGABRT.
    """
    code: object = 0
    try:
        main()
    except SystemExit as left:
        code = left.code or 0
    with suppress(OSError):
        sys.stderr.flush()
    try:
        sys.stdout.flush()
    except OSError:
        code = CLOSED_PIPE
    os._exit(code if isinstance(code, int) else INTERNAL_ERROR)


def main() -> None:
    """What the command does: no traceback of anybody's reaches the user unless asked for."""
    share_heaps()
    logging.getLogger("kazoo").addHandler(logging.NullHandler())  # what it warns of we tell as errors
    try:
        app(standalone_mode=True)
    except EngineError as refused:
        _fail(refused)
    except SystemExit as left:
        # Click makes a 1 of a closed pipe, which here would say something of the table.
        if isinstance(left.__context__, BrokenPipeError):
            sys.exit(CLOSED_PIPE)
        raise
    except Exception as fault:  # noqa: BLE001 - one of the two entry points: what nobody foresaw is still one line
        _fail(fault)


def _fail(error: BaseException) -> None:
    if "--json" in sys.argv and not os.environ.get(DEBUG):
        screen.print_json({"error": document_of(error)})
    leave(error)


if __name__ == "__main__":
    entry()
