"""`hudi-engine metadata`: a metadata table switched off, or listed again (RFC-45, downgrade and upgrade)."""

from collections.abc import Callable
from typing import TypeVar

import typer

from hudi_engine.action.metadata_disable import disable_metadata_table
from hudi_engine.action.metadata_repair import repair_flags
from hudi_engine.action.site import Site
from hudi_engine.cli import screen
from hudi_engine.cli.compute_choice import local_compute
from hudi_engine.cli.failures import leave
from hudi_engine.cli.index import Given, SingleWriter
from hudi_engine.cli.jobs import site_of
from hudi_engine.cli.options import Conf, Json, Location, Props
from hudi_engine.cli.phases import watching
from hudi_engine.cli.stopping import stoppable

app = typer.Typer(help="Switch a table's metadata table off, or list again what it has.", no_args_is_help=True)
_Got = TypeVar("_Got")


@app.command()
def disable(
    location: Location,
    conf: Conf = None,
    props: Props = None,
    *,
    single_writer: SingleWriter = False,
    json: Json = False,
) -> None:
    """Remove the metadata table with all indexes. Writers that have hoodie.metadata.enable=true make a new one."""
    deleted = _with_site(location, Given(conf, props, single_writer), disable_metadata_table)
    if json:
        screen.print_json({"files": deleted})
    else:
        screen.out().print(f"{deleted:,} files deleted: the metadata table is gone" if deleted else "no metadata table")


@app.command()
def repair(
    location: Location,
    conf: Conf = None,
    props: Props = None,
    *,
    single_writer: SingleWriter = False,
    json: Json = False,
) -> None:
    """List `files` again in the table's properties, if the metadata table has it and it lacks no commit."""
    is_repaired = _with_site(location, Given(conf, props, single_writer), repair_flags)
    if json:
        screen.print_json({"listed": ["files"] if is_repaired else []})
    else:
        screen.out().print("`files` is listed again" if is_repaired else "`files` is listed already")


def _with_site(location: str, given: Given, work: Callable[[Site], _Got]) -> _Got:
    """What the work gives; a signal ends it with its own exit code."""
    conf = given.properties()
    try:
        with watching() as watch, stoppable():
            return work(site_of(location, conf, local_compute(conf), watch))
    except KeyboardInterrupt as stopped:
        leave(stopped)
