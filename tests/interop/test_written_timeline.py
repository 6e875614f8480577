"""Timeline files from us, in both layouts: Java lists each in its state and reads all that was given."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hudi_engine.format import avro_types, service_records
from hudi_engine.format.avro_types import Array, AvroType, MapOf, Record, Union
from hudi_engine.format.instant_names import COMPLETED_ACTION, Action, Instant, InstantTime, State, instant_file
from hudi_engine.format.service_records import RecordName
from tests.golden.unpack import unpack
from tests.interop.readable import every_release_and_table_version
from tests.java.jvm import Jvm

Value = dict[str, Any]
COMMITS = {RecordName.COMMIT, RecordName.REPLACE_COMMIT}
# For each action what its files hold as requested, inflight and completed; nothing at all for None.
CONTENTS: dict[Action, tuple[RecordName | None, RecordName | None, RecordName]] = {
    Action.COMMIT: (None, RecordName.COMMIT, RecordName.COMMIT),
    Action.DELTA_COMMIT: (None, RecordName.COMMIT, RecordName.COMMIT),
    Action.COMPACTION: (RecordName.COMPACTION_PLAN, None, RecordName.COMMIT),
    Action.LOG_COMPACTION: (RecordName.COMPACTION_PLAN, None, RecordName.COMMIT),
    Action.CLEAN: (RecordName.CLEANER_PLAN, RecordName.CLEANER_PLAN, RecordName.CLEAN),
    Action.ROLLBACK: (RecordName.ROLLBACK_PLAN, None, RecordName.ROLLBACK),
    Action.RESTORE: (RecordName.RESTORE_PLAN, None, RecordName.RESTORE),
    Action.INDEXING: (RecordName.INDEX_PLAN, RecordName.INDEX_PLAN, RecordName.INDEX_COMMIT),
    Action.REPLACE_COMMIT: (RecordName.REQUESTED_REPLACE, RecordName.REPLACE_COMMIT, RecordName.REPLACE_COMMIT),
    Action.CLUSTERING: (RecordName.REQUESTED_REPLACE, None, RecordName.REPLACE_COMMIT),
    Action.SAVEPOINT: (None, None, RecordName.SAVEPOINT),
}
STATES = (State.REQUESTED, State.INFLIGHT, State.COMPLETED)
# Of the fields of a write's statistics Java reads these from a completed delta commit's file alone, if at all.
LOST_STATS = {"totalLogFiles", "logVersion", "logOffset", "baseFile", "logFiles"}
LOST_BY_0_15 = {"prevBaseFile", "numUpdates", "totalLogReadTimeMs"}


class Written(NamedTuple):
    instant: Instant
    file: Path
    record: RecordName
    value: Value


@every_release_and_table_version
def test_java_lists_our_instants_in_their_states(real_hudi: Jvm, table_version: int, tmp_path: Path) -> None:
    table = unpack(f"v{table_version}_cow_orders", tmp_path)
    before = real_hudi.timeline(table=str(table))

    instants = [instant for instant, _ in write_all(table, table_version)]

    # In layout 1 completion is a file's modification time, of which we have no say.
    ours = [listed(instant) for instant in instants]
    read = real_hudi.timeline(table=str(table))[len(before) :]
    if table_version == 6:
        ours, read = ([{**each, "completed": None} for each in some] for some in (ours, read))
    assert read == ours


@every_release_and_table_version
def test_java_reads_every_field_of_every_record(real_hudi: Jvm, table_version: int, tmp_path: Path) -> None:
    table = unpack(f"v{table_version}_cow_orders", tmp_path)
    written = [each for _, files in write_all(table, table_version) for each in files]

    for each in written:
        if is_avro(each.record, table_version):
            read = real_hudi.read_record(path=str(each.file), name=each.record)
            assert without_nulls(read) == each.value, each.file.name
        read = real_hudi.read_instant(table=str(table), file=each.file.name)
        if each.record in COMMITS:
            assert without_blanks(read) == as_java_keeps(each.value, real_hudi.version), each.file.name
        else:
            assert without_nulls(read) == each.value, each.file.name
    assert {each.record for each in written} == {name for names in CONTENTS.values() for name in names if name}


def write_all(table: Path, table_version: int) -> Iterator[tuple[Instant, list[Written]]]:
    """Of each action one instant that is requested, one that is inflight and one that is completed."""
    folder = table / (".hoodie" if table_version == 6 else ".hoodie/timeline")
    times = (InstantTime(f"20990101{number:09}") for number in itertools.count())
    for action, records in CONTENTS.items():
        if action is Action.CLUSTERING and table_version == 6:
            continue
        for reached in range(3):
            if action is Action.SAVEPOINT and reached == 0:
                continue
            last = Instant(
                next(times), action, STATES[reached], next(times) if table_version > 6 and reached == 2 else None
            )
            written: list[Written] = []
            for state, record in zip(STATES[: reached + 1], records, strict=False):
                if action is Action.SAVEPOINT and state is State.REQUESTED:
                    continue
                instant = last if state is last.state else last.in_state(state)
                file = folder / instant_file(instant)
                value = filled_record(record, table_version, len(written)) if record else {}
                file.write_bytes(encoded(record, value, table_version) if record else b"")
                if record:
                    written.append(Written(instant, file, record, value))
            yield last, written


def listed(instant: Instant) -> dict[str, str | None]:
    action = COMPLETED_ACTION.get(instant.action, instant.action) if instant.is_completed else instant.action
    return {
        "requested": instant.requested_at,
        "completed": instant.completed_at,
        "action": action,
        "state": instant.state.name,
    }


def is_avro(record: RecordName, table_version: int) -> bool:
    return table_version > 6 or record not in COMMITS


def encoded(record: RecordName, value: Value, table_version: int) -> bytes:
    if is_avro(record, table_version):
        return service_records.encode(record, value, table_version)
    return service_records.encode_commit_json(record, value)


def filled_record(name: RecordName, table_version: int, seed: int) -> Value:
    """A value for every field of the record, each different from the others."""
    # The JSON of layout 1 is not bound to a schema: Java's classes have had more fields than it since long.
    known = table_version if is_avro(name, table_version) else service_records.NEWEST
    value: Value = _filled(service_records.record_type(name, known), itertools.count(1000 * seed + 100), "")
    return value | ({"operationType": "UPSERT"} if name in COMMITS else {})


def _filled(kind: AvroType, numbers: Iterator[int], name: str) -> Any:
    match kind:
        case Record(_, fields):
            return {field.name: _filled(field.type, numbers, field.name) for field in fields}
        case MapOf(values):
            return {f"{name} ключ {number}": _filled(values, numbers, name) for number in range(2)}
        case Array(items):
            return [_filled(items, numbers, name) for _ in range(2)]
        case Union(branches):
            return _filled(next(each for each in branches if each != avro_types.NULL), numbers, name)
        case _:
            number = next(numbers)
            made = {"boolean": True, "double": number + 0.5, "string": f'{name} "{number}" é北\n'}
            return made.get(avro_types.branch_name(kind), number)


def as_java_keeps(commit: Value, version: str) -> Value:
    """What Java's classes for commit metadata have fields for."""
    lost = LOST_STATS | (LOST_BY_0_15 if version == "0.15.0" else set())
    stats = {
        partition: [{name: item for name, item in stat.items() if name not in lost} for stat in some]
        for partition, some in commit["partitionToWriteStats"].items()
    }
    return {name: item for name, item in commit.items() if name != "version"} | {"partitionToWriteStats": stats}


def without_blanks(tree: Any) -> Any:
    """Without what Java puts in for fields that it has and we gave nothing for: we give no zero and nothing false."""
    if isinstance(tree, dict):
        return {key: without_blanks(item) for key, item in tree.items() if item}
    return [without_blanks(item) for item in tree] if isinstance(tree, list) else tree


def without_nulls(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: without_nulls(item) for key, item in tree.items() if item is not None}
    return [without_nulls(item) for item in tree] if isinstance(tree, list) else tree
