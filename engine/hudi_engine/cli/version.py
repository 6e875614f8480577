"""The installed version, and the option that shows it."""

from importlib.metadata import version
from typing import Annotated

import typer

_DISTRIBUTION = "hudi-operator"  # has the engine and the operator


def distribution() -> str:
    """The installed distribution and its version, as `pip` writes them."""
    return f"{_DISTRIBUTION} {version(_DISTRIBUTION)}"


def _show(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"hudi-engine {version(_DISTRIBUTION)}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_show, is_eager=True, help="Show the version and exit.")]
