"""What Java writers do besides writing: roll back, restore, clean, compact the data, compact the metadata table."""

from collections.abc import Mapping
from typing import Any

from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.log.writer import rollback_block
from hudi_engine.format.names import LogFileName, parse_base_file, parse_log_file
from hudi_engine.format.service_records import RecordName
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.storage.protocol import FileStat
from tests.worlds.instants import encode_commit
from tests.worlds.java_metadata import Changes, JavaMetadata, rollback_record
from tests.worlds.java_rows import RowFiles
from tests.worlds.world import World
from tests.worlds.writer import held, schema_text, timeline_of


def roll_back(world: World, target: str) -> str:
    """A rollback of a pending commit: its files, its metadata deltacommit and then its instant go."""
    timeline = timeline_of(world)
    found = world.table().timeline().find(target)
    assert found is not None
    assert not found.is_completed
    with held(world):
        instant = world.next_time()
        info = {"commitTime": target, "action": str(found.action)}
        timeline.request(instant, "rollback", RecordName.ROLLBACK_PLAN, {"instantToRollback": info})
        timeline.inflight(instant, "rollback")
        left = _undo_data(world, target, instant)
        _metadata(world).roll_back(target, instant, left, world.times())
        timeline.remove(target)
        record = rollback_record(target, str(found.action))
        timeline.complete(instant, "rollback", RecordName.ROLLBACK, record, world.times())
    world.storage.delete(f".hoodie/.heartbeat/{target}")
    return instant


def restore(world: World, to: str, *, by_completion: bool = False) -> str:
    """All commits after `to` undone, newest first, in both tables.

    `by_completion` goes as Hudi does in layout 2: of the metadata table's all that completed after `to` did.
    """
    timeline = timeline_of(world)
    with held(world):
        instant = world.next_time()
        doomed = [i for i in world.table().timeline().writes() if i.requested_at > to]
        infos = [{"commitTime": i.requested_at, "action": str(i.action)} for i in reversed(doomed)]
        timeline.request(instant, "restore", RecordName.RESTORE_PLAN, {"instantsToRollback": infos})
        timeline.inflight(instant, "restore")
        for each in reversed(doomed):
            _undo_data(world, each.requested_at, instant)
            timeline.remove(each.requested_at)
            world.storage.delete(f".hoodie/.heartbeat/{each.requested_at}")
        _restore_metadata(world, to, instant, by_completion=by_completion)
        done = {i.requested_at: [rollback_record(i.requested_at, str(i.action))] for i in doomed}
        record = {
            "startRestoreTime": instant,
            "timeTakenInMillis": 1,
            "instantsToRollback": list(done),
            "hoodieRestoreMetadata": done,
            "restoreInstantInfo": infos,
        }
        timeline.complete(instant, "restore", RecordName.RESTORE, record, world.times())
    return instant


def begin_clean(world: World) -> str:
    """A clean that is asked for and in flight: which files it deletes is settled now, as by Hudi."""
    return _begin_clean(world, _old_files(world))


def delete_savepoints(world: World) -> None:
    """All of them: what the archiver stops at."""
    with held(world):
        table = world.table()
        for file in table.storage.list(table.config.timeline_folder):
            if ".savepoint" in file.name:
                table.storage.delete(file.path)


def clean_leftovers(world: World) -> None:
    """A clean, also of the files that commits which failed have left."""
    doomed = _old_files(world)
    for _, file in leftovers(world.metadata()):
        partition, _, name = file.path.rpartition("/")
        doomed.setdefault(partition, []).append(name)
    complete_clean(world, _begin_clean(world, doomed))


def leftovers(metadata: MetadataTable) -> list[tuple[str, FileStat]]:
    """Base files of commits that neither timeline of the data knows any more, each with its commit's time."""
    table = metadata.data
    known = {each.requested_at for each in (*metadata.data_timeline.instants, *table.history())}
    files = [file for listing in table.partitions().values() for file in listing]
    named = [(name.instant, file) for file in files if (name := parse_base_file(file.name)) is not None]
    return [(instant, file) for instant, file in named if instant not in known]


