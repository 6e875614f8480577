"""What each kind is called, what `kubectl get` shows of it, and by what it is selected."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hudi_operator.words import Kind


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`; the wide ones are shown with -o wide only."""

    name: str
    path: str
    type: str = "string"
    is_wide: bool = False


def _condition(name: str, part: str) -> str:
    return f'.status.conditions[?(@.type=="{name}")].{part}'


_READY = Column("Ready", _condition("Ready", "status"))
_STATE = Column("State", ".status.state")
_REASON = Column("Reason", _condition("Ready", "reason"), is_wide=True)
_AGE = Column("Age", ".metadata.creationTimestamp", "date")
_TABLE = Column("Table", ".spec.tableRef.name")
_SUSPENDED = Column("Suspended", ".spec.suspend", "boolean")


@dataclass(frozen=True, slots=True)
class Names:
    """What a kind is called, what is shown of it, and by which fields it can be selected."""

    short: str
    description: str
    columns: tuple[Column, ...]
    selectable: tuple[str, ...] = ()


NAMES: Final[Mapping[Kind, Names]] = {
    Kind.TABLE: Names(
        "hudit",
        "A Hudi table and what all runs on it share. It owns no data and deletes none.",
        (
            _READY,
            _STATE,
            Column("Type", ".status.table.type"),
            Column("Pending", ".status.timeline.pendingInstants", "integer"),
            Column("Last Commit", ".status.timeline.latestCompletedTime", "date"),
            _SUSPENDED,
            Column("Path", ".spec.basePath", is_wide=True),
            _REASON,
            _AGE,
        ),
    ),
    Kind.INDEX: Names(
        "hudii",
        "An index of a table's metadata table, as a wish: it exists and keeps up with the table.",
        (
            _TABLE,
            Column("Type", ".spec.indexType"),
            _READY,
            _STATE,
            Column("Progress", ".status.progress.summary"),
            Column("Lag", ".status.instants.lagInstants", "integer"),
            Column("Columns", ".spec.columns", is_wide=True),
            Column("Base", ".status.instants.base", is_wide=True),
            Column("Caught Up To", ".status.instants.caughtUpTo", is_wide=True),
            _REASON,
            _AGE,
        ),
        (".spec.tableRef.name", ".spec.indexType"),
    ),
    Kind.SERVICE: Names(
        "hudis",
        "Runs on a table, by schedule or on demand, and what they found.",
        (
            _TABLE,
            Column("Type", ".spec.type"),
            _READY,
            _STATE,
            Column("Schedule", ".spec.schedule"),
            Column("Last Success", ".status.lastSuccessfulTime", "date"),
            Column("Last Result", ".status.lastRun.outcome"),
            _SUSPENDED,
            Column("Next", ".status.nextScheduleTime", is_wide=True),
            Column("Instant", ".status.lastRun.instant", is_wide=True),
            _REASON,
            _AGE,
        ),
        (".spec.tableRef.name", ".spec.type"),
    ),
}
