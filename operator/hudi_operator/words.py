"""The closed sets of words that users meet: kinds, states, conditions and the reasons given for them."""

from enum import StrEnum

GROUP = "hudi-operator.dev"
VERSION = "v1alpha1"


class Kind(StrEnum):
    TABLE = "HudiTable"
    INDEX = "MetadataIndex"
    SERVICE = "TableService"

    @property
    def plural(self) -> str:
        """As it stands in the addresses of the API."""
        return {"HudiTable": "huditables", "MetadataIndex": "metadataindexes", "TableService": "tableservices"}[self]


class State(StrEnum):
    """One word for people; programs should read the conditions."""

    PENDING = "Pending"
    PLANNING = "Planning"
    AWAITING_APPROVAL = "AwaitingApproval"
    BUILDING = "Building"
    CATCHING_UP = "CatchingUp"
    READY = "Ready"
    RECOVERING = "Recovering"
    SUSPENDED = "Suspended"
    DROPPING = "Dropping"
    DEGRADED = "Degraded"
    FAILED = "Failed"
    IDLE = "Idle"
    RUNNING = "Running"


class Condition(StrEnum):
    READY = "Ready"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"
    # of a HudiTable
    REACHABLE = "Reachable"
    LOCK_AVAILABLE = "LockAvailable"
    METADATA_CONSISTENT = "MetadataConsistent"
    TIMELINE_HEALTHY = "TimelineHealthy"
    UNIQUE = "Unique"
    # of a MetadataIndex
    PLANNED = "Planned"
    APPROVED = "Approved"
    BUILT = "Built"
    CAUGHT_UP = "CaughtUp"
    # of a TableService
    LAST_RUN_SUCCEEDED = "LastRunSucceeded"


class Reason(StrEnum):
    """Why a condition is as it is."""

    # the spec
    INVALID_SPEC = "InvalidSpec"
    SUSPENDED = "Suspended"
    PAUSED = "Paused"
    DUPLICATE_INDEX = "DuplicateIndex"
    # a table
    OBSERVED = "Observed"
    NOT_OBSERVED = "NotObserved"
    ACCESS_DENIED = "AccessDenied"
    NOT_ALLOWED = "NotAllowed"
    NOT_FOUND = "NotFound"
    NOT_A_HUDI_TABLE = "NotAHudiTable"
    TABLE_UNSUPPORTED = "TableUnsupported"
    TABLE_CORRUPT = "TableCorrupt"
    TIMED_OUT = "TimedOut"
    STORAGE_UNAVAILABLE = "StorageUnavailable"
    TABLE_NAME_DIFFERS = "TableNameDiffers"
    CONSISTENT = "Consistent"
    PARTITION_DROPPED = "PartitionDropped"
    INDEX_STALE = "IndexStale"
    INDEX_INVALID = "IndexInvalid"
    ORPHANED_PLAN = "OrphanedPlan"
    HEALTHY = "Healthy"
    HEARTBEAT_EXPIRED = "HeartbeatExpired"
    STALE_PENDING = "StalePending"
    UNIQUE = "Unique"
    DUPLICATE_BASE_PATH = "DuplicateBasePath"
    # an index
    INDEX_IN_SYNC = "IndexInSync"
    NOT_BUILT = "NotBuilt"
    BUILDING = "Building"
    BUILT = "Built"
    BUILDING_ELSEWHERE = "BuildingElsewhere"
    CATCHING_UP = "CatchingUp"
    CAUGHT_UP = "CaughtUp"
    DROPPED_BY_WRITER = "DroppedByWriter"
    REBUILDING = "Rebuilding"
    RECOVERING = "Recovering"
    DEPENDENCY_NOT_READY = "DependencyNotReady"
    TABLE_NOT_READY = "TableNotReady"
    TABLE_MISSING = "TableMissing"
    TABLE_BUSY = "TableBusy"
    PLANNING = "Planning"
    PLANNED = "Planned"
    PLAN_CHANGED = "PlanChanged"
    AWAITING_APPROVAL = "AwaitingApproval"
    APPROVED = "Approved"
    NOT_NEEDED = "NotNeeded"
    DROPPING = "Dropping"
    DROPPED = "Dropped"
    # runs
    SCHEDULED = "Scheduled"
    IDLE = "Idle"
    RUNNING = "Running"
    NEVER_RAN = "NeverRan"
    BACKING_OFF = "BackingOff"
    SUCCEEDED = "Succeeded"
    INVALID = "Invalid"
    RETRIES_EXHAUSTED = "RetriesExhausted"
    BAD_CONFIGURATION = "BadConfiguration"
    CONTENTION = "Contention"
    LOCK_UNAVAILABLE = "LockUnavailable"
    INFRASTRUCTURE = "Infrastructure"
    OUT_OF_MEMORY = "OutOfMemory"
    OUT_OF_DISK = "OutOfDisk"
    EVICTED = "Evicted"
    PREEMPTED = "Preempted"
    NODE_LOST = "NodeLost"
    INTERNAL = "Internal"
    DEADLINE_EXCEEDED = "DeadlineExceeded"
    IMAGE_PULL_FAILED = "ImagePullFailed"
    UNSCHEDULABLE = "Unschedulable"
    POD_REFUSED = "PodRefused"
    QUOTA_EXCEEDED = "QuotaExceeded"
    SERVICE_ACCOUNT_MISSING = "ServiceAccountMissing"
    SECRET_MISSING = "SecretMissing"
    VOLUME_MISSING = "VolumeMissing"
    NAME_CONFLICT = "NameConflict"
    RECONCILED = "Reconciled"
    NOT_STALLED = "NotStalled"
