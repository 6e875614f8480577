"""`hudi-operator`: runs in a cluster, or on a folder of manifests."""

import asyncio
import json
import logging
import os
import secrets
import socket
import sys
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hudi_operator.decision import Defaults
from hudi_operator.kube.connection import NoConnection
from hudi_operator.kube.errors import ApiError
from hudi_operator.kube.find import find_connection
from hudi_operator.kube.handlers import quieten_kopf
from hudi_operator.kube.lease import NAME, LeaseLost
from hudi_operator.kube.operator import Options, WatchesEnded, operate
from hudi_operator.local.command import local
from hudi_operator.policy import Policy
from hudi_operator.policy.file import BadPolicy, parse_policy
from hudi_operator.version import installed_version, version_option

log = logging.getLogger(__name__)

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(local)


class LauncherKind(StrEnum):
    JOB = "job"
    PROCESS = "process"


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


@app.callback()
def options(*, version: Annotated[bool, version_option("hudi-operator")] = False) -> None:
    """Indexes and table services of Apache Hudi tables, as Kubernetes resources."""


@app.command()
def run(
    namespace: Annotated[
        list[str], typer.Option("--namespace", "-n", help="Watch this one; may be repeated. Default: all.")
    ] = [],  # noqa: B006  # typer never changes it
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Default: KUBECONFIG, this pod's account, ~/.kube/config.")
    ] = None,
    launcher: Annotated[
        LauncherKind, typer.Option(help="Runs are Jobs of the cluster, or processes beside this one.")
    ] = LauncherKind.JOB,
    image: Annotated[
        str, typer.Option(help="The engine's image where neither resource nor table names one.")
    ] = f"hudi-operator-engine:{installed_version()}",
    policy: Annotated[
        Path | None,
        typer.Option(help="What each namespace may have opened and run: docs/operator.md. Default: nothing."),
    ] = None,
    state: Annotated[Path, typer.Option(help="Where processes keep their records.")] = Path("/var/lib/hudi-operator"),
    metrics_port: Annotated[int, typer.Option(help="/metrics is there; 0 is any that is free.")] = 8080,
    health_port: Annotated[int, typer.Option(help="/livez and /readyz are there; 0 is any that is free.")] = 8081,
    leader_election: Annotated[bool, typer.Option(help="Work only while holding the Lease `hudi-operator`.")] = True,
    lease_namespace: Annotated[str | None, typer.Option(help="Of the Lease. Default: our own.")] = None,
    log_format: Annotated[LogFormat, typer.Option()] = LogFormat.TEXT,
    verbose: Annotated[bool, typer.Option("--verbose", "-v")] = False,
) -> None:
    """Work on the resources of a cluster until SIGTERM; runs go on, and the next operator finds them."""
    set_up_logs(log_format, is_verbose=verbose)
    quieten_kopf()
    try:
        connection = find_connection(kubeconfig, os.environ)
        own = connection.namespace or NAME
        options = Options(
            namespaces=tuple(namespace),
            state=state if launcher is LauncherKind.PROCESS else None,
            defaults=Defaults(image=image, policy=_policy(policy)),
            lease_namespace=(lease_namespace or own) if leader_election else None,
            identity=f"{socket.gethostname()}_{secrets.token_hex(4)}",
            metrics_port=metrics_port,
            health_port=health_port,
        )
        asyncio.run(operate(connection, options, lambda: datetime.now(UTC)))
    except (NoConnection, ApiError, LeaseLost, WatchesEnded, BadPolicy, OSError) as failed:
        log.error("ended error=%s", failed)
        raise typer.Exit(1) from failed


def _policy(file: Path | None) -> Policy:
    """The file's; without one nothing is allowed, and each table says so."""
    if file is None:
        log.warning("no policy: no table is opened before --policy names a file that allows it")
        return Policy(is_given=False)
    try:
        return parse_policy(file.read_text())
    except (BadPolicy, UnicodeDecodeError) as wrong:
        raise BadPolicy(f"{file}: {wrong}") from wrong


def set_up_logs(log_format: LogFormat, *, is_verbose: bool) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if log_format is LogFormat.JSON else logging.Formatter(_TEXT))
    logging.basicConfig(level=logging.DEBUG if is_verbose else logging.INFO, handlers=[handler], force=True)
    # What it says is of use to nobody but its own developers.
    logging.getLogger("asyncio").setLevel(logging.WARNING)


_TEXT = "%(asctime)s %(levelname)s %(name)s %(message)s"


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info is not None:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def main() -> None:
    app()


if __name__ == "__main__":
    main()
