"""Validation as a job: what `hudi-engine validate` does, told in a report."""

import random
from dataclasses import dataclass, field

from hudi_engine.cli import screen
from hudi_engine.cli.phases import Phases
from hudi_engine.contract import JobReport, JobRequest, KindReport, Outcome
from hudi_engine.open import open_table
from hudi_engine.validate.report import Discrepancy
from hudi_engine.validate.run import Outcome as Checked
from hudi_engine.validate.run import Status, plan_checks, run_check
from hudi_engine.validate.subject import Sample, subject_of

_FAILED = 1
_SEEDS = 1 << 32
_TOLD_IN_REPORT = 5
_STATES = {Status.OK: Outcome.VALID, Status.SKIPPED: Outcome.SKIPPED}


def check(request: JobRequest, phases: Phases) -> JobReport:
    """The indexes of these kinds, or all, compared with the data. Discrepancies are lines on standard output."""
    table = open_table(request.table, request.conf)
    plan = plan_checks(table.metadata, request.kinds)
    sample = None if request.sample is None else Sample(request.sample, random.randrange(_SEEDS))
    subject = subject_of(table.table, table.metadata, sample, _Rows(phases))
    found = _Found(phases)
    outcomes = []
    for planned in plan:
        phases.begin(f"validate {planned.index}")
        outcomes.append(run_check(subject, planned, found.tell))
    is_bad = any(outcome.is_bad for outcome in outcomes)
    return JobReport(
        Outcome.INVALID if is_bad else Outcome.VALID,
        _FAILED if is_bad else 0,
        reason="; ".join((*filter(None, map(_said, outcomes)), *found.first)),
        kinds=tuple(map(_kind_report, outcomes)),
    )


def _kind_report(outcome: Checked) -> KindReport:
    state = _STATES.get(outcome.status, Outcome.INVALID)
    return KindReport(outcome.planned.index, state, duplicates=outcome.duplicates)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What validation counts are rows and entries; how many there will be nobody knows."""

    phases: Phases

    def advance(self, count: int) -> None:
        self.phases.advance(0, count)


@dataclass(frozen=True, slots=True)
class _Found:
    """Tells each discrepancy in a line, and keeps the first ones for the report."""

    phases: Phases
    first: list[str] = field(default_factory=list)

    def tell(self, discrepancy: Discrepancy) -> None:
        line = screen.safe(self.phases.veil.over(str(discrepancy)))
        print(line, flush=True)
        if len(self.first) < _TOLD_IN_REPORT:
            self.first.append(line)


def _said(outcome: Checked) -> str:
    if outcome.discrepancies:
        return f"{outcome.planned.index}: {outcome.discrepancies:,} discrepancies"
    return f"{outcome.planned.index}: {outcome.reason}" if outcome.reason else ""
