"""Every family of metrics there is: its name, its type, its labels, and what it says. docs/metrics.md lists the same.

Names follow Prometheus' rules: base units, `_total` for counters, points in time instead of ages, and no label whose
values have no bound: no run, no instant, no path. `resource_namespace` is a resource's namespace, for `namespace` is
a word that a scrape sets itself; `table` is a HudiTable's name.
"""

from dataclasses import dataclass
from typing import Literal

OF_TABLE = ("resource_namespace", "table")
_OF_INDEX = (*OF_TABLE, "index", "index_type")
_OF_SERVICE = (*OF_TABLE, "service", "name")

_FAST = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_SLOW = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 43_200.0)


@dataclass(frozen=True, slots=True)
class Family:
    """`buckets` are the upper bounds of a histogram's, without infinity."""

    name: str
    type: Literal["gauge", "counter", "histogram", "summary"]
    says: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def is_of_table(self) -> bool:
        """Its series are dropped with the HudiTable that they are of."""
        return self.labels[:2] == OF_TABLE


BUILD_INFO = Family("hudi_operator_build_info", "gauge", "Always 1; what runs.", ("version", "python", "kopf"))
LEADER = Family("hudi_operator_leader", "gauge", "1 if this process holds the Lease, 0 if it waits for it.")
RESOURCES = Family("hudi_operator_resources", "gauge", "Resources in a state.", ("resource_namespace", "kind", "state"))
CONDITION = Family(
    "hudi_operator_resource_condition",
    "gauge",
    "Always 1; the status that a condition of a resource has. The two others have no series.",
    (*OF_TABLE, "kind", "name", "condition", "status"),
)
RECONCILES = Family("hudi_operator_reconciles_total", "counter", "Reconciliations that ended.", ("kind", "result"))
RECONCILE_SECONDS = Family(
    "hudi_operator_reconcile_duration_seconds", "histogram", "How long a reconciliation took.", ("kind",), _FAST
)
LAST_RECONCILE = Family(
    "hudi_operator_last_reconcile_timestamp_seconds", "gauge", "When a reconciliation ended last.", ("kind",)
)
QUEUE_LENGTH = Family(
    "hudi_operator_queue_length", "gauge", "Resources that are due and not reconciled yet.", ("kind",)
)
QUEUE_WAIT = Family(
    "hudi_operator_queue_wait_seconds",
    "histogram",
    "How long a resource that was due waited.",
    ("kind",),
    (*_FAST, 30.0, 120.0),
)
API_REQUESTS = Family(
    "hudi_operator_api_requests_total",
    "counter",
    "Requests to the API server; the code is error where no answer came.",
    ("verb", "resource", "code"),
)
API_SECONDS = Family(
    "hudi_operator_api_request_duration_seconds",
    "histogram",
    "How long a request to the API server took; watches are not among them.",
    ("verb", "resource"),
    _FAST,
)
WATCH_RESTARTS = Family("hudi_operator_watch_restarts_total", "counter", "Watches begun anew.", ("resource", "reason"))
WATCH_LAST_EVENT = Family(
    "hudi_operator_watch_last_event_timestamp_seconds",
    "gauge",
    "When a watch said anything last, bookmarks included.",
    ("resource",),
)

