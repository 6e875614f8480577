"""A job from its request to its report: real time, real storage, a real lock, and whoever looks on."""

import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hudi_engine.action.drop import run_drop
from hudi_engine.action.index import build, run
from hudi_engine.action.plans import pending_plans
from hudi_engine.action.schedule import Skipped, schedule
from hudi_engine.action.site import Site
from hudi_engine.action.undo import run_abort
from hudi_engine.cli.asked import conf_of, index_request_of, owner
from hudi_engine.cli.built import built_report
from hudi_engine.cli.checking import check
from hudi_engine.cli.compute_choice import compute_of
from hudi_engine.cli.failures import DEBUG, exit_code, message
from hudi_engine.cli.mounted import read_mounted
from hudi_engine.cli.phases import Phases, watching
from hudi_engine.cli.planning import report_plan, require_planned, unchanged
from hudi_engine.cli.stopping import stoppable
from hudi_engine.cli.veil import veil_over
from hudi_engine.cli.version import distribution
from hudi_engine.clock import SystemClock
from hudi_engine.compute.order import Compute
from hudi_engine.concurrency.contradictions import refuse_contradicted
from hudi_engine.concurrency.heartbeat import Heartbeats, own_lease
from hudi_engine.concurrency.lock import LOCK_FOLDER_KEY, lock_of
from hudi_engine.contract import MAX_PHASE, MAX_PHASES, Action, JobReport, JobRequest, KindReport, LockHolds, Outcome
from hudi_engine.errors import Busy, EngineError, PlanChanged, TimedOut
from hudi_engine.storage.granted import granted
from hudi_engine.storage.open import open_storage
from hudi_engine.table.table import Table, open_table
from hudi_engine.watch import Watch

_TOLD: Mapping[type[BaseException], Outcome] = {
    Busy: Outcome.BUSY,
    TimedOut: Outcome.TIMED_OUT,
    PlanChanged: Outcome.PLAN_CHANGED,
}


def carry_out(request: JobRequest) -> JobReport:
    """What became of the job; errors and signals are told in the report, and how it ended in its exit code.

    No value of what the request has in folders (`conf_from`) is in the report or in what is written on the way.
    """
    try:
        mounted = read_mounted(request.conf_from)
    except EngineError as refused:
        return replace(_Job(request).stopped(refused), engine=distribution())
    veil = veil_over(mounted)
    try:
        conf = _granted(request, {**mounted, **conf_of(request)})
    except EngineError as refused:
        return replace(_Job(request).stopped(refused), reason=veil.over(str(refused)), engine=distribution())
    job = _Job(replace(request, conf=conf))
    with watching(request.progress_path, veil) as phases, stoppable():
        try:
            report = job.run(phases)
        except (Exception, KeyboardInterrupt) as stopped:  # noqa: BLE001 - a job has a report, whatever happens
            if os.environ.get(DEBUG):
                sys.stderr.write(veil.over(traceback.format_exc()))
            report = job.stopped(stopped)
    return replace(
        report,
        reason=veil.over(report.reason),
        seconds=_few(phases.seconds),
        lock_holds=_lock_holds(job.sites),
        rows=phases.rows_read,
        engine=distribution(),
    )


def _granted(request: JobRequest, conf: Mapping[str, str]) -> Mapping[str, str]:
    """The properties by which all that the job opens may be opened: the table, and the folder of its lock."""
    if request.grant is None:
        return conf
    lock_folder = conf.get(LOCK_FOLDER_KEY, "").strip()
    if lock_folder:
        granted(lock_folder, conf, request.grant)
    return granted(request.table, conf, request.grant)


