"""From a manifest, as the API or a file gives it, to values."""

from collections.abc import Mapping
from datetime import UTC, datetime

from hudi_operator.resources.model import (
    ENGINE_KINDS,
    Approval,
    Concurrency,
    ConcurrencyMode,
    ConcurrencyPolicy,
    DeletionPolicy,
    Duplicates,
    DynamicAllocation,
    Execution,
    ExecutionMode,
    FileSystemLock,
    Guard,
    HudiTable,
    IndexType,
    Meta,
    MetadataIndex,
    PodTemplate,
    Ref,
    Resource,
    Resources,
    Retry,
    ServiceType,
    Storage,
    TableService,
    Validate,
    ZooKeeperLock,
)
from hudi_operator.resources.refusals import InvalidResource, refuse_if_illegal
from hudi_operator.resources.tree import Tree
from hudi_operator.words import GROUP, VERSION, Kind

__all__ = ["InvalidResource", "meta_of", "parse"]


def parse(tree: Mapping[str, object]) -> Resource:
    """The resource that the manifest describes, or `InvalidResource`; `status` is not looked at."""
    top = Tree(tree)
    kind = _kind(top)
    refuse_if_illegal(kind, tree)
    meta = meta_of(kind, top.within("metadata"))
    spec = top.within("spec")
    match kind:
        case Kind.TABLE:
            return _table(meta, spec)
        case Kind.INDEX:
            return _index(meta, spec)
        case Kind.SERVICE:
            return _service(meta, spec)


def _kind(top: Tree) -> Kind:
    if top.text_or("apiVersion", "") != f"{GROUP}/{VERSION}":
        raise InvalidResource("apiVersion", f"found {top.tree.get('apiVersion')!r}, expected {GROUP}/{VERSION}")
    kind = top.text_or("kind", "")
    if kind not in set(Kind):
        raise InvalidResource("kind", f"found {kind!r}, expected one of {', '.join(Kind)}")
    return Kind(kind)


def meta_of(kind: Kind, meta: Tree) -> Meta:
    """What Kubernetes says of the resource, whatever its spec is."""
    return Meta(
        ref=Ref(kind, meta.text_or("namespace", "default"), meta.text("name")),
        uid=meta.text_or("uid", ""),
        generation=meta.whole("generation") or 1,
        resource_version=meta.text_or("resourceVersion", ""),
        labels=meta.texts("labels"),
        annotations=meta.texts("annotations"),
        finalizers=tuple(str(name) for name in meta.entries("finalizers")),
        created_at=_time(meta, "creationTimestamp"),
        deleting_since=_time(meta, "deletionTimestamp"),
    )


def _time(meta: Tree, name: str) -> datetime | None:
    """Text as the API writes it; YAML's reader makes times of it by itself."""
    value = meta.tree.get(name)
    if value is None:
        return None
    try:
        time = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError as wrong:
        raise InvalidResource(f"metadata.{name}", f"must be a time, found {value!r}") from wrong
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _table(meta: Meta, spec: Tree) -> HudiTable:
    storage = spec.within("storage")
    return HudiTable(
        meta=meta,
        base_path=spec.text("basePath"),
        table_name=spec.text_or_none("tableName"),
        concurrency=_concurrency(spec.within("concurrency")),
        storage=Storage(
            credentials_secret=storage.within("credentialsSecretRef").text_or_none("name"),
            hadoop_conf=storage.texts("hadoopConf"),
        ),
        observe_interval_seconds=spec.within("observe").whole_or("intervalSeconds", 30),
        metadata_guard=Guard(spec.text_or("metadataGuard", Guard.WARN)),
        suspend=spec.claim("suspend"),
        execution=_execution(spec.within("execution")),
    )


def _concurrency(given: Tree) -> Concurrency:
    heartbeat = given.within("heartbeat")
    return Concurrency(
        mode=ConcurrencyMode(given.text_or("mode", ConcurrencyMode.OPTIMISTIC)),
        lock=_lock(given.within("lock")),
        heartbeat_interval_seconds=heartbeat.whole("intervalSeconds"),
        heartbeat_tolerable_misses=heartbeat.whole("tolerableMisses"),
    )


def _lock(given: Tree) -> ZooKeeperLock | FileSystemLock | None:
    if given.has("zookeeper"):
        zookeeper = given.within("zookeeper")
        return ZooKeeperLock(
            connect_string=zookeeper.text("connectString"),
            base_path=zookeeper.text("basePath"),
            lock_key=zookeeper.text("lockKey"),
            session_timeout_seconds=zookeeper.whole("sessionTimeoutSeconds"),
            connection_timeout_seconds=zookeeper.whole("connectionTimeoutSeconds"),
            credentials_secret=zookeeper.within("credentialsSecretRef").text_or_none("name"),
        )
    return FileSystemLock(given.within("fileSystem").text_or_none("path")) if given.has("fileSystem") else None


