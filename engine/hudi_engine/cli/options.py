"""What every command takes, and how it becomes an open table."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from hudi_engine.clock import SystemClock
from hudi_engine.errors import CorruptFile
from hudi_engine.format import properties as java_properties
from hudi_engine.storage.open import open_storage
from hudi_engine.table.table import Table, open_table

Location = Annotated[
    str, typer.Argument(metavar="TABLE", help="The table's base path: a folder, s3a://…, s3://…, gs://…, abfss://…")
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A property by Hudi's or Hadoop's own name; may be repeated."),
]
Props = Annotated[
    Path | None,
    typer.Option("--props", metavar="FILE", help="A properties file; --conf wins over it.", dir_okay=False),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output; progress on standard error.")]


def configuration(conf: list[str] | None, props: Path | None) -> Mapping[str, str]:
    """The properties given on the command line."""
    merged = dict(_properties_file(props)) if props is not None else {}
    for pair in conf or ():
        key, separator, value = pair.partition("=")
        if not separator or not key.strip():
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE", param_hint="--conf")
        merged[key.strip()] = value.strip()
    return merged


def open_from(location: str, conf: Mapping[str, str]) -> Table:
    return open_table(open_storage(location, conf), SystemClock(), conf)


def _properties_file(path: Path) -> Mapping[str, str]:
    try:
        return java_properties.parse(path.read_bytes())
    except OSError as refused:
        raise typer.BadParameter(f"{path}: {os.strerror(refused.errno or 0)}", param_hint="--props") from refused
    except CorruptFile as corrupt:
        raise corrupt.in_file(str(path)) from corrupt
