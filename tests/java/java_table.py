"""What Java makes of a whole table: its rows, files and instants."""

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.java import objects as java


def snapshot(spark: SparkSession, version: str, table: str, out: str, options: Mapping[str, str] | None = None) -> int:
    """Writes the rows that Spark reads to one parquet file, ordered by their keys if it shows these; says how many."""
    rows = spark.read.format("hudi").options(**(options or {})).load(table)
    keys = [name for name in ("_hoodie_record_key", "_hoodie_partition_path") if name in rows.columns]
    with tempfile.TemporaryDirectory(dir=Path(out).parent) as folder:
        rows.orderBy(*(keys or rows.columns)).coalesce(1).write.mode("overwrite").parquet(folder, compression="zstd")
        (part,) = Path(folder).glob("part-*.parquet")
        shutil.copy(part, out)
    return spark.read.parquet(out).count()


def file_view(spark: SparkSession, version: str, table: str) -> dict[str, Any]:
    """Java's file-system view by listing, per partition: `latest`, `latest_merged` and every group's slices."""
    client = java.meta_client(spark, table)
    view = _listing_view(spark, client)
    last = java.value(client.getActiveTimeline().filterCompletedAndCompactionInstants().lastInstant())
    until = _requested(version, last) if last is not None else "00000000000000000"
    return {
        partition: {
            "latest": _slices(view.getLatestFileSlices(partition)),
            "latest_merged": _slices(view.getLatestMergedFileSlicesBeforeOrOn(partition, until)),
            "groups": sorted(
                (
                    {"file_id": group.getFileGroupId().getFileId(), "slices": _slices(group.getAllFileSlices())}
                    for group in java.items(view.getAllFileGroups(partition))
                ),
                key=lambda group: str(group["file_id"]),
            ),
        }
        for partition in _partitions(Path(table))
    }


def timeline(spark: SparkSession, version: str, table: str, archived: bool = False) -> list[dict[str, str | None]]:
    """Java's instants, active or archived, in Java's order."""
    client = java.meta_client(spark, table)
    instants = client.getArchivedTimeline() if archived else client.getActiveTimeline()
    return [
        {
            "requested": _requested(version, each),
            "completed": _completed(version, each),
            "action": each.getAction(),
            "state": each.getState().name(),
        }
        for each in java.items(instants.getInstants())
    ]


def read_instant(spark: SparkSession, version: str, table: str, file: str) -> Any:
    """The content of one timeline file as Java understands it, commit metadata or a plan, as JSON."""
    client = java.meta_client(spark, table)
    layout_1, layout_2 = Path(table, ".hoodie", file), Path(table, ".hoodie/timeline", file)
    path = str(layout_1 if layout_1.exists() else layout_2)
    info = java.storage(spark, path).getPathInfo(java.path(spark, path))
    if version == "0.15.0":
        return _read_by_0_15(spark, client, java.package(spark).common.table.timeline.HoodieInstant(info))
    return _read_by_1_x(spark, client, client.createNewInstant(info))


def _read_by_1_x(spark: SparkSession, client: Any, instant: Any) -> Any:
    active = client.getActiveTimeline()
    name = _record_name(instant)
    if name == "HoodieReplaceCommitMetadata":
        return json.loads(active.readReplaceCommitMetadata(instant).toJsonString())
    if name == "HoodieCommitMetadata":
        return json.loads(active.readCommitMetadata(instant).toJsonString())
    wanted = getattr(java.package(spark).avro.model, name)._java_lang_class
    return json.loads(active.readInstantContent(instant, wanted).toString())


def _read_by_0_15(spark: SparkSession, client: Any, instant: Any) -> Any:
    content = client.getActiveTimeline().getInstantDetails(instant).get()
    name, hudi = _record_name(instant), java.package(spark)
    if name in {"HoodieCommitMetadata", "HoodieReplaceCommitMetadata"}:
        wanted = getattr(hudi.common.model, name)._java_lang_class
        return json.loads(hudi.common.model.HoodieCommitMetadata.fromBytes(content, wanted).toJsonString())
    wanted = getattr(hudi.avro.model, name)._java_lang_class
    read = hudi.common.table.timeline.TimelineMetadataUtils.deserializeAvroMetadata(content, wanted)
    return json.loads(read.toString())


def _record_name(instant: Any) -> str:
    """Which record a timeline file of that action and state holds."""
    action, is_complete = instant.getAction(), instant.isCompleted()
    if action in {"replacecommit", "clustering"} and instant.isRequested():
        return "HoodieRequestedReplaceMetadata"
    return (_COMPLETED if is_complete else _PENDING)[action]


_WRITES = {
    "commit": "HoodieCommitMetadata",
    "deltacommit": "HoodieCommitMetadata",
    "replacecommit": "HoodieReplaceCommitMetadata",
}
_PENDING = _WRITES | {
    "compaction": "HoodieCompactionPlan",
    "logcompaction": "HoodieCompactionPlan",
    "clean": "HoodieCleanerPlan",
    "rollback": "HoodieRollbackPlan",
    "restore": "HoodieRestorePlan",
    "indexing": "HoodieIndexPlan",
}
_COMPLETED = _WRITES | {
    "clean": "HoodieCleanMetadata",
    "rollback": "HoodieRollbackMetadata",
    "restore": "HoodieRestoreMetadata",
    "savepoint": "HoodieSavepointMetadata",
    "indexing": "HoodieIndexCommitMetadata",
}


def _listing_view(spark: SparkSession, client: Any) -> Any:
    hudi = java.package(spark)
    by_listing = hudi.common.config.HoodieMetadataConfig.newBuilder().enable(False).build()
    return hudi.common.table.view.FileSystemViewManager.createInMemoryFileSystemViewWithTimeline(
        java.engine_context(spark),
        client,
        by_listing,
        client.getActiveTimeline().filterCompletedAndCompactionInstants(),
    )


def _partitions(table: Path) -> list[str]:
    found = {path.parent.relative_to(table) for path in table.rglob(".hoodie_partition_metadata*")}
    # The metadata table lies inside the data table, and is no partition of it.
    return sorted("" if folder == Path() else folder.as_posix() for folder in found if folder.parts[:1] != (".hoodie",))


def _slices(slices: Any) -> list[dict[str, Any]]:
    found = [_slice(each) for each in java.items(slices)]
    return sorted(found, key=lambda each: (each["file_id"], each["base_instant"]))


def _slice(each: Any) -> dict[str, Any]:
    base = java.value(each.getBaseFile())
    # A slice hands out its logs newest first; they are merged oldest first.
    logs = list(java.items(each.getLogFiles()))[::-1]
    return {
        "file_id": each.getFileId(),
        "base_instant": each.getBaseInstantTime(),
        "base_file": base and base.getFileName(),
        "base_size": base and base.getFileSize(),
        "log_files": [log.getFileName() for log in logs],
        "log_sizes": [log.getFileSize() for log in logs],
    }


def _requested(version: str, instant: Any) -> str:
    return str(instant.getTimestamp() if version == "0.15.0" else instant.requestedTime())


def _completed(version: str, instant: Any) -> str | None:
    """Release 0.15.0 has a state transition time instead, the modification time of the state's file."""
    if not instant.isCompleted():
        return None
    return str(instant.getStateTransitionTime() if version == "0.15.0" else instant.getCompletionTime())
