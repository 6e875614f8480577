"""What happened since the operator started: counters and histograms, from 0 at each start.

Each run is counted once, by its key, and only if it ended since the operator started or was seen live by it: a new
operator that finds the records of old runs does not count them again. What ended while no operator ran is in no
counter; the gauges, which say what is, show it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from hudi_engine.contract import Action, IndexState, TableSeen, TableUnseen, UnseenReason
from hudi_operator.metrics import families
from hudi_operator.metrics.families import Family
from hudi_operator.metrics.page import Labels, Spread
from hudi_operator.metrics.results import Result, result_of
from hudi_operator.resources.model import HudiTable, MetadataIndex, Ref, Resource, TableService, table_ref
from hudi_operator.runs import RunKey, RunSeen
from hudi_operator.words import Kind

# What is of no table is kept under this one.
_OPERATOR = Ref(Kind.TABLE, "", "")


class Reconciled(StrEnum):
    """How a reconciliation ended: nothing to do for now, something done and more to come, or an error."""

    SUCCESS = "success"
    REQUEUE = "requeue"
    ERROR = "error"


class Trigger(StrEnum):
    """What a service's run was begun by."""

    SCHEDULE = "schedule"
    TOKEN = "token"

    @staticmethod
    def of(run: RunSeen) -> "Trigger":
        """By what the trigger's name begins with."""
        return Trigger.TOKEN if run.trigger.startswith("token-") else Trigger.SCHEDULE


@dataclass(slots=True)
class _Series:
    """The counters and histograms of one table, or of the operator."""

    numbers: dict[Family, dict[Labels, float]] = field(default_factory=lambda: defaultdict(dict))
    spreads: dict[Family, dict[Labels, Spread]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, family: Family, amount: float, *labels: str) -> None:
        series = self.numbers[family]
        series[labels] = series.get(labels, 0) + amount

    def spread(self, family: Family, value: float, *labels: str) -> None:
        self.spreads[family].setdefault(labels, Spread(family)).add(max(0.0, value))

    def set(self, family: Family, value: float, *labels: str) -> None:
        self.numbers[family][labels] = value


