"""`hudi-engine run`: a job as one JSON argument, its report as the last line and in a file."""

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from hudi_engine.cli import screen
from hudi_engine.cli.jobs import carry_out
from hudi_engine.contract import JobReport, JobRequest, Malformed, Outcome

_MALFORMED = 2


def run(
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="A JobRequest as JSON; its fields: docs/cli.md.")],
) -> None:
    """Do one job on one table and report on it; made for Kubernetes.

    The last line on standard output is the JobReport, of at most 4,096 bytes; it is written to the request's
    report_path, too. Progress and errors are on standard error.
    """
    try:
        asked = JobRequest.from_json(request)
    except Malformed as malformed:
        _end(JobReport(Outcome.FAILED, _MALFORMED, reason=f"no JobRequest: {malformed}"), None)
    _end(carry_out(asked), asked.report_path)


def _end(report: JobReport, path: str | None) -> NoReturn:
    if report.exit_code:
        typer.echo(f"hudi-engine: {screen.safe(report.reason)}", err=True)
    line = report.to_json()
    if path is not None:
        _write(Path(path), line)
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
    raise typer.Exit(report.exit_code)


def _write(path: Path, line: str) -> None:
    """In place, since a pod's termination message is a file that is mounted and cannot be replaced."""
    try:
        path.write_text(f"{line}\n")
    except OSError as refused:
        # The job is done, whatever becomes of the file: its exit code stays.
        typer.echo(f"hudi-engine: the report could not be written: {path}: {refused.strerror}", err=True)
