"""What is shown of a resource: one row, as `kubectl get` would have it."""

from collections.abc import Mapping
from dataclasses import dataclass

from hudi_operator.resources.model import Ref
from hudi_operator.resources.unreadable import Stored
from hudi_operator.words import Condition, Kind

SHORT = {Kind.TABLE: "hudit", Kind.INDEX: "hudii", Kind.SERVICE: "hudis"}
_BAR_WIDTH = 24


@dataclass(frozen=True, slots=True)
class Row:
    """`ready` and `stalled` are the statuses of the conditions; `percent` and `rows` are of the run at work."""

    name: str
    ready: str
    stalled: str
    reconciling: str
    state: str
    reason: str
    message: str
    lag_instants: int | None = None
    phase: str = ""
    percent: float | None = None
    rows: int = 0
    said: str = ""

    @staticmethod
    def of(resource: Stored, status: Mapping[str, object]) -> "Row":
        conditions = {str(entry["type"]): entry for entry in _entries(status.get("conditions"))}
        ready, stalled = conditions.get(Condition.READY, {}), conditions.get(Condition.STALLED, {})
        told = stalled if stalled.get("status") == "True" else ready
        progress, instants = _object(status.get("progress")), _object(status.get("instants"))
        percent, rows, lag = progress.get("percent"), progress.get("rows"), instants.get("lagInstants")
        return Row(
            name=shown(resource.meta.ref),
            ready=str(ready.get("status", "Unknown")),
            stalled=str(stalled.get("status", "Unknown")),
            reconciling=str(conditions.get(Condition.RECONCILING, {}).get("status", "Unknown")),
            state=str(status.get("state", "")),
            reason=str(told.get("reason", "")),
            message=str(told.get("message", "")),
            lag_instants=lag if isinstance(lag, int) else None,
            phase=str(progress.get("phase", "")),
            percent=float(percent) if isinstance(percent, int | float) else None,
            rows=rows if isinstance(rows, int) else 0,
            said=str(progress.get("summary", "")),
        )

    @property
    def is_ready(self) -> bool:
        """As it should be, with nothing left to do."""
        return self.ready == "True" and self.reconciling != "True" and self.stalled != "True"

    @property
    def news(self) -> tuple[str, ...]:
        """What is worth a line of its own when it changes; progress and lag are not."""
        return (self.ready, self.stalled, self.state, self.reason, self.message)

    def line(self) -> str:
        progress = "-" if self.percent is None else f"{self.percent:.0f}%"
        lag = "-" if self.lag_instants is None else str(self.lag_instants)
        cells = f"{self.name:<30} {self.ready:<7} {self.state:<16} {progress:<8} {lag:<4} {self.reason:<20} "
        return f"{cells}{' '.join(self.message.split())}".rstrip()

    def bar(self) -> str:
        """How far the run at work is; empty if there is none that says so."""
        if not self.phase:
            return ""
        done = round(_BAR_WIDTH * (self.percent or 0.0) / 100)
        percent = "" if self.percent is None else f" {self.percent:3.0f}%"
        rows = f" {self.rows:,} rows" if self.rows else ""
        return f"{self.name} [{'#' * done}{'.' * (_BAR_WIDTH - done)}]{percent} {self.phase}{rows} {self.said}".rstrip()


HEAD = f"{'NAME':<30} {'READY':<7} {'STATE':<16} {'PROGRESS':<8} {'LAG':<4} {'REASON':<20} MESSAGE"


def shown(ref: Ref) -> str:
    """As `kubectl get` names it; the namespace only where it is not the usual one."""
    name = f"{SHORT[ref.kind]}/{ref.name}"
    return name if ref.namespace == "default" else f"{ref.namespace}/{name}"


def _entries(value: object) -> list[Mapping[str, object]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list | tuple) else []


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