@dataclass(frozen=True, slots=True)
class _Job:
    request: JobRequest
    sites: list[Site] = field(default_factory=list)

    def run(self, watch: Phases) -> JobReport:
        request = self.request
        if request.action is Action.VALIDATE:
            return check(request, watch)
        if request.action is Action.PLAN:
            watch.begin("plan")
            return report_plan(_table_of(request), request)
        return self._change(watch)

    def _change(self, watch: Phases) -> JobReport:
        request = self.request
        with compute_of(request) as compute:
            site = site_of(request.table, request.conf, compute, watch)
            self.sites.append(site)
            match request.action:
                case Action.SCHEDULE:
                    return self._schedule(site)
                case Action.BUILD:
                    require_planned(site.table(), request)
                    return built_report(site, build(site, index_request_of(request)), request.kinds)
                case Action.RUN:
                    assert request.instant is not None, "a request to run has an instant"
                    return built_report(site, run(site, request.instant))
                case Action.DROP:
                    return self._drop(site)
                case _:
                    return self._abort(site)

    def stopped(self, why: BaseException) -> JobReport:
        """What is told of a job that did not come to its end."""
        if isinstance(why, KeyboardInterrupt):
            return JobReport(Outcome.INTERRUPTED, exit_code(why), retry=True, reason=self._what_stays())
        outcome = _TOLD.get(type(why), Outcome.FAILED)
        retry = isinstance(why, EngineError) and why.retry
        return JobReport(outcome, exit_code(why), retry, message(why), self.request.instant)

    def _schedule(self, site: Site) -> JobReport:
        planned = schedule(site, index_request_of(self.request))
        if isinstance(planned, Skipped):
            return unchanged(planned.reasons, planned.plan)
        kinds = tuple(KindReport(index.name, Outcome.SCHEDULED, base=index.upto) for index in planned.indexes)
        return JobReport(Outcome.SCHEDULED, instant=planned.requested_at, kinds=kinds)

    def _drop(self, site: Site) -> JobReport:
        dropped = run_drop(site, self.request.kinds)
        if not dropped.indexes:
            return unchanged(dict.fromkeys(dropped.absent, "not there"))
        gone = (KindReport(name, Outcome.DROPPED) for name in dropped.indexes)
        kinds = (*gone, *(KindReport(name, Outcome.UNCHANGED) for name in dropped.absent))
        return JobReport(Outcome.DROPPED, kinds=kinds, reason=f"{len(dropped.files)} files deleted")

    def _abort(self, site: Site) -> JobReport:
        table = site.table()
        plans = [self.request.instant] if self.request.instant else _plans_of(table, self.request.kinds)
        if not plans:
            return unchanged(dict.fromkeys(self.request.kinds, "no pending plan"))
        undone = [run_abort(site, plan) for plan in plans]
        kinds = tuple(KindReport(name, Outcome.UNDONE) for each in undone for name in each.indexes)
        files = sum(len(each.files) for each in undone)
        return JobReport(Outcome.UNDONE, instant=plans[-1], kinds=kinds, reason=f"{files} files deleted")

    def _what_stays(self) -> str:
        """A look at the table: what a person who stopped the job wants to know."""
        try:
            table = _table_of(self.request)
            names = self.request.kinds
            stays = [self.request.instant] if self.request.instant else _plans_of(table, names)
        except EngineError as unknown:
            return f"interrupted; what is left cannot be told: {unknown}"
        if not stays:
            return "interrupted; no plan is left of it"
        return f"interrupted; the plan {stays[-1]} stays: the same request goes on with it, `index abort` undoes it"


def _table_of(request: JobRequest) -> Table:
    return open_table(open_storage(request.table, request.conf), SystemClock(), request.conf)


def site_of(location: str, conf: Mapping[str, str], compute: Compute, watch: Watch) -> Site:
    """The table there, with this process's time and identity and the lock that the properties say.

    Refused if what lies in the table contradicts that lock.
    """
    storage, clock, us = open_storage(location, conf), SystemClock(), owner()
    table = open_table(storage, clock, conf)
    lock = lock_of(conf, table, us)
    refuse_contradicted(conf, table)
    return Site(storage, clock, conf, lock, Heartbeats(storage, clock, own_lease(conf)), us, compute, watch)


def _plans_of(table: Table, kinds: tuple[str, ...]) -> list[str]:
    """The pending plans for any of these indexes, the oldest first."""
    plans = pending_plans(table, table.timeline()).values()
    return [plan.requested_at for plan in plans if any(plan.of(kind) for kind in kinds)]


def _few(seconds: Mapping[str, float]) -> dict[str, float]:
    """As many phases as a report has room for; further ones are added up in the last."""
    few: dict[str, float] = {}
    for phase, each in seconds.items():
        name = phase[:MAX_PHASE] if len(few) < MAX_PHASES - 1 else "others"
        few[name] = round(few.get(name, 0.0) + each, 3)
    return few


def _lock_holds(sites: Sequence[Site]) -> LockHolds:
    ascending = sorted(held for site in sites for held in site.holds_ms)
    waits = [waited for site in sites for waited in site.waits_ms]
    # The least hold that 99 in a hundred do not exceed.
    p99 = ascending[-(-99 * len(ascending) // 100) - 1] if ascending else 0
    return LockHolds(len(ascending), p99, max(ascending, default=0), sum(waits), max(waits, default=0))
