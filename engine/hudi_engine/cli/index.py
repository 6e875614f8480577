"""`hudi-engine index`: indexes built on tables that are written meanwhile, looked at, and removed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from hudi_engine.cli import screen
from hudi_engine.cli.asked import PARTITIONED_KEY
from hudi_engine.cli.compute_choice import SCRATCH_KEY
from hudi_engine.cli.dry_run import show_plan
from hudi_engine.cli.index_status import show_status
from hudi_engine.cli.jobs import carry_out
from hudi_engine.cli.options import Conf, Json, Location, Props, configuration
from hudi_engine.concurrency.lock import SINGLE_WRITER_KEY
from hudi_engine.contract import Action, ComputeKind, DuplicateKeys, JobReport, JobRequest, KindReport, Malformed

TIMEOUT_KEY = "hoodie.metadata.index.check.timeout.seconds"
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_WITH_COLUMNS = ("column_stats", "secondary_index_")
_MEMORY = re.compile(r"([0-9]{1,12})([kmgt]?)b?", re.ASCII | re.IGNORECASE)

Kinds = Annotated[
    list[str],
    typer.Option(
        "--type",
        metavar="KIND",
        help="An index: record_index, column_stats, partition_stats, bloom_filters, or secondary_index_NAME. May be "
        "repeated.",
    ),
]
MaybeKinds = Annotated[
    list[str] | None, typer.Option("--type", metavar="KIND", help="Only this index; may be repeated. Else all.")
]
Partitioned = Annotated[
    bool,
    typer.Option("--partitioned", help="A record index for each partition, for keys that are unique in theirs only."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="[INDEX=]COLUMN",
        help="A column that column_stats or a secondary index is of; may be repeated.",
    ),
]
Duplicates = Annotated[
    DuplicateKeys,
    typer.Option(
        "--duplicates",
        help="Record keys that several rows have: refuse the build, or index the row of each that was written last.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and change nothing.")]
ComputeOption = Annotated[ComputeKind, typer.Option("--compute", help="Threads of this process, or Spark.")]
Memory = Annotated[str, typer.Option("--memory", metavar="SIZE", help="How much memory to use, as 512m or 2g.")]
Scratch = Annotated[
    Path | None,
    typer.Option("--scratch", metavar="DIR", help="Where to put what does not fit into memory.", file_okay=False),
]
SingleWriter = Annotated[
    bool,
    typer.Option("--single-writer", help="No lock: promise that nobody else writes to the table as long as this runs."),
]
Timeout = Annotated[
    int | None,
    typer.Option("--timeout", metavar="SECONDS", min=0, help="How long to wait for commits of others; default 60."),
]
Instant = Annotated[str, typer.Argument(metavar="INSTANT", help="The plan's, as schedule and status show it.")]
MaybeInstant = Annotated[str | None, typer.Argument(metavar="[INSTANT]", help="The plan's; or give --type.")]

app = typer.Typer(
    help="Build indexes on tables that are written meanwhile; look at them, remove them.", no_args_is_help=True
)


@dataclass(frozen=True, slots=True)
class Given:
    """Options that become properties: a request has no other words for them."""

    conf: list[str] | None
    props: Path | None
    is_single_writer: bool = False
    is_partitioned: bool = False
    timeout: int | None = None
    scratch: Path | None = None

    def properties(self) -> Mapping[str, str]:
        given = dict(configuration(self.conf, self.props))
        if self.is_single_writer:
            given[SINGLE_WRITER_KEY] = "true"
        if self.is_partitioned:
            given[PARTITIONED_KEY] = "true"
        if self.timeout is not None:
            given[TIMEOUT_KEY] = str(self.timeout)
        if self.scratch is not None:
            given[SCRATCH_KEY] = str(self.scratch.absolute())
        return given


@app.command()
def schedule(
    location: Location,
    kind: Kinds,
    conf: Conf = None,
    props: Props = None,
    *,
    column: Columns = None,
    partitioned: Partitioned = False,
    dry_run: DryRun = False,
    single_writer: SingleWriter = False,
    json: Json = False,
) -> None:
    """Put a plan for indexes on the table's timeline; `index run` makes them of it."""
    given = Given(conf, props, single_writer, partitioned).properties()
    work = _Work(columns=_columns(kind, column or ()))
    _do(_asked(location, Action.SCHEDULE, tuple(kind), given, work), is_dry=dry_run, is_json=json)


@app.command()
def run(
    location: Location,
    instant: Instant,
    conf: Conf = None,
    props: Props = None,
    *,
    duplicates: Duplicates = DuplicateKeys.REFUSE,
    compute: ComputeOption = ComputeKind.LOCAL,
    memory: Memory = "2g",
    scratch: Scratch = None,
    single_writer: SingleWriter = False,
    timeout: Timeout = None,
    json: Json = False,
) -> None:
    """Make the indexes of a plan, or go on where somebody stopped; `busy` if another runner works on it."""
    given = Given(conf, props, single_writer, timeout=timeout, scratch=scratch).properties()
    work = _Work(compute, memory, instant, duplicates=duplicates)
    _do(_asked(location, Action.RUN, (), given, work), is_json=json)