def _index(meta: Meta, spec: Tree) -> MetadataIndex:
    return MetadataIndex(
        meta=meta,
        table=spec.within("tableRef").text("name"),
        index_type=IndexType(spec.text("indexType")),
        columns=tuple(str(name) for name in spec.entries("columns")),
        index_name=spec.text_or_none("indexName"),
        is_partitioned=spec.claim("partitioned"),
        duplicates=Duplicates(spec.text_or("duplicates", Duplicates.REFUSE)),
        catch_up_timeout_seconds=spec.within("catchUp").whole("timeoutSeconds"),
        approval=Approval(spec.text_or("approval", Approval.AUTOMATIC)),
        suspend=spec.claim("suspend"),
        rebuild_token=spec.text_or_none("rebuildToken"),
        deletion_policy=DeletionPolicy(spec.text_or("deletionPolicy", DeletionPolicy.RETAIN)),
        execution=_execution(spec.within("execution")),
    )


def _service(meta: Meta, spec: Tree) -> TableService:
    validate = spec.within("validate")
    return TableService(
        meta=meta,
        table=spec.within("tableRef").text("name"),
        type=ServiceType(spec.text("type")),
        validate=Validate(
            tuple(ENGINE_KINDS[str(name)] for name in validate.entries("indexes")), validate.whole("sample")
        ),
        schedule=spec.text_or_none("schedule"),
        time_zone=spec.text_or_none("timeZone"),
        starting_deadline_seconds=spec.whole("startingDeadlineSeconds"),
        concurrency_policy=ConcurrencyPolicy(spec.text_or("concurrencyPolicy", ConcurrencyPolicy.FORBID)),
        suspend=spec.claim("suspend"),
        run_token=spec.text_or_none("runToken"),
        successful_runs_history_limit=spec.whole_or("successfulRunsHistoryLimit", 3),
        failed_runs_history_limit=spec.whole_or("failedRunsHistoryLimit", 1),
        execution=_execution(spec.within("execution")),
    )


def _execution(given: Tree) -> Execution:
    executor, retry, templates = (given.within(name) for name in ("executor", "retry", "podTemplate"))
    return Execution(
        mode=ExecutionMode(given.text("mode")) if given.has("mode") else None,
        image=given.text_or_none("image"),
        image_pull_policy=given.text_or_none("imagePullPolicy"),
        image_pull_secrets=tuple(secret.text("name") for secret in given.trees("imagePullSecrets")),
        service_account_name=given.text_or_none("serviceAccountName"),
        spark_conf=given.texts("sparkConf"),
        hudi_conf=given.texts("hudiConf"),
        hadoop_conf=given.texts("hadoopConf"),
        driver=_resources(given.within("driver")),
        executor_instances=executor.whole("instances"),
        executor=_resources(executor),
        dynamic_allocation=_dynamic_allocation(executor.within("dynamicAllocation")),
        executor_service_account_name=executor.text_or_none("serviceAccountName"),
        driver_template=_pod_template(templates.within("driver")),
        executor_template=_pod_template(templates.within("executor")),
        start_timeout_seconds=given.whole("startTimeoutSeconds"),
        active_deadline_seconds=given.whole("activeDeadlineSeconds"),
        termination_grace_period_seconds=given.whole("terminationGracePeriodSeconds"),
        ttl_seconds_after_finished=given.whole("ttlSecondsAfterFinished"),
        retry=Retry(retry.whole("limit"), retry.whole("backoffSeconds"), retry.whole("maxBackoffSeconds")),
    )


def _resources(given: Tree) -> Resources | None:
    resources = given.within("resources")
    if not resources.tree:
        return None
    return Resources(resources.quantities("requests"), resources.quantities("limits"))


def _dynamic_allocation(given: Tree) -> DynamicAllocation | None:
    most = given.whole("maxInstances")
    return None if most is None else DynamicAllocation(most, given.whole("minInstances"))


def _pod_template(given: Tree) -> PodTemplate:
    meta, spec = given.within("metadata"), given.within("spec")
    container = next(iter(spec.trees("containers")), Tree({}))
    return PodTemplate(
        labels=meta.texts("labels"),
        annotations=meta.texts("annotations"),
        node_selector=spec.texts("nodeSelector"),
        affinity=spec.within("affinity").tree,
        tolerations=tuple(each.tree for each in spec.trees("tolerations")),
        priority_class_name=spec.text_or_none("priorityClassName"),
        volumes=tuple(each.tree for each in spec.trees("volumes")),
        env=tuple(each.tree for each in container.trees("env")),
        volume_mounts=tuple(each.tree for each in container.trees("volumeMounts")),
    )
