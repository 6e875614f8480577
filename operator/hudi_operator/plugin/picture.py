"""What `status` and `plan` print: pure text of what was seen."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from hudi_operator.plugin.claims import remedy, troubles
from hudi_operator.plugin.documents import Document, TableGroup, Tree
from hudi_operator.plugin.words import age, bar, number, size, span

_SHOWN_COLUMNS = 3


def status_lines(groups: Iterable[TableGroup], now: datetime) -> Iterator[str]:
    """A block for each table: itself, its indexes and services, then what is not as it should be."""
    for position, group in enumerate(groups):
        if position:
            yield ""
        yield from _table_lines(group, now)
        rows = [_index_row(index) for index in group.indexes]
        yield from _grid([*rows, *(_service_row(service, now) for service in group.services)])
        for document in group.documents:
            yield from _trouble_lines(document)


def plan_lines(index: Document, now: datetime) -> Iterator[str]:
    plan = index.plan
    state = index.state or "not looked at yet"
    yield f"{index.ref.namespace}/{index.ref.name}: {_kind(index)} of {index.table}, {state}"
    if not plan.text("hash"):
        yield "  no plan: there is one while approval is Manual and the index is still to be built"
        return
    yield f"  keys      {number(plan.number('keys'))} in {number(plan.number('shards'))} shards"
    reads, writes = size(plan.number("readBytes")), size(plan.number("writeBytes"))
    yield f"  bytes     {reads} to read, {writes} to write, {size(plan.number('memoryBytes'))} of memory"
    expected = plan.number("expectedDurationSeconds")
    if expected is not None:
        yield f"  time      about {span(expected)}"
    yield f"  planned   {age(plan.moment('plannedTime'), now)}"
    yield f"  hash      {plan.text('hash')}"
    if index.is_awaiting_approval:
        yield f"  waits for: kubectl hudi approve {index.ref.name} --hash {plan.text('hash')}"


def _table_lines(group: TableGroup, now: datetime) -> Iterator[str]:
    title = f"{group.namespace}/{group.name}"
    if group.table is None:
        yield f"{title}   there is no such HudiTable"
        return
    status = group.table.status
    facts = [group.table.state or "not looked at yet"]
    if status.text("table", "type"):
        facts.append(f"{status.text('table', 'type')}, version {number(status.number('table', 'version'))}")
    committed = age(status.moment("timeline", "latestCompletedTime"), now)
    facts += [f"last commit {committed}"] if committed else []
    pending = status.number("timeline", "pendingInstants")
    facts += [f"{number(pending)} pending"] if pending else []
    facts += ["suspended"] if group.table.spec.claim("suspend") else []
    yield f"{title}   {' · '.join(facts)}"
    yield f"  {group.table.spec.text('basePath')}"


def _index_row(index: Document) -> list[str]:
    return ["index", index.ref.name, _kind(index), index.state or "-", _way(index)]


def _kind(index: Document) -> str:
    """With its columns, of which there may be many."""
    columns = index.spec.texts("columns")
    shown = ", ".join([*columns[:_SHOWN_COLUMNS], *(["…"] if len(columns) > _SHOWN_COLUMNS else [])])
    return index.spec.text("indexType") + (f"({shown})" if shown else "")


def _way(index: Document) -> str:
    """How far it is: of a build its progress, else how far behind."""
    status, runs = index.status, index.status.trees("activeRuns")
    if index.is_awaiting_approval:
        return f"plan {index.plan.text('hash')} waits: kubectl hudi plan {index.ref.name}"
    parts = []
    for run in runs:
        progress = status.at("progress")
        percent = progress.number("percent")
        said = progress.text("summary") or progress.text("phase") or run.text("action")
        parts += [bar(percent), f"{percent:.0f}%" if percent is not None else "", said]
        parts += [f"attempt {number(run.number('attempt'))}" if (run.number("attempt") or 1) > 1 else ""]
    lag = status.number("instants", "lagInstants")
    if lag:
        parts.append(f"{number(lag)} instants behind, {span(status.number('instants', 'lagSeconds') or 0)}")
    elif lag == 0 and status.text("instants", "caughtUpTo"):
        parts.append(f"caught up to {status.text('instants', 'caughtUpTo')}")
    return " ".join(part for part in parts if part)


def _service_row(service: Document, now: datetime) -> list[str]:
    status, last = service.status, service.status.at("lastRun")
    parts = []
    if status.trees("activeRuns"):
        parts.append("running " + ", ".join(run.text("name") for run in status.trees("activeRuns")))
    if last.text("name"):
        parts.append(f"last {_outcome(last)} {age(last.moment('completionTime'), now)}".rstrip())
    upcoming = age(status.moment("nextScheduleTime"), now)
    parts += [f"next {upcoming}"] if upcoming else []
    missed = status.number("missedRuns")
    parts += [f"{number(missed)} missed"] if missed else []
    return ["service", service.ref.name, service.spec.text("type"), service.state or "-", ", ".join(parts)]


def _outcome(run: Tree) -> str:
    return run.text("outcome") or run.text("reason") or run.text("phase")


def _trouble_lines(document: Document) -> Iterator[str]:
    for claim in troubles(document):
        yield f"  ! {document.ref.name}: {claim.condition}={claim.status}, {claim.reason}: {claim.message}".rstrip(": ")
        told = remedy(document, claim.reason)
        if told:
            yield f"    → {told}"


def _grid(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield f"  {cells}".rstrip()
