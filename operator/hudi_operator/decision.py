"""What is to be done next about a resource, and what is said of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from hudi_engine.contract import TableSeen, TableUnseen
from hudi_operator.policy import Policy
from hudi_operator.resources.model import HudiTable, MetadataIndex, Ref, Resources, TableService
from hudi_operator.runs import RunKey, RunOrder, RunSeen
from hudi_operator.words import Condition, Reason, State

# The memory is twice what the engine is told to fill. Both amounts are given, since a quota may demand them.
_RESOURCES = Resources(
    requests={"cpu": "1", "memory": "4Gi", "ephemeral-storage": "1Gi"}, limits={"cpu": "2", "memory": "4Gi"}
)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the operator was started with; stands in for what neither resource nor table says."""

    image: str = "hudi-operator-engine:latest"
    image_pull_policy: str = "IfNotPresent"
    service_account_name: str = "hudi-operator-run"
    executor_service_account_name: str = "hudi-operator-executor"
    driver: Resources = _RESOURCES
    executor: Resources = _RESOURCES
    scratch_size: str = "50Gi"
    tmp_size: str = "1Gi"
    memory_bytes: int = 2 << 30
    retry_limit: int = 5
    backoff_seconds: int = 10
    max_backoff_seconds: int = 600
    start_timeout_seconds: int = 600
    active_deadline_seconds: int = 86_400
    termination_grace_period_seconds: int = 60
    ttl_seconds_after_finished: int = 86_400
    # None where users and the operator are the same person: nothing is refused.
    policy: Policy | None = None


@dataclass(frozen=True, slots=True)
class World:
    """All that a decision may go by. `runs` are the resource's own, `others` those of the same table's other resources,
    and all that are live in the table's place.

    `table` is the resource itself where that is a HudiTable, None where there is no such resource. `neighbours` are the
    other resources of the table, and other tables with its base path. `previous` is the status as it was last written,
    a cache: nothing may depend on it that would be lost with it. `statuses` are those of neighbours that are known.
    """

    now: datetime
    table: HudiTable | None = None
    seen: TableSeen | TableUnseen | None = None
    runs: tuple[RunSeen, ...] = ()
    others: tuple[RunSeen, ...] = ()
    neighbours: tuple[HudiTable | MetadataIndex | TableService, ...] = ()
    previous: Mapping[str, object] = field(default_factory=dict)
    statuses: Mapping[Ref, Mapping[str, object]] = field(default_factory=dict)
    defaults: Defaults = Defaults()


@dataclass(frozen=True, slots=True)
class Start:
    """`why` is the need that the run is to meet, in a sentence."""

    order: RunOrder
    why: str = ""


@dataclass(frozen=True, slots=True)
class Stop:
    run: RunKey
    why: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Ended runs beyond what history is to be kept of."""

    runs: tuple[RunKey, ...]


@dataclass(frozen=True, slots=True)
class SetFinalizer:
    is_wanted: bool


@dataclass(frozen=True, slots=True)
class RemoveAnnotation:
    """A user's wish that is fulfilled or cannot be: approve, stop. `why` is told as an event, empty if it is plain."""

    name: str
    why: str = ""


Act = Start | Stop | Forget | SetFinalizer | RemoveAnnotation


@dataclass(frozen=True, slots=True)
class Said:
    """One condition."""

    condition: Condition
    status: Literal["True", "False", "Unknown"]
    reason: Reason
    message: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """At most one act, what is said meanwhile, and when to look again if nothing happens."""

    state: State
    said: tuple[Said, ...]
    act: Act | None = None
    again_in_seconds: float = 600.0
    # What the status has beside state and conditions, by its field names.
    facts: Mapping[str, object] = field(default_factory=dict)
