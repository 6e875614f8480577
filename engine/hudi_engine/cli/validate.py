"""`hudi-engine validate`: whether the indexes of a table tell the truth."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from hudi_engine.cli import screen
from hudi_engine.cli.failures import document_of, leave
from hudi_engine.cli.options import Conf, Location, Props, configuration
from hudi_engine.cli.progress import Counting, counting
from hudi_engine.open import open_table
from hudi_engine.validate.report import Discrepancy
from hudi_engine.validate.run import Outcome, Planned, Status, plan_checks, run_check
from hudi_engine.validate.subject import Sample, Subject, subject_of

_SEEDS = 1 << 32
_FAILED = 1
_BEGIN = '{"discrepancies": [\n'


def validate(
    location: Location,
    index: Annotated[
        list[str] | None,
        typer.Option(
            "--index",
            metavar="KIND",
            help="Only this index, or all of this kind (files, record_index, secondary_index, column_stats, "
            "partition_stats, bloom_filters); may be repeated. Else all that are complete.",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option("--sample", metavar="N", min=1, help="Only N file groups of the data, chosen by chance."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="S", help="Choose the same sample as the run that named this seed.")
    ] = None,
    conf: Conf = None,
    props: Props = None,
    *,
    json: Annotated[
        bool,
        typer.Option("--json", help="One JSON document on standard output, written while it runs; progress on stderr."),
    ] = False,
) -> None:
    """Compare the indexes of a table with what its data files and logs hold, both ways.

    Tells each discrepancy in a line, as it is found: the index, what kind of fault, the key and its place. At the end
    comes what became of each index. An index that is in flight or of a kind without a check is skipped and not called
    ok; one that cannot be read is a fault, and the others are looked at all the same. Exits with 0 if no fault was
    found, with 1 if one was.
    """
    if seed is not None and sample is None:
        raise typer.BadParameter("it chooses the file groups of --sample, which is not given", param_hint="--seed")
    chosen = None if sample is None else Sample(sample, random.randrange(_SEEDS) if seed is None else seed)
    table = open_table(location, configuration(conf, props))
    plan = plan_checks(table.metadata, index or ())
    with counting("rows and entries", "indexes", len(plan)) as progress:
        subject = subject_of(table.table, table.metadata, chosen, progress)
        report = (_Document if json else _Lines)(subject, chosen, progress)
        ending = _run(plan, report)
    report.end(ending)
    if ending.stopped is not None:
        leave(ending.stopped)
    if not ending.is_good:
        raise typer.Exit(_FAILED)


@dataclass(frozen=True, slots=True)
class _Ending:
    """What became of the indexes, and the error that kept the rest from being looked at."""

    outcomes: Sequence[Outcome]
    stopped: BaseException | None = None

    @property
    def is_good(self) -> bool:
        return self.stopped is None and not any(outcome.is_bad for outcome in self.outcomes)


@dataclass(slots=True)
class _Lines:
    """For people: a line a discrepancy, a grid at the end."""

    subject: Subject
    sample: Sample | None
    progress: Counting

    def tell(self, discrepancy: Discrepancy) -> None:
        self.progress.say(f"{screen.safe(str(discrepancy))}\n")

    def end(self, ending: _Ending) -> None:
        count = sum(outcome.discrepancies for outcome in ending.outcomes)
        title = f"{self.subject.table.config.name} as of {self.subject.snapshot.instant or 'no commit yet'}: "
        if ending.stopped is not None:
            title += "stopped before the end"
        else:
            title += {0: "no discrepancy", 1: "one discrepancy"}.get(count, f"{count:,} discrepancies")
        if self.sample is not None:
            title += f" in {len(self.subject.slices)} of {len(self.subject.snapshot.slices)} file groups"
            title += f" (--seed {self.sample.seed})"
        columns = ["index", "status", "looked at>", "discrepancies>", "seconds>", "why"]
        screen.show_grid(title, columns, map(_row, ending.outcomes))


@dataclass(slots=True)
class _Document:
    """For programs: one document, of which nothing but the line in hand is kept in memory."""

    subject: Subject
    sample: Sample | None
    progress: Counting
    is_begun: bool = False

    def tell(self, discrepancy: Discrepancy) -> None:
        self.progress.say(f"{',' if self.is_begun else _BEGIN}{screen.json_text(_said(discrepancy))}\n")
        self.is_begun = True

    def end(self, ending: _Ending) -> None:
        rest: dict[str, object] = {
            "instant": self.subject.snapshot.instant,
            "file_groups": len(self.subject.slices),
            "seed": None if self.sample is None else self.sample.seed,
            "checks": [_check(outcome) for outcome in ending.outcomes],
            "ok": ending.is_good,
        }
        if ending.stopped is not None:
            rest["error"] = document_of(ending.stopped)
        self.progress.say(f"{'' if self.is_begun else _BEGIN}],{screen.json_text(rest)[1:]}\n")


def _run(plan: Sequence[Planned], report: _Lines | _Document) -> _Ending:
    outcomes: list[Outcome] = []
    try:
        for planned in plan:
            report.progress.begin(planned.index)
            outcomes.append(run_check(report.subject, planned, report.tell))
    except BrokenPipeError:
        raise  # Nobody reads the end.
    except (Exception, KeyboardInterrupt) as stopped:  # noqa: BLE001 - a document has an end, whatever happens
        return _Ending(outcomes, stopped)
    return _Ending(outcomes)


def _said(discrepancy: Discrepancy) -> dict[str, object]:
    return {
        "index": discrepancy.index,
        "fault": discrepancy.fault,
        "key": discrepancy.key,
        "place": discrepancy.place,
        "found": discrepancy.found,
        "expected": discrepancy.expected,
    }


def _check(outcome: Outcome) -> dict[str, object]:
    return {
        "index": outcome.planned.index,
        "kind": outcome.planned.kind,
        "status": outcome.status,
        "reason": outcome.reason,
        "looked_at": outcome.looked_at,
        "discrepancies": outcome.discrepancies,
        "duplicates": outcome.duplicates,
        "seconds": outcome.seconds,
    }


def _row(outcome: Outcome) -> list[object]:
    if outcome.status is Status.SKIPPED:
        return [outcome.planned.index, outcome.status, "", "", "", outcome.reason]
    counts = [f"{outcome.looked_at:,}", outcome.discrepancies, f"{outcome.seconds:.1f}"]
    duplicates = f"duplicates: {outcome.duplicates:,}" if outcome.duplicates else ""
    return [outcome.planned.index, outcome.status, *counts, "; ".join(filter(None, (outcome.reason, duplicates)))]
