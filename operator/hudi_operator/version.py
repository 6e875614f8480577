"""The installed version, and the option that shows it."""

from collections.abc import Callable
from importlib.metadata import version

import typer
from typer.models import OptionInfo


def installed_version() -> str:
    return version("hudi-operator")


def version_option(command: str) -> OptionInfo:
    """The option `--version` of this command: shows the command's name and the version, and ends."""
    option: OptionInfo = typer.Option(
        "--version", callback=_shows(command), is_eager=True, help="Show the version and exit."
    )
    return option


def _shows(command: str) -> Callable[[bool], None]:
    def show(is_asked: bool) -> None:
        if is_asked:
            typer.echo(f"{command} {installed_version()}")
            raise typer.Exit

    return show
