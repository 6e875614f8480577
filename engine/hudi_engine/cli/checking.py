"""Validation as a job: what `hudi-engine validate` does, told in a report."""

from dataclasses import dataclass

from hudi_engine.cli import screen
from hudi_engine.cli.phases import Phases
from hudi_engine.contract import JobReport, JobRequest, KindReport, Outcome
from hudi_engine.open import open_table
from hudi_engine.validate.report import Discrepancy
from hudi_engine.validate.run import Outcome as Checked
from hudi_engine.validate.run import Status, plan_checks, run_check
from hudi_engine.validate.subject import subject_of

_FAILED = 1
_STATES = {Status.OK: Outcome.VALID, Status.SKIPPED: Outcome.SKIPPED}


def check(request: JobRequest, phases: Phases) -> JobReport:
    """The indexes of these kinds, or all, compared with the data. Discrepancies are lines on standard output."""
    table = open_table(request.table, request.conf)
    plan = plan_checks(table.metadata, request.kinds)
    subject = subject_of(table.table, table.metadata, None, _Rows(phases))
    outcomes = []
    for planned in plan:
        phases.begin(f"validate {planned.index}")
        outcomes.append(run_check(subject, planned, _tell))
    is_bad = any(outcome.is_bad for outcome in outcomes)
    return JobReport(
        Outcome.INVALID if is_bad else Outcome.VALID,
        _FAILED if is_bad else 0,
        reason="; ".join(filter(None, map(_said, outcomes))),
        kinds=tuple(KindReport(each.planned.index, _STATES.get(each.status, Outcome.INVALID)) for each in outcomes),
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """What validation counts are rows and entries; how many there will be nobody knows."""

    phases: Phases

    def advance(self, count: int) -> None:
        self.phases.advance(0, count)


def _tell(discrepancy: Discrepancy) -> None:
    print(screen.safe(str(discrepancy)), flush=True)


def _said(outcome: Checked) -> str:
    if outcome.discrepancies:
        return f"{outcome.planned.index}: {outcome.discrepancies:,} discrepancies"
    return f"{outcome.planned.index}: {outcome.reason}" if outcome.reason else ""
