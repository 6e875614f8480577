"""`hudi-engine`: wires the commands together and turns each error into one line and its exit code."""

import os
import sys
from typing import Annotated

import click
import typer

from hudi_engine.cli import screen
from hudi_engine.cli.files import files
from hudi_engine.cli.inspect import inspect
from hudi_engine.cli.read import read
from hudi_engine.cli.timeline import timeline
from hudi_engine.errors import EngineError

INTERNAL_ERROR = 70  # sysexits.h, EX_SOFTWARE: a fault of ours, never one of the table's

app = typer.Typer(
    name="hudi-engine",
    help="Look into real Apache Hudi tables (versions 6, 8 and 9) without a JVM. Exit codes: docs/cli.md.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (inspect, timeline, files, read):
    app.command()(command)


@app.callback()
def options(
    *,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    if debug:
        os.environ["HUDI_ENGINE_DEBUG"] = "1"


def main() -> None:
    """The entry point: no traceback of anybody's reaches the user unless asked for."""
    try:
        app(standalone_mode=True)
    except EngineError as refused:
        _fail(refused, str(refused), refused.exit_code, retry=refused.retry)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as fault:  # noqa: BLE001 - one of the two entry points: what nobody foresaw is still one line
        message = f"internal error: {type(fault).__name__}: {fault}. Run again with --debug and report what it shows."
        _fail(fault, message, INTERNAL_ERROR, retry=False)


def _fail(error: BaseException, message: str, code: int, *, retry: bool) -> None:
    if os.environ.get("HUDI_ENGINE_DEBUG"):
        raise error
    if "--json" in sys.argv:
        screen.print_json({"error": {"class": type(error).__name__, "message": message, "retry": retry, "exit": code}})
    click.echo(f"hudi-engine: {screen.safe(message)}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
