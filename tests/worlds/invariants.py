"""What must hold of a table at any moment, whoever died: the shared page of invariants, as far as a store shows them.

`require_safe` is for every moment, right after a crash too; `require_tidy` for when nobody works on the table any more.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa

from hudi_engine.action.metadata_instants import LAST
from hudi_engine.format import properties
from hudi_engine.format.instant_names import Action, Instant, State, instant_file
from hudi_engine.format.log.block import BlockType, HeaderKey
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.names import PARTITION_METAFILE, parse_base_file, parse_log_file
from hudi_engine.index.index import Index
from hudi_engine.index.kinds import IndexKind, kind_of, parse_shard_name
from hudi_engine.index.metadata_table import FOLDER, MetadataTable
from hudi_engine.storage.paths import require_file_path
from hudi_engine.table.properties_file import BACKUP, MAIN
from hudi_engine.table.timeline import Timeline
from tests.worlds.java_metadata import RECORD_INDEX, Location
from tests.worlds.starts import stored_in
from tests.worlds.world import World

ROWS: Final = (RECORD_INDEX,)
"""The indexes that are built in most worlds."""
# Since which table version an index of the kind is defined in a file; of other kinds none is.
_DEFINED_SINCE: Final = {IndexKind.RECORD_INDEX: 9, IndexKind.COLUMN_STATS: 8, IndexKind.SECONDARY_INDEX: 8}
_LISTS: Final = {
    "hoodie.table.metadata.partitions",
    "hoodie.table.metadata.partitions.inflight",
    "hoodie.table.index.defs.path",
}
_LEFTOVER: Final = re.compile(r"\.hoodie/(\.index_attempts/[0-9]|\.heartbeat/)")
# All that writers and engines may ever make of these indexes; whatever else appears is a leak.
_KNOWN: Final = (
    r"\.hoodie/hoodie\.properties(\.backup)?"
    r"|\.hoodie/\.index_defs/index\.json(\.backup)?"
    r"|\.hoodie/\.heartbeat/[0-9]{{17}}"
    r"|\.hoodie/\.index_attempts/([0-9]{{17}}/([0-9]{{4,}}\.json|[0-9]{{17,20}}\.reserved)|(added|dropped|built)/({0})\.json)"
    r"|\.hoodie/\.index_attempts/plans/[0-9]{{17}}\.indexing\.(requested|inflight)"
    r"|\.hoodie/\.index_attempts/given-[0-9]{{6,}}\.json"
    r"|\.hoodie/(metadata/\.hoodie/)?(timeline/)?[0-9]{{17}}[0-9]*(_[0-9]{{17}})?\.[a-z.]+"
    r"|\.hoodie/(metadata/\.hoodie/)?timeline/history/([0-9]{{17}}_[0-9]{{17}}_0\.parquet|manifest_[0-9]+|_version_)"
    r"|\.hoodie/(metadata/\.hoodie/)?(archived|history)/\.commits_\.archive\.[0-9]+_1-0-1"
    r"|\.hoodie/metadata/(files|{0})/[^/]+"
    r"|(?!\.hoodie/).+\.parquet|(?!\.hoodie/).*\..+\.log\.[0-9]+_[0-9-]+|(.+/)?\.hoodie_partition_metadata"
)


def require_safe(world: World, names: Sequence[str] = ROWS) -> None:
    """S1 to S6, S10 to S12, S21, S25 to S27, S29: true of every moment. `names` are the indexes that are built.

    Writers of these worlds maintain no index but the record index: whether others are right is for `require_valid`.
    """
    metadata = world.metadata()
    config = metadata.data.config
    _require_whole_properties(world)
    _require_lists(metadata)
    _require_single_instants(metadata)
    _require_known_paths(world, names)
    _require_metadata_agrees(metadata)
    for name in names:
        if name in (*config.inflight_indexes, *config.readable_indexes):
            _require_committed_base(metadata, name)
    if RECORD_INDEX in config.readable_indexes:
        require_right_answers(world, metadata)


def require_tidy(world: World, names: Sequence[str] = ROWS) -> None:
    """And nothing is left over: S10, S12, L1."""
    require_safe(world, names)
    metadata = world.metadata()
    files = stored_in(world.storage)
    assert BACKUP not in files, "a backup of the properties"
    live = {instant.requested_at for instant in metadata.data_timeline.pending()}
    over = [path for path in files if _LEFTOVER.match(path) and path.rpartition("/")[2] not in live]
    assert not over, f"left over: {over}"
    indexing = [i for i in metadata.data_timeline.of(Action.INDEXING) if not i.is_completed]
    assert not indexing, f"pending plans: {[instant_file(i) for i in indexing]}"
    pending = [i.requested_at for i in metadata.timeline.pending() if i.requested_at not in live]
    assert not pending, f"pending in the metadata table: {pending}"
    for name in names:
        _require_tidy_index(metadata, name, files)


def _require_tidy_index(metadata: MetadataTable, name: str, files: Iterable[str]) -> None:
    config = metadata.data.config
    assert name not in config.inflight_indexes, f"{name} is in flight for ever"
    is_built = name in config.readable_indexes
    _require_no_orphans(metadata, name, files, is_built=is_built)
    since = _DEFINED_SINCE.get(kind_of(name))
    is_defined = is_built and since is not None and config.version >= since
    assert (name in metadata.definitions) == is_defined, f"a definition of {name}: {not is_defined}"


def require_right_answers(world: World, metadata: MetadataTable) -> None:
    """S1 to S3: every committed key is answered with where its row is, and no other key is answered at all."""
    truth = world.truth()
    assert answers(metadata.index(RECORD_INDEX), truth) == truth
    assert entries(metadata.index(RECORD_INDEX)) == truth


def answers(index: Index, keys: Iterable[str]) -> dict[str, Location]:
    """What look-ups say of these keys."""
    return _locations(index.find(pa.array(sorted(keys), pa.large_string())))


def entries(index: Index) -> dict[str, Location]:
    """What a scan of the whole index says."""
    return _locations(pa.concat_tables([index.family.schema.empty_table(), *index.scan()]))


def _locations(rows: pa.Table) -> dict[str, Location]:
    found: list[bytes | str] = rows["key"].to_pylist()
    keys = [key.decode() if isinstance(key, bytes) else key for key in found]
    assert len(set(keys)) == len(keys), "a key with two locations"
    pairs = zip(rows["partition"].to_pylist(), rows["file_id"].to_pylist(), strict=True)
    return dict(zip(keys, pairs, strict=True))


def _require_whole_properties(world: World) -> None:
    before = properties.parse(world.began_with[MAIN].data)
    now = world.table().config.properties
    changed = {key for key in before.keys() | now.keys() if before.get(key) != now.get(key)}
    assert changed <= _LISTS, f"properties that are not ours: {changed - _LISTS}"


def _require_lists(metadata: MetadataTable) -> None:
    config = metadata.data.config
    assert not set(config.readable_indexes) & set(config.inflight_indexes), "both complete and in flight"
    assert "files" in config.readable_indexes, "an index of others was unflagged"


def _require_single_instants(metadata: MetadataTable) -> None:
    for timeline in (metadata.data_timeline, metadata.timeline):
        completed = Counter(
            (name.partition(".")[0].partition("_")[0], name.rpartition(".")[2])
            for name in timeline.files
            if not name.endswith((".requested", ".inflight"))
        )
        assert not [each for each, count in completed.items() if count > 1], "completed twice"
        _require_distinct_times(timeline)
    _require_indexing_that_does_no_harm(metadata)


def _require_indexing_that_does_no_harm(metadata: MetadataTable) -> None:
    """Hudi neither takes the time of one for its own indexes nor, in layout 2, one for where the timeline begins."""
    table = metadata.data
    seen = [file.name for file in table.storage.list(table.config.timeline_folder) if ".indexing" in file.name]
    assert table.config.layout == 1 or not seen, f"Hudi sees {seen}"
    for instant in (i for i in metadata.data_timeline.of(Action.INDEXING) if i.is_completed):
        newer = [i for i in metadata.data_timeline.completed() if i.requested_at > instant.requested_at]
        assert newer, f"{instant.requested_at} is the newest completed instant, which Java takes for its own indexes"
        requested = instant_file(instant.in_state(State.REQUESTED))
        assert requested in metadata.data_timeline.files, "completed, and never requested"


def _require_distinct_times(timeline: Timeline) -> None:
    begun = [i.requested_at for i in timeline.instants if i.action is not Action.SAVEPOINT]
    assert len(set(begun)) == len(begun), f"two instants of one time: {Counter(begun).most_common(1)}"
    ended = [i.completed_at for i in timeline.instants if i.completed_at]
    assert len(set(ended)) == len(ended), f"two completions at one time: {Counter(ended).most_common(1)}"


def _require_known_paths(world: World, names: Sequence[str]) -> None:
    known = re.compile(_KNOWN.format("|".join(map(re.escape, names))))
    for path in stored_in(world.storage).keys() - world.began_with.keys():
        require_file_path(path)
        assert known.fullmatch(path), f"nobody's file: {path}"


def _require_metadata_agrees(metadata: MetadataTable) -> None:
    """S21: what is completed in the data has its commit in the metadata table, and that one was completed first."""
    done = {i.requested_at: i for i in (*metadata.table.history(), *metadata.timeline.completed()) if i.is_completed}
    first = metadata.timeline.first_write_still_active()
    kinds = (Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT, Action.CLEAN)
    for instant in metadata.data_timeline.of(*kinds):
        if instant.is_completed and instant.requested_at >= first:
            there = done.get(instant.requested_at)
            assert there is not None, f"{instant_file(instant)} has no commit in the metadata table"
            if instant.completed_at and there.completed_at:
                assert there.completed_at < instant.completed_at, "visible before its metadata"


def _require_committed_base(metadata: MetadataTable, index: str) -> None:
    """S5: a flag means that all shards are there, and that those that have a base file have a committed one."""
    shards = _shard_files(metadata, index)
    numbers: dict[str | None, list[int]] = {}
    for name in map(parse_shard_name, sorted(shards)):
        numbers.setdefault(name.partition, []).append(name.number)
    assert numbers, "flagged, and no shard"
    assert all(each == list(range(len(each))) for each in numbers.values()), f"flagged, and the shards are {numbers}"
    done = {i.requested_at for i in (*metadata.timeline.completed(), *metadata.table.history()) if i.is_completed}
    bare = [file_id for file_id, instants in shards.items() if not instants & done]
    assert not bare, f"flagged, and nothing of {bare} is committed"


def _shard_files(metadata: MetadataTable, index: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for file in metadata.table.storage.list(index):
        name = parse_base_file(file.name) or parse_log_file(file.name)
        if name is not None:
            found.setdefault(name.file_id, set()).add(name.instant)
    return found


def _require_no_orphans(metadata: MetadataTable, index: str, files: Iterable[str], *, is_built: bool) -> None:
    there = {path for path in files if path.startswith(f"{FOLDER}/{index}/")}
    if not is_built:
        assert not there, f"left over: {sorted(there)}"
        return
    named = {
        stat.path for i in metadata.timeline.completed() if _is_write(i) for stat in metadata.table.commit(i).stats
    }
    archived = metadata.table.archived_commits("", LAST)
    named |= {stat.path for _, commit in archived for stat in commit.stats}
    done = {i.requested_at for i in (*metadata.timeline.completed(), *dict(archived))}
    undone = _undone_logs(metadata, there)
    for path in sorted(there - undone):
        name = path.rpartition("/")[2]
        log = parse_log_file(name)
        is_empty = log is not None and log.write_token == "0-0-0" and log.instant in done
        is_named = path.removeprefix(f"{FOLDER}/") in named
        assert is_named or is_empty or name == PARTITION_METAFILE, f"no commit names {path}"


def _undone_logs(metadata: MetadataTable, paths: Iterable[str]) -> set[str]:
    """In layout 1 logs of a commit that was rolled back, or died, stay: no commit names them, no reader reads them."""
    if metadata.table.config.layout == 2:
        return set()
    logs = [path for path in paths if parse_log_file(path.rpartition("/")[2])]
    blocks = {path: list(read_blocks(metadata.data.storage.read(path), is_store_atomic=True)) for path in logs}
    commands = [block for each in blocks.values() for block in each if block.type is BlockType.COMMAND]
    targets = {block.header[HeaderKey.TARGET_INSTANT_TIME] for block in commands}
    known = {i.requested_at for i in (*metadata.timeline.instants, *metadata.data_timeline.instants)}
    return {
        path
        for path, each in blocks.items()
        if all(b.type is BlockType.COMMAND or b.instant in targets or b.instant not in known for b in each)
    }


def _is_write(instant: Instant) -> bool:
    return instant.action in {Action.COMMIT, Action.DELTA_COMMIT}


def as_if_complete(metadata: MetadataTable, name: str) -> MetadataTable:
    """The metadata table as a reader would see it if this index were complete: to look into one that is in flight."""
    config = metadata.data.config
    listed = replace(config, readable_indexes=(*config.readable_indexes, name), inflight_indexes=())
    return replace(metadata, data=replace(metadata.data, config=listed))