class Counts:
    """Told of what happens by those who see it; all from one thread, the event loop's."""

    def __init__(self, started_at: datetime) -> None:
        self._started_at = started_at
        self._series: dict[Ref, _Series] = {_OPERATOR: _operators()}
        self._live: set[RunKey] = set()
        self._counted: set[RunKey] = set()
        self._deleted: dict[Ref, frozenset[str]] = {}

    @property
    def _operator(self) -> _Series:
        return self._series[_OPERATOR]

    def leads(self, *, is_leader: bool) -> None:
        """Whether this process holds the Lease; never called where there is none."""
        self._operator.set(families.LEADER, float(is_leader))

    def reconciled(self, kind: Kind, result: Reconciled, seconds: float, now: datetime) -> None:
        self._operator.add(families.RECONCILES, 1, kind, result)
        self._operator.spread(families.RECONCILE_SECONDS, seconds, kind)
        self._operator.set(families.LAST_RECONCILE, now.timestamp(), kind)

    def waited(self, kind: Kind, seconds: float) -> None:
        """A resource that was due has waited so long for its reconciliation."""
        self._operator.spread(families.QUEUE_WAIT, seconds, kind)

    def queue_is(self, lengths: Mapping[Kind, int]) -> None:
        for kind in Kind:
            self._operator.set(families.QUEUE_LENGTH, lengths.get(kind, 0), kind)

    def requested(self, verb: str, resource: str, code: str, seconds: float | None) -> None:
        """A request to the API server was answered; `code` is `error` if it was not. A watch has no duration."""
        self._operator.add(families.API_REQUESTS, 1, verb, resource, code)
        if seconds is not None:
            self._operator.spread(families.API_SECONDS, seconds, verb, resource)

    def watch_restarted(self, resource: str, reason: str) -> None:
        self._operator.add(families.WATCH_RESTARTS, 1, resource, reason)

    def watch_heard(self, resource: str, now: datetime) -> None:
        self._operator.set(families.WATCH_LAST_EVENT, now.timestamp(), resource)

    def saw_table(self, table: Ref, seen: TableSeen | TableUnseen) -> None:
        """A look at the table was answered. An index is counted as dropped when it was not so at the look before.

        At the first look nothing is: it may have been dropped, and counted, long ago.
        """
        series, labels = self._of(table), (table.namespace, table.name)
        series.add(families.OBSERVATIONS, 1, *labels)
        if isinstance(seen, TableUnseen):
            series.add(families.OBSERVE_FAILURES, 1, *labels, seen.reason)
            return
        deleted = frozenset(index.name for index in seen.indexes if index.state is IndexState.DELETED)
        for name in (index.name for index in seen.indexes):
            is_new = name in deleted - self._deleted.get(table, deleted)
            series.add(families.METADATA_PARTITION_DROPS, int(is_new), *labels, name)
        self._deleted[table] = deleted

    def saw_runs(self, resource: Resource, runs: Iterable[RunSeen]) -> None:
        """Runs of the resource, as often as they are seen: each that ends is counted once."""
        for run in runs:
            if run.is_live:
                self._live.add(run.key)
            elif run.key not in self._counted and self._ended_under_us(run):
                self._count(resource, run)
                self._counted.add(run.key)
                self._live.discard(run.key)

    def forget(self, tables: Iterable[Ref], runs: Iterable[RunKey]) -> None:
        """Keeps only the series of these tables, and the keys of these runs: the others are gone for good."""
        kept, there = {_OPERATOR, *tables}, frozenset(runs)
        self._series = {table: series for table, series in self._series.items() if table in kept}
        self._deleted = {table: deleted for table, deleted in self._deleted.items() if table in kept}
        self._live &= there
        self._counted &= there

    def prepare(self, resource: Resource) -> None:
        """The counters of the resource exist from now on, at 0, so that their first increase is seen as one."""
        table = table_ref(resource)
        series, labels = self._of(table), (table.namespace, table.name)
        match resource:
            case HudiTable():
                series.add(families.OBSERVATIONS, 0, *labels)
                for reason in UnseenReason:
                    series.add(families.OBSERVE_FAILURES, 0, *labels, reason)
            case MetadataIndex(index_type=index_type):
                series.add(families.METADATA_PARTITION_DROPS, 0, *labels, resource.engine_name)
                series.add(families.BUILD_ROWS, 0, *labels, index_type)
                for result in Result:
                    series.add(families.BUILDS, 0, *labels, index_type, result)
            case TableService(type=service):
                for result in Result:
                    for trigger in Trigger:
                        series.add(families.SERVICE_RUNS, 0, *labels, service, result, trigger)

    def values(self) -> dict[Family, dict[Labels, float | Spread]]:
        """All of them, as they stand."""
        values: dict[Family, dict[Labels, float | Spread]] = defaultdict(dict)
        for series in self._series.values():
            for family, numbers in series.numbers.items():
                values[family].update(numbers)
            for family, spreads in series.spreads.items():
                values[family].update(spreads)
        return values

    def _of(self, table: Ref) -> _Series:
        return self._series.setdefault(table, _Series())

    def _ended_under_us(self, run: RunSeen) -> bool:
        return run.key in self._live or (run.ended_at is not None and run.ended_at >= self._started_at)

    def _count(self, resource: Resource, run: RunSeen) -> None:
        table = table_ref(resource)
        series, labels = self._of(table), (table.namespace, table.name)
        _count_lock(series, labels, run)
        if run.attempt > 1:
            series.add(families.RETRIES, 1, *labels, run.action)
        match resource:
            case MetadataIndex(index_type=index_type) if run.action is Action.BUILD:
                _count_build(series, (*labels, index_type), run)
            case TableService(type=service):
                _count_service(series, (*labels, service), run)


def _operators() -> _Series:
    series = _Series()
    for kind in Kind:
        for result in Reconciled:
            series.add(families.RECONCILES, 0, kind, result)
    return series


def _count_lock(series: _Series, labels: Labels, run: RunSeen) -> None:
    if run.report is None or not run.report.lock_holds.count:
        return
    holds = run.report.lock_holds
    waits = series.spreads[families.LOCK_WAIT].setdefault(labels, Spread(families.LOCK_WAIT))
    waits.sum += holds.waits_total_ms / 1000
    waits.count += holds.count
    series.set(families.LOCK_WAIT_MAX, holds.waits_max_ms / 1000, *labels)
    series.set(families.LOCK_HOLD_MAX, holds.max_ms / 1000, *labels)


def _count_build(series: _Series, labels: Labels, run: RunSeen) -> None:
    result = result_of(run)
    series.add(families.BUILDS, 1, *labels, result)
    if run.report is None:
        return
    series.add(families.BUILD_ROWS, run.report.rows, *labels)
    if result is Result.SUCCEEDED:
        for stage, seconds in run.report.seconds.items():
            series.spread(families.BUILD_SECONDS, seconds, *labels, stage)


def _count_service(series: _Series, labels: Labels, run: RunSeen) -> None:
    series.add(families.SERVICE_RUNS, 1, *labels, result_of(run), Trigger.of(run))
    if run.started_at is not None:
        series.spread(families.SERVICE_DELAY, (run.started_at - run.created_at).total_seconds(), *labels)
        if run.ended_at is not None:
            series.spread(families.SERVICE_SECONDS, (run.ended_at - run.started_at).total_seconds(), *labels)