def _begin_clean(world: World, files: Mapping[str, list[str]]) -> str:
    timeline = timeline_of(world)
    with held(world):
        instant = world.next_time()
        doomed = {
            partition: [{"filePath": name, "isBootstrapBaseFile": False} for name in names]
            for partition, names in files.items()
        }
        latest = max(i.requested_at for i in world.table().timeline().writes() if i.is_completed)
        plan = {
            "earliestInstantToRetain": {"timestamp": latest, "action": "commit", "state": "COMPLETED"},
            "policy": "KEEP_LATEST_COMMITS",
            "version": 2,
            "filePathsToBeDeletedPerPartition": doomed,
        }
        timeline.request(instant, "clean", RecordName.CLEANER_PLAN, plan)
        timeline.inflight(instant, "clean")
    return instant


def complete_clean(world: World, instant: str) -> None:
    """Slices that nobody read any more when it began are deleted."""
    doomed = _doomed(world, instant)
    for partition, names in doomed.items():
        for name in names:
            world.storage.delete(f"{partition}/{name}".lstrip("/"))
    with held(world):
        gone = {partition: dict.fromkeys(names) for partition, names in doomed.items()}
        _metadata(world).commit(instant, Changes(gone), False, world.times())
        latest = max(i.requested_at for i in world.table().timeline().writes() if i.is_completed)
        record = {
            "startCleanTime": instant,
            "timeTakenInMillis": 1,
            "totalFilesDeleted": sum(map(len, doomed.values())),
            "earliestCommitToRetain": latest,
            "lastCompletedCommitTimestamp": latest,
            "partitionMetadata": {partition: _cleaned(partition, names) for partition, names in doomed.items()},
            "version": 2,
        }
        timeline_of(world).complete(instant, "clean", RecordName.CLEAN, record, world.times())


def begin_compaction(world: World, *, is_inflight: bool = False) -> str:
    """A compaction of every file group that has logs, as a plan."""
    chosen = [each for each in world.slices().values() if each.log_files]
    with held(world):
        instant = world.next_time()
        operations = [
            {
                "baseInstantTime": each.base_instant,
                "deltaFilePaths": [str(log.name) for log in each.log_files],
                "dataFilePath": "" if each.base_file is None else str(each.base_file.name),
                "fileId": each.file_id,
                "partitionPath": each.partition,
            }
            for each in chosen
        ]
        timeline = timeline_of(world)
        timeline.request(instant, "compaction", RecordName.COMPACTION_PLAN, {"operations": operations, "version": 2})
        if is_inflight:
            timeline.inflight(instant, "compaction")
    return instant


def complete_compaction(world: World, instant: str) -> None:
    """The planned slices as base files; rows that came later stay in logs."""
    table = world.table()
    timeline = table.timeline()
    found = timeline.find(instant)
    assert found is not None
    planned = {(each.partition, each.file_id): each for each in table.compaction_plan(found)}
    schema = table.row_schema(table.snapshot())
    files = RowFiles(world.storage, table, schema, instant, f"{next(world.numbers)}-1")
    reader = table.rows(table.snapshot())
    made = []
    for place, found_slice in world.slices().items():
        if place in planned:
            logs = set(planned[place].log_files)
            chosen = tuple(log for log in found_slice.log_files if str(log.name) in logs)
            before = type(found_slice)(*place, found_slice.base_instant, found_slice.base_file, chosen)
            rows = [row for piece in reader.rows_of(before) for row in piece.to_pylist()]
            made.append(files.base(*place, rows, found_slice))
    sizes: dict[str, dict[str, int | None]] = {}
    stats: dict[str, list[Mapping[str, object]]] = {}
    for each in made:
        sizes.setdefault(each.partition, {})[each.name] = each.size_bytes
        stats.setdefault(each.partition, []).append(each.stat)
    with held(world):
        _metadata(world).commit(instant, Changes(sizes), False, world.times())
        record = encode_commit("COMPACT", stats, {"schema": schema_text(schema)})
        timeline_of(world).complete(instant, "commit", RecordName.COMMIT, record, world.times())