@app.command()
def build(
    location: Location,
    kind: Kinds,
    conf: Conf = None,
    props: Props = None,
    *,
    column: Columns = None,
    partitioned: Partitioned = False,
    duplicates: Duplicates = DuplicateKeys.REFUSE,
    dry_run: DryRun = False,
    compute: ComputeOption = ComputeKind.LOCAL,
    memory: Memory = "2g",
    scratch: Scratch = None,
    single_writer: SingleWriter = False,
    timeout: Timeout = None,
    json: Json = False,
) -> None:
    """Schedule and run, or go on with what an earlier call began: the same call, again and again, until it is done."""
    given = Given(conf, props, single_writer, partitioned, timeout, scratch).properties()
    work = _Work(compute, memory, columns=_columns(kind, column or ()), duplicates=duplicates)
    request = _asked(location, Action.BUILD, tuple(kind), given, work)
    _do(request, is_dry=dry_run, is_json=json)


@app.command()
def status(
    location: Location, kind: MaybeKinds = None, conf: Conf = None, props: Props = None, *, json: Json = False
) -> None:
    """Show of each index what there is, how far it is and who works on it. Reads only, and needs no lock."""
    show_status(location, tuple(kind or ()), configuration(conf, props), is_json=json)


@app.command()
def drop(
    location: Location,
    kind: Kinds,
    conf: Conf = None,
    props: Props = None,
    *,
    single_writer: SingleWriter = False,
    json: Json = False,
) -> None:
    """Remove indexes: from the properties first, then their files."""
    _do(_asked(location, Action.DROP, tuple(kind), Given(conf, props, single_writer).properties()), is_json=json)


@app.command()
def abort(
    location: Location,
    instant: MaybeInstant = None,
    kind: MaybeKinds = None,
    conf: Conf = None,
    props: Props = None,
    *,
    single_writer: SingleWriter = False,
    json: Json = False,
) -> None:
    """Take a plan back that is not completed, with all that was made of it. `busy` while its runner lives."""
    given = Given(conf, props, single_writer).properties()
    _do(_asked(location, Action.ABORT, tuple(kind or ()), given, _Work(instant=instant)), is_json=json)


@dataclass(frozen=True, slots=True)
class _Work:
    compute: ComputeKind = ComputeKind.LOCAL
    memory: str = "2g"
    instant: str | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    duplicates: DuplicateKeys = DuplicateKeys.REFUSE


def _columns(kinds: Sequence[str], given: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The columns by index; one that names no index is of the only one that has columns."""
    found: dict[str, tuple[str, ...]] = {}
    with_columns = [kind for kind in kinds if kind.startswith(_WITH_COLUMNS)]
    for text in given:
        named, is_named, column = text.rpartition("=")
        if not is_named and len(with_columns) != 1:
            which = f"{len(with_columns)} of the indexes asked for have columns"
            raise typer.BadParameter(f"{text!r}: {which}; say INDEX={text}", param_hint="--column")
        index = named if is_named else with_columns[0]
        found[index] = (*found.get(index, ()), column)
    return found


def _asked(
    location: str, action: Action, kinds: tuple[str, ...], conf: Mapping[str, str], work: _Work | None = None
) -> JobRequest:
    work = work or _Work()
    memory = _bytes(work.memory)
    try:
        asked = JobRequest(location, action, kinds, work.instant, conf, work.compute, memory, columns=work.columns)
        return replace(asked, duplicates=work.duplicates)
    except Malformed as malformed:
        raise typer.BadParameter(str(malformed)) from malformed


def _bytes(text: str) -> int:
    found = _MEMORY.fullmatch(text.strip())
    if found is None:
        raise typer.BadParameter(f"{text!r}: expected a size as 512m or 2g", param_hint="--memory")
    return int(found[1]) * _UNITS[found[2].lower()]


def _do(request: JobRequest, *, is_json: bool, is_dry: bool = False) -> None:
    if is_dry:
        show_plan(request, is_json=is_json)
        return
    report = carry_out(request)
    if is_json:
        print(report.to_json(), flush=True)
        raise typer.Exit(report.exit_code)
    _show(report)


def _show(report: JobReport) -> NoReturn:
    if report.kinds:
        columns = ["index", "state", "base", "caught up to", "keys>", "shards>", "size>"]
        screen.show_grid(f"{report.outcome}: {report.instant or ''}".rstrip(": "), columns, map(_row, report.kinds))
        for kind in report.kinds:
            if kind.duplicates:
                typer.echo(f"{kind.kind}: duplicates: {kind.duplicates:,} record keys have several rows")
    if report.reason:
        typer.echo(f"hudi-engine: {screen.safe(report.reason)}", err=bool(report.exit_code))
    raise typer.Exit(report.exit_code)


def _row(kind: KindReport) -> Sequence[object]:
    sizes = [f"{kind.keys:,}", kind.shards, screen.size(kind.size_bytes)] if kind.shards else ["", "", ""]
    return [kind.kind, kind.state, kind.base, kind.caught_up_to, *sizes]