TABLE_INFO = Family(
    "hudi_table_info", "gauge", "Always 1; what the table is.", (*OF_TABLE, "type", "version", "layout_version")
)
TABLE_LAST_OBSERVED = Family(
    "hudi_table_last_observed_timestamp_seconds", "gauge", "When the table was seen last.", OF_TABLE
)
OBSERVATIONS = Family("hudi_table_observations_total", "counter", "Times that the table was looked at.", OF_TABLE)
OBSERVE_FAILURES = Family(
    "hudi_table_observe_failures_total", "counter", "Times that the table could not be seen.", (*OF_TABLE, "reason")
)
LAST_COMMIT = Family(
    "hudi_table_last_commit_timestamp_seconds",
    "gauge",
    "When an instant of the action was completed last.",
    (*OF_TABLE, "action"),
)
INSTANTS = Family(
    "hudi_table_instants", "gauge", "Instants on the active timeline.", (*OF_TABLE, "action", "instant_state")
)
OLDEST_PENDING = Family(
    "hudi_table_oldest_pending_instant_timestamp_seconds",
    "gauge",
    "When the oldest instant of the action that is pending was requested.",
    (*OF_TABLE, "action"),
)
OLDEST_HEARTBEAT = Family(
    "hudi_table_oldest_heartbeat_timestamp_seconds", "gauge", "The heartbeat that was renewed longest ago.", OF_TABLE
)
METADATA_PARTITION = Family(
    "hudi_table_metadata_partition",
    "gauge",
    "Always 1; the state that a partition of the metadata table has. The others have no series.",
    (*OF_TABLE, "partition", "partition_state"),
)
METADATA_PARTITION_DROPS = Family(
    "hudi_table_metadata_partition_drops_total",
    "counter",
    "Times that a partition of the metadata table was found deleted by a writer.",
    (*OF_TABLE, "partition"),
)
LOCK_WAIT = Family(
    "hudi_table_lock_wait_seconds",
    "summary",
    "How long runs waited for the table's lock; the count is that of its acquisitions.",
    OF_TABLE,
)
LOCK_WAIT_MAX = Family(
    "hudi_table_lock_wait_max_seconds", "gauge", "The longest wait for the lock of the run counted last.", OF_TABLE
)
LOCK_HOLD_MAX = Family(
    "hudi_table_lock_hold_max_seconds", "gauge", "The longest hold of the lock of the run counted last.", OF_TABLE
)

INDEX_READY = Family("hudi_index_ready", "gauge", "1 if the condition Ready is True, else 0.", _OF_INDEX)
INDEX_LAG_INSTANTS = Family(
    "hudi_index_lag_instants", "gauge", "Completed instants that the index does not hold.", _OF_INDEX
)
INDEX_LAG_SECONDS = Family(
    "hudi_index_lag_seconds", "gauge", "Time from what the index holds up to the newest instant.", _OF_INDEX
)
BUILD_PROGRESS = Family(
    "hudi_index_build_progress_ratio", "gauge", "Share of its work that the build that runs has done.", _OF_INDEX
)
BUILD_PHASE = Family(
    "hudi_index_build_phase", "gauge", "1 for the phase that the build that runs is in.", (*_OF_INDEX, "phase")
)
BUILD_ROWS_NOW = Family(
    "hudi_index_build_phase_rows", "gauge", "Rows that the phase of the build that runs has read.", _OF_INDEX
)
AWAITING_APPROVAL = Family("hudi_index_awaiting_approval", "gauge", "1 if a plan waits for its approval.", _OF_INDEX)
BUILDS = Family("hudi_index_builds_total", "counter", "Builds that ended.", (*OF_TABLE, "index_type", "result"))
BUILD_SECONDS = Family(
    "hudi_index_build_duration_seconds",
    "histogram",
    "How long a stage of a build took that succeeded.",
    (*OF_TABLE, "index_type", "stage"),
    _SLOW,
)
BUILD_ROWS = Family(
    "hudi_index_build_rows_total", "counter", "Rows that ended builds have indexed.", (*OF_TABLE, "index_type")
)

SERVICE_RUNS = Family(
    "hudi_service_runs_total", "counter", "Runs that ended.", (*OF_TABLE, "service", "result", "trigger")
)
SERVICE_SECONDS = Family(
    "hudi_service_run_duration_seconds", "histogram", "How long a run took.", (*OF_TABLE, "service"), _SLOW
)
SERVICE_DELAY = Family(
    "hudi_service_start_delay_seconds",
    "histogram",
    "Time from the order of a run to its start.",
    (*OF_TABLE, "service"),
    _SLOW,
)
SERVICE_ACTIVE = Family("hudi_service_active_runs", "gauge", "Runs that wait or run.", _OF_SERVICE)
SERVICE_LAST_RUN = Family(
    "hudi_service_last_run_timestamp_seconds", "gauge", "When the newest run was ordered.", _OF_SERVICE
)
SERVICE_LAST_SUCCESS = Family(
    "hudi_service_last_success_timestamp_seconds", "gauge", "When a run succeeded last.", _OF_SERVICE
)
SERVICE_NEXT = Family("hudi_service_next_schedule_timestamp_seconds", "gauge", "When the next run is due.", _OF_SERVICE)
RETRIES = Family(
    "hudi_operator_run_retries_total",
    "counter",
    "Runs that ended and were a second or later attempt.",
    (*OF_TABLE, "action"),
)

FAMILIES = tuple(family for family in globals().values() if isinstance(family, Family))
