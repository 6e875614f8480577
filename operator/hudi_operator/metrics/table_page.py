"""The series of a table: what its timeline and its metadata table were at the last look."""

from hudi_engine.contract import TableSeen, TableUnseen, TimelineSeen
from hudi_operator.metrics import families
from hudi_operator.metrics.page import Labels, Page
from hudi_operator.resources.model import HudiTable


def put_table(page: Page, table: HudiTable, seen: TableSeen | TableUnseen | None) -> None:
    """Nothing of a table that was not seen at the last look: its figures of before are no longer known to hold."""
    if not isinstance(seen, TableSeen):
        return
    labels = (table.meta.ref.namespace, table.meta.ref.name)
    page.put(families.TABLE_INFO, 1, *labels, seen.type, str(seen.version), str(seen.layout))
    page.put(families.TABLE_LAST_OBSERVED, seen.observed_ms / 1000, *labels)
    for index in seen.indexes:
        page.put(families.METADATA_PARTITION, 1, *labels, index.name, index.state)
    _put_timeline(page, labels, seen.timeline)


def _put_timeline(page: Page, labels: Labels, timeline: TimelineSeen) -> None:
    for action, completed_ms in timeline.latest_by_action.items():
        page.put(families.LAST_COMMIT, completed_ms / 1000, *labels, action)
    for of_what, count in timeline.counts.items():
        action, _, state = of_what.partition("/")
        page.put(families.INSTANTS, count, *labels, action, state)
    for pending in reversed(timeline.pending):
        page.put(families.OLDEST_PENDING, pending.requested_ms / 1000, *labels, pending.action)
    if timeline.oldest_heartbeat_ms is not None:
        page.put(families.OLDEST_HEARTBEAT, timeline.oldest_heartbeat_ms / 1000, *labels)
