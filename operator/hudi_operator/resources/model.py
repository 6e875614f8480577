"""What users wish for: the three kinds as values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from hudi_operator.words import Kind

_NOT_OF_NAMES = re.compile("[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """Names one resource."""

    kind: Kind
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Meta:
    """What Kubernetes knows of any resource."""

    ref: Ref
    uid: str
    generation: int = 1
    resource_version: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    finalizers: tuple[str, ...] = ()
    created_at: datetime | None = None
    deleting_since: datetime | None = None


class ExecutionMode(StrEnum):
    SPARK = "Spark"
    DRIVER_ONLY = "DriverOnly"


@dataclass(frozen=True, slots=True)
class Resources:
    """Of a container: quantities as Kubernetes writes them."""

    requests: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """What is added to a pod of a run and to its container; what Kubernetes alone reads stays as it was written."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    affinity: Mapping[str, object] = field(default_factory=dict)
    tolerations: tuple[Mapping[str, object], ...] = ()
    priority_class_name: str | None = None
    volumes: tuple[Mapping[str, object], ...] = ()
    env: tuple[Mapping[str, object], ...] = ()
    volume_mounts: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class DynamicAllocation:
    """How few and how many executors there may be."""

    max_instances: int
    min_instances: int | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    limit: int | None = None
    backoff_seconds: int | None = None
    max_backoff_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Execution:
    """How runs are carried out; None and empty mean: as the table says, else as the operator does by default."""

    mode: ExecutionMode | None = None
    image: str | None = None
    image_pull_policy: str | None = None
    image_pull_secrets: tuple[str, ...] = ()
    service_account_name: str | None = None
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    hudi_conf: Mapping[str, str] = field(default_factory=dict)
    hadoop_conf: Mapping[str, str] = field(default_factory=dict)
    driver: Resources | None = None
    executor_instances: int | None = None
    executor: Resources | None = None
    dynamic_allocation: DynamicAllocation | None = None
    executor_service_account_name: str | None = None
    driver_template: PodTemplate = PodTemplate()
    executor_template: PodTemplate = PodTemplate()
    start_timeout_seconds: int | None = None
    active_deadline_seconds: int | None = None
    termination_grace_period_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    retry: Retry = Retry()


class ConcurrencyMode(StrEnum):
    SINGLE_WRITER = "SingleWriter"
    OPTIMISTIC = "Optimistic"


@dataclass(frozen=True, slots=True)
class ZooKeeperLock:
    connect_string: str
    base_path: str
    lock_key: str
    session_timeout_seconds: int | None = None
    connection_timeout_seconds: int | None = None
    credentials_secret: str | None = None


@dataclass(frozen=True, slots=True)
class FileSystemLock:
    """Hudi's lock file; `path` is its folder, the table's own `.hoodie` unless given."""

    path: str | None = None


@dataclass(frozen=True, slots=True)
class Concurrency:
    mode: ConcurrencyMode
    lock: ZooKeeperLock | FileSystemLock | None = None
    heartbeat_interval_seconds: int | None = None
    heartbeat_tolerable_misses: int | None = None


@dataclass(frozen=True, slots=True)
class Storage:
    """Each key of the credentials' secret is a Hadoop property, its value that property's."""

    credentials_secret: str | None = None
    hadoop_conf: Mapping[str, str] = field(default_factory=dict)


class Guard(StrEnum):
    WARN = "Warn"
    REBUILD = "Rebuild"
    IGNORE = "Ignore"


@dataclass(frozen=True, slots=True)
class HudiTable:
    meta: Meta
    base_path: str
    table_name: str | None
    concurrency: Concurrency
    storage: Storage = Storage()
    observe_interval_seconds: int = 30
    metadata_guard: Guard = Guard.WARN
    suspend: bool = False
    execution: Execution = Execution()


ENGINE_KINDS: Final[Mapping[str, str]] = {
    "Files": "files",
    "ColumnStats": "column_stats",
    "PartitionStats": "partition_stats",
    "BloomFilters": "bloom_filters",
    "RecordIndex": "record_index",
    "SecondaryIndex": "secondary_index",
    "ExpressionIndex": "expr_index",
}
"""What users call an index, and what the engine does."""


class IndexType(StrEnum):
    """What can be built, as users write it."""

    FILES = "Files"
    COLUMN_STATS = "ColumnStats"
    PARTITION_STATS = "PartitionStats"
    BLOOM_FILTERS = "BloomFilters"
    RECORD_INDEX = "RecordIndex"
    SECONDARY_INDEX = "SecondaryIndex"

    @property
    def oldest_table_version(self) -> int:
        """The first version of a table that can have it."""
        return 8 if self in (IndexType.PARTITION_STATS, IndexType.SECONDARY_INDEX) else 6


class Approval(StrEnum):
    AUTOMATIC = "Automatic"
    MANUAL = "Manual"


class Duplicates(StrEnum):
    """How a build treats record keys that have several rows."""

    REFUSE = "Refuse"
    NEWEST = "Newest"


class DeletionPolicy(StrEnum):
    RETAIN = "Retain"
    DROP = "Drop"


@dataclass(frozen=True, slots=True)
class MetadataIndex:
    meta: Meta
    table: str
    index_type: IndexType
    columns: tuple[str, ...] = ()
    index_name: str | None = None
    is_partitioned: bool = False
    duplicates: Duplicates = Duplicates.REFUSE
    catch_up_timeout_seconds: int | None = None
    approval: Approval = Approval.AUTOMATIC
    suspend: bool = False
    rebuild_token: str | None = None
    deletion_policy: DeletionPolicy = DeletionPolicy.RETAIN
    execution: Execution = Execution()

    @property
    def engine_name(self) -> str:
        """What the engine calls the index; a table may have several of type SecondaryIndex, each by its own name."""
        kind = ENGINE_KINDS[self.index_type]
        if self.index_type is not IndexType.SECONDARY_INDEX:
            return kind
        return f"{kind}_{self.index_name or _NOT_OF_NAMES.sub('_', self.meta.ref.name)}"


class ServiceType(StrEnum):
    VALIDATE = "Validate"


class ConcurrencyPolicy(StrEnum):
    FORBID = "Forbid"
    REPLACE = "Replace"


@dataclass(frozen=True, slots=True)
class Validate:
    """Which indexes, by the engine's names, are compared with the data, and how many file groups; all unless given."""

    indexes: tuple[str, ...] = ()
    sample: int | None = None


@dataclass(frozen=True, slots=True)
class TableService:
    meta: Meta
    table: str
    type: ServiceType
    validate: Validate = Validate()
    schedule: str | None = None
    time_zone: str | None = None
    starting_deadline_seconds: int | None = None
    concurrency_policy: ConcurrencyPolicy = ConcurrencyPolicy.FORBID
    suspend: bool = False
    run_token: str | None = None
    successful_runs_history_limit: int = 3
    failed_runs_history_limit: int = 1
    execution: Execution = Execution()


Resource = HudiTable | MetadataIndex | TableService


def age_order(meta: Meta) -> tuple[float, str, str, str]:
    """Older resources first; the same on every look."""
    created = meta.created_at.timestamp() if meta.created_at is not None else 0.0
    return created, meta.ref.namespace, meta.ref.name, meta.uid


def table_ref(resource: Resource) -> Ref:
    """Of the table's own resource, whether there is one or not."""
    if isinstance(resource, HudiTable):
        return resource.meta.ref
    return Ref(Kind.TABLE, resource.meta.ref.namespace, resource.table)