def compact_metadata(world: World) -> str:
    """Java's compaction of all shards of the metadata table; empty if it has a reason not to."""
    with held(world):
        return _metadata(world).compact(world.times())


def _undo_data(world: World, target: str, instant: str) -> Changes:
    """Layout 1 keeps logs and appends to them; these are given back."""
    table = world.table()
    left: dict[str, dict[str, int | None]] = {}
    for partition, listing in table.partitions().items():
        for file in listing:
            base, log = parse_base_file(file.name), parse_log_file(file.name)
            named = log if log is not None and table.config.layout == 2 else base
            if named is not None and named.instant == target:
                world.storage.delete(file.path)
            elif log is not None and table.config.layout == 1 and _holds(world, file.path, target):
                token = f"0-{next(world.numbers)}-0"
                name = str(LogFileName(log.file_id, log.instant, log.version + 1, token))
                block = rollback_block(instant, target, 6)
                world.storage.create(f"{partition}/{name}".lstrip("/"), block)
                left.setdefault(partition, {}).update({name: len(block), file.name: file.size_bytes})
    return Changes(left)


def _holds(world: World, path: str, target: str) -> bool:
    return any(block.instant == target for block in read_blocks(world.storage.read(path), is_store_atomic=True))


def _restore_metadata(world: World, to: str, instant: str, *, by_completion: bool) -> None:
    metadata = _metadata(world)
    now = metadata.read()
    completed_at = now.view.completions.completed_at
    for each in reversed(now.timeline.of(Action.DELTA_COMMIT, Action.COMMIT)):
        is_later = each.requested_at[:17] > to
        if by_completion and each.action is Action.DELTA_COMMIT:
            is_later = completed_at[each.requested_at] > completed_at[to]
        if is_later:
            metadata.undo(each.requested_at, instant)
    metadata.note_restore(instant, world.times())


def _doomed(world: World, clean: str) -> dict[str, list[str]]:
    plan: Any = service_records.decode(
        RecordName.CLEANER_PLAN, world.storage.read(f"{world.table().config.timeline_folder}/{clean}.clean.requested")
    )
    planned = plan["filePathsToBeDeletedPerPartition"]
    return {partition: [file["filePath"] for file in files] for partition, files in planned.items()}


def _old_files(world: World) -> dict[str, list[str]]:
    table = world.table()
    view = table.view(table.timeline())
    kept = {
        file.path
        for each in world.slices().values()
        for file in (*([each.base_file.stat] if each.base_file else []), *(log.stat for log in each.log_files))
    }
    committed = {i.requested_at for i in table.timeline().completed()}
    doomed: dict[str, list[str]] = {}
    for partition, listing in table.partitions().items():
        for group in view.groups(partition, listing):
            for each in group.slices:
                files = [(log.name.instant, log.stat) for log in each.log_files]
                files += [] if each.base_file is None else [(each.base_file.name.instant, each.base_file.stat)]
                for instant, stat in files:
                    if stat.path not in kept and (instant in committed or instant < view.completions.border):
                        doomed.setdefault(partition, []).append(stat.name)
    return doomed


def _cleaned(partition: str, names: list[str]) -> dict[str, object]:
    return {
        "partitionPath": partition,
        "policy": "KEEP_LATEST_COMMITS",
        "deletePathPatterns": names,
        "successDeleteFiles": names,
        "failedDeleteFiles": [],
    }


def _metadata(world: World) -> JavaMetadata:
    return JavaMetadata(world.storage, world.clock, f"{next(world.numbers)}-9")
