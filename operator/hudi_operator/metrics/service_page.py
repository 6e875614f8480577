"""The series of a service: its runs as their records tell, and when the next is due."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from hudi_operator.metrics import families, status_seen
from hudi_operator.metrics.page import Page
from hudi_operator.resources.model import TableService
from hudi_operator.runs import RunSeen


def put_service(page: Page, service: TableService, status: Mapping[str, object], runs: Sequence[RunSeen]) -> None:
    """The last success is the status', which remembers it when the run's record is gone."""
    labels = (service.meta.ref.namespace, service.table, service.type, service.meta.ref.name)
    page.put(families.SERVICE_ACTIVE, sum(run.is_live for run in runs), *labels)
    page.put(families.SERVICE_LAST_RUN, _newest(run.created_at for run in runs), *labels)
    page.put(families.SERVICE_LAST_SUCCESS, status_seen.moment(status, "lastSuccessfulTime"), *labels)
    page.put(families.SERVICE_NEXT, status_seen.moment(status, "nextScheduleTime"), *labels)


def _newest(moments: Iterable[datetime]) -> float | None:
    return max((moment.timestamp() for moment in moments), default=None)
