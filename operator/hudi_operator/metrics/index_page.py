"""The series of an index: whether it is ready, how far behind, and how far its build is."""

from collections.abc import Mapping, Sequence

from hudi_engine.contract import Action, IndexSeen, IndexState, RunProgress, TableSeen, TableUnseen
from hudi_operator.metrics import families, status_seen
from hudi_operator.metrics.page import Labels, Page
from hudi_operator.resources.model import MetadataIndex
from hudi_operator.runs import RunSeen
from hudi_operator.words import Condition, State

# An index lags behind from when its base is written; before, there is nothing that could.
_CAN_LAG = (IndexState.IN_FLIGHT, IndexState.COMPLETE)


def put_index(page: Page, index: MetadataIndex, status: Mapping[str, object], runs: Sequence[RunSeen]) -> None:
    labels = _labels(index)
    ready = status_seen.conditions(status).get(Condition.READY)
    if ready is not None:
        page.put(families.INDEX_READY, int(ready == "True"), *labels)
        page.put(families.AWAITING_APPROVAL, int(status_seen.state(status) is State.AWAITING_APPROVAL), *labels)
    for run in runs:
        if not run.is_live or run.action is not Action.BUILD:
            continue
        if run.progress is not None:
            _put_progress(page, labels, run.progress)
        elif phase := status_seen.phase(status):
            page.put(families.BUILD_PHASE, 1, *labels, phase)


def put_lag(page: Page, index: MetadataIndex, seen: TableSeen | TableUnseen | None) -> None:
    if not isinstance(seen, TableSeen):
        return
    for found in seen.indexes:
        if found.name == index.engine_name and _is_lag_known(found):
            page.put(families.INDEX_LAG_INSTANTS, found.lag_instants, *_labels(index))
            page.put(families.INDEX_LAG_SECONDS, found.lag_seconds, *_labels(index))


def _is_lag_known(found: IndexSeen) -> bool:
    return found.state in _CAN_LAG and found.caught_up_to is not None


def _put_progress(page: Page, labels: Labels, progress: RunProgress) -> None:
    if progress.percent is not None:
        page.put(families.BUILD_PROGRESS, progress.percent / 100, *labels)
    page.put(families.BUILD_PHASE, 1, *labels, progress.phase)
    page.put(families.BUILD_ROWS_NOW, progress.rows, *labels)


def _labels(index: MetadataIndex) -> Labels:
    return (index.meta.ref.namespace, index.table, index.meta.ref.name, index.index_type)
