"""The page of metrics, made anew at each scrape of what was last observed and decided: nothing in it is invented."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from platform import python_version
from typing import Protocol

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from hudi_engine.contract import TableSeen, TableUnseen
from hudi_operator.metrics import families, status_seen
from hudi_operator.metrics.counts import Counts
from hudi_operator.metrics.index_page import put_index, put_lag
from hudi_operator.metrics.page import Page
from hudi_operator.metrics.service_page import put_service
from hudi_operator.metrics.table_page import put_table
from hudi_operator.resources.model import HudiTable, MetadataIndex, Ref, Resource, TableService, table_ref
from hudi_operator.runs import RunKey, RunSeen
from hudi_operator.version import installed_version
from hudi_operator.words import Kind, State


class Held(Protocol):
    """A resource, and the status that stands there."""

    @property
    def resource(self) -> Resource: ...

    @property
    def status(self) -> Mapping[str, object]: ...


class Observed(Protocol):
    """What was last seen: resources, all runs that there are records of, and looks at HudiTables."""

    @property
    def resources(self) -> Mapping[Ref, Held]: ...

    @property
    def runs(self) -> Mapping[RunKey, RunSeen]: ...

    @property
    def seen(self) -> Mapping[Ref, TableSeen | TableUnseen]: ...


class TableCollector(Collector):
    """A page over what is observed, and over what was counted of the tables that still have a resource."""

    def __init__(self, observed: Observed, counts: Counts) -> None:
        self._observed = observed
        self._counts = counts
        self._build = (installed_version(), python_version(), version("kopf"))

    def collect(self) -> Iterator[Metric]:
        page, observed, counts = Page(), self._observed, self._counts
        tables = {ref for ref in observed.resources if ref.kind is Kind.TABLE}
        counts.forget(tables, observed.runs)
        page.put(families.BUILD_INFO, 1, *self._build)
        _put_states(page, observed.resources)
        runs = _by_owner(observed.runs.values())
        for ref, held in observed.resources.items():
            _put_conditions(page, held)
            _put_resource(page, held, observed.seen.get(table_ref(held.resource)), runs[ref])
            if table_ref(held.resource) in tables:
                counts.prepare(held.resource)
        page.put_all(counts.values())
        yield from page.families()

    def describe(self) -> Iterable[Metric]:
        """Nothing: a registry would else collect a page to learn the names."""
        return ()


def _put_states(page: Page, resources: Mapping[Ref, Held]) -> None:
    counted = Counter((ref.namespace, ref.kind, status_seen.state(held.status)) for ref, held in resources.items())
    for namespace, kind in {(ref.namespace, ref.kind) for ref in resources}:
        for state in State:
            page.put(families.RESOURCES, counted[namespace, kind, state], namespace, kind, state)


def _put_conditions(page: Page, held: Held) -> None:
    ref, table = held.resource.meta.ref, table_ref(held.resource).name
    for condition, holds in status_seen.conditions(held.status).items():
        page.put(families.CONDITION, 1, ref.namespace, table, ref.kind, ref.name, condition, holds)


def _put_resource(page: Page, held: Held, seen: TableSeen | TableUnseen | None, runs: Sequence[RunSeen]) -> None:
    match held.resource:
        case HudiTable() as table:
            put_table(page, table, seen)
        case MetadataIndex() as index:
            put_index(page, index, held.status, runs)
            put_lag(page, index, seen)
        case TableService() as service:
            put_service(page, service, held.status, runs)


def _by_owner(runs: Iterable[RunSeen]) -> defaultdict[Ref, list[RunSeen]]:
    by_owner = defaultdict(list)
    for run in runs:
        by_owner[run.owner].append(run)
    return by_owner
