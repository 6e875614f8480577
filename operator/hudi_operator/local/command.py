"""`hudi-operator local`: the operator on a folder of manifests, without a cluster."""

import asyncio
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from hudi_operator.local.files import Taken, take_folder
from hudi_operator.local.screen import JsonLines, Lines
from hudi_operator.local.session import Refused, Session, Settings
from hudi_operator.local.sources import NoSource, Sources
from hudi_operator.reconcile import HomeError

STATE = ".hudi-operator"
_REFUSED = 2
_FAILED = 1


def local(
    filename: Annotated[
        list[Path], typer.Option("--filename", "-f", help="Manifests, or a folder of them; may be repeated.")
    ],
    until_ready: Annotated[
        bool,
        typer.Option(
            "--until-ready/--stay",
            help="End once every resource is ready (0) or one is stalled (1); or go on until a signal.",
        ),
    ] = True,
    state: Annotated[
        Path | None,
        typer.Option(help=f"What an API server would keep, and the runs. Default: {STATE} beside the first manifest."),
    ] = None,
    metrics: Annotated[
        int | None, typer.Option(metavar="PORT", help="/metrics is there; 0 is any that is free.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="A JSON document a line.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="The operator's log on standard error.")] = False,
) -> None:
    """Work on a folder of manifests: no cluster, no ZooKeeper, runs are processes of this machine.

    Exit codes: 0 ready, 1 stalled, 2 a manifest is refused, 130 and 143 Ctrl-C and SIGTERM. See docs/local-mode.md.
    """
    form = "%(asctime)s %(levelname)s %(name)s %(message)s"
    logging.basicConfig(level=logging.INFO if verbose else logging.ERROR, stream=sys.stderr, format=form, force=True)
    try:
        sources = Sources.of(filename)
        folder = (state or _beside(filename[0])).resolve()
        with take_folder(folder):
            settings = Settings(sources, folder, stay=not until_ready, metrics_port=metrics)
            code = asyncio.run(_session(settings, is_json=json))
    except (Refused, NoSource) as refused:
        typer.echo(str(refused), err=True)
        raise typer.Exit(_REFUSED) from refused
    except (Taken, HomeError, OSError) as failed:
        typer.echo(f"hudi-operator: {failed}", err=True)
        raise typer.Exit(_FAILED) from failed
    raise typer.Exit(code)


async def _session(settings: Settings, *, is_json: bool) -> int:
    screen = JsonLines(sys.stdout, _now) if is_json else Lines(sys.stdout, _now)
    return await Session(settings, screen, _now).run()


def _beside(manifest: Path) -> Path:
    return (manifest if manifest.is_dir() else manifest.parent) / STATE


def _now() -> datetime:
    return datetime.now(UTC)
