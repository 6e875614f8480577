"""Service records against the files that Hudi wrote and the schemas in its classes."""

import contextlib
import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest

from hudi_engine.errors import Contradiction, CorruptFile, Unsupported
from hudi_engine.format import avro_file, service_records
from hudi_engine.format.avro_types import Record
from hudi_engine.format.service_records import RecordName

FIXTURE = Path(__file__).parent / "data" / "avro_service_records.zip"
KINDS = {
    "clean": RecordName.CLEAN,
    "clean.requested": RecordName.CLEANER_PLAN,
    "clustering.requested": RecordName.REQUESTED_REPLACE,
    "commit": RecordName.COMMIT,
    "compaction.requested": RecordName.COMPACTION_PLAN,
    "deltacommit": RecordName.COMMIT,
    "indexing": RecordName.INDEX_COMMIT,
    "indexing.requested": RecordName.INDEX_PLAN,
    "replacecommit": RecordName.REPLACE_COMMIT,
    "replacecommit.requested": RecordName.REQUESTED_REPLACE,
    "restore": RecordName.RESTORE,
    "restore.requested": RecordName.RESTORE_PLAN,
    "rollback": RecordName.ROLLBACK,
    "rollback.requested": RecordName.ROLLBACK_PLAN,
    "savepoint": RecordName.SAVEPOINT,
}
with zipfile.ZipFile(FIXTURE) as _zipped:
    FILES = {name: _zipped.read(name) for name in _zipped.namelist()}
JSON = sorted(name for name, data in FILES.items() if data[:1] == b"{")
AVRO = sorted(set(FILES) - set(JSON))
# Each is the digest of the schema that the Java class of that release carries, without its comments: 0.15.0 for
# table version 6, 1.0.2 for 8, 1.1.1 and 1.2.0 (which are alike) for 9.
JAVA = {
    (RecordName.INDEX_PLAN, 6): "58a40f3a68d7fce3",
    (RecordName.INDEX_COMMIT, 6): "9b7a729b88c2c507",
    (RecordName.COMMIT, 6): "6532e0a84438c8c2",
    (RecordName.REPLACE_COMMIT, 6): "7bc4a89b8c192b92",
    (RecordName.REQUESTED_REPLACE, 6): "ffbc3fe6e197428e",
    (RecordName.COMPACTION_PLAN, 6): "1d7b93842b116c5d",
    (RecordName.CLEANER_PLAN, 6): "13e219f250ce867b",
    (RecordName.CLEAN, 6): "be77fafdc2cf2493",
    (RecordName.ROLLBACK_PLAN, 6): "fa2b74858cb58c39",
    (RecordName.ROLLBACK, 6): "4f7ac520292973c1",
    (RecordName.RESTORE_PLAN, 6): "ccadb73e6c4d4eb4",
    (RecordName.RESTORE, 6): "7ab256a3a38defb6",
    (RecordName.SAVEPOINT, 6): "465fe1cf2c6d1f85",
    (RecordName.ARCHIVED_ENTRY, 6): "08c20782844e4dac",
    (RecordName.DELETE_LIST, 6): "b22f60f0443e0047",
    (RecordName.METADATA_RECORD, 6): "89e976e972e4f0df",
    (RecordName.INDEX_PLAN, 8): "e49ee6c7b70c5250",
    (RecordName.INDEX_COMMIT, 8): "f24aabdaa6d6e97a",
    (RecordName.COMMIT, 8): "026b7c7303036a46",
    (RecordName.REPLACE_COMMIT, 8): "eb2954115271ff51",
    (RecordName.REQUESTED_REPLACE, 8): "2b07d21bbc5d5bba",
    (RecordName.COMPACTION_PLAN, 8): "0d5f193f22ab8283",
    (RecordName.CLEANER_PLAN, 8): "13e219f250ce867b",
    (RecordName.CLEAN, 8): "be77fafdc2cf2493",
    (RecordName.ROLLBACK_PLAN, 8): "fa2b74858cb58c39",
    (RecordName.ROLLBACK, 8): "4f7ac520292973c1",
    (RecordName.RESTORE_PLAN, 8): "ccadb73e6c4d4eb4",
    (RecordName.RESTORE, 8): "7ab256a3a38defb6",
    (RecordName.SAVEPOINT, 8): "465fe1cf2c6d1f85",
    (RecordName.ARCHIVED_ENTRY, 8): "07a2f659697b2ff4",
    (RecordName.HISTORY_INSTANT, 8): "0c65bdc4437160c8",
    (RecordName.DELETE_LIST, 8): "b22f60f0443e0047",
    (RecordName.METADATA_RECORD, 8): "f4026fad87c2e8e0",
    (RecordName.INDEX_PLAN, 9): "e49ee6c7b70c5250",
    (RecordName.INDEX_COMMIT, 9): "f24aabdaa6d6e97a",
    (RecordName.COMMIT, 9): "026b7c7303036a46",
    (RecordName.REPLACE_COMMIT, 9): "eb2954115271ff51",
    (RecordName.REQUESTED_REPLACE, 9): "2b07d21bbc5d5bba",
    (RecordName.COMPACTION_PLAN, 9): "0d5f193f22ab8283",
    (RecordName.CLEANER_PLAN, 9): "13e219f250ce867b",
    (RecordName.CLEAN, 9): "be77fafdc2cf2493",
    (RecordName.ROLLBACK_PLAN, 9): "fa2b74858cb58c39",
    (RecordName.ROLLBACK, 9): "4f7ac520292973c1",
    (RecordName.RESTORE_PLAN, 9): "ccadb73e6c4d4eb4",
    (RecordName.RESTORE, 9): "7ab256a3a38defb6",
    (RecordName.SAVEPOINT, 9): "465fe1cf2c6d1f85",
    (RecordName.ARCHIVED_ENTRY, 9): "07a2f659697b2ff4",
    (RecordName.HISTORY_INSTANT, 9): "0c65bdc4437160c8",
    (RecordName.DELETE_LIST, 9): "79bf9ce01f6c8d37",
    (RecordName.METADATA_RECORD, 9): "b45991acffae969c",
}


def kind_of(name: str) -> RecordName:
    return KINDS[name.partition("/")[2]]


def version_of(name: str) -> int:
    return int(name[1])


def content_of(data: bytes) -> bytes:
    """The encoded record of a container of one."""
    header = avro_file.read_header(data)
    ((_, start, end),) = avro_file._blocks(data, header)
    return data[start:end]


def test_the_fixture_has_every_kind_of_file() -> None:
    assert {name.partition("/")[2] for name in FILES} == set(KINDS)
    assert {version_of(name) for name in AVRO} == {6, 8, 9}
    assert [name.partition("/")[2] for name in JSON] == ["commit", "deltacommit", "replacecommit"]


@pytest.mark.parametrize(("name", "table_version"), JAVA, ids=str)
def test_each_schema_is_that_of_the_java_class(name: RecordName, table_version: int) -> None:
    text = service_records.schema_text(name, table_version)

    assert hashlib.sha256(text.encode()).hexdigest()[:16] == JAVA[name, table_version]


def test_no_record_is_left_out_of_the_comparison() -> None:
    assert {name for name, _ in JAVA} == set(RecordName)


@pytest.mark.parametrize("file", AVRO)
def test_what_java_wrote_is_written_again_byte_for_byte(file: str) -> None:
    value = service_records.decode(kind_of(file), FILES[file])
    own = service_records.schema_text(kind_of(file), version_of(file))
    lacking = absent(value, service_records.record_type(kind_of(file), version_of(file)))

    again = service_records.encode(kind_of(file), value, version_of(file))

    assert content_of(again) == content_of(FILES[file])
    assert own.encode() in again
    assert lacking == [] or version_of(file) == 6


def absent(value: Mapping[str, object], kind: Record) -> list[str]:
    return sorted(value.keys() - {field.name for field in kind.fields})


@pytest.mark.parametrize("file", JSON)
def test_json_and_avro_commit_metadata_decode_to_the_same_shape(file: str) -> None:
    value = service_records.decode_commit_json(kind_of(file), FILES[file])

    through_avro = service_records.decode(kind_of(file), service_records.encode(kind_of(file), value, 9))

    assert through_avro == value
    stats = cast(dict[str, list[dict[str, object]]], value["partitionToWriteStats"])
    assert all(stat["fileId"] and stat["path"] for stats in stats.values() for stat in stats)


@pytest.mark.parametrize("file", JSON)
def test_json_commit_metadata_survives_being_written(file: str) -> None:
    value = service_records.decode_commit_json(kind_of(file), FILES[file])

    again = service_records.decode_commit_json(kind_of(file), service_records.encode_commit_json(kind_of(file), value))

    assert again == value


def test_a_field_left_out_takes_the_default_of_its_schema() -> None:
    data = service_records.encode(RecordName.INDEX_PLAN, {}, 9)

    assert service_records.decode(RecordName.INDEX_PLAN, data) == {"version": 1, "indexPartitionInfos": None}


def test_a_file_of_an_older_release_gets_the_defaults_of_newer_fields() -> None:
    info = {"metadataPartitionPath": "record_index", "indexUptoInstant": "20240101000000000"}

    data = service_records.encode(RecordName.INDEX_PLAN, {"indexPartitionInfos": [info]}, 6)

    decoded = service_records.decode(RecordName.INDEX_PLAN, data)
    assert decoded["indexPartitionInfos"] == [{"version": 1, **info, "extraMetadata": None}]
    assert b"extraMetadata" not in data


def test_a_field_that_the_table_version_lacks_is_refused_unless_null() -> None:
    info: dict[str, object] = {"metadataPartitionPath": "record_index", "extraMetadata": None}
    service_records.encode(RecordName.INDEX_PLAN, {"indexPartitionInfos": [info]}, 6)
    info["extraMetadata"] = {"a": "b"}

    with pytest.raises(Contradiction, match=r"indexPartitionInfos .*extraMetadata"):
        service_records.encode(RecordName.INDEX_PLAN, {"indexPartitionInfos": [info]}, 6)


@pytest.mark.parametrize(
    "value",
    [
        {"savepointedBy": "me", "savepointedAt": "now", "comments": "", "partitionMetadata": {}},
        {"savepointedBy": "me", "savepointedAt": 2**63, "comments": "", "partitionMetadata": {}},
        {"savepointedBy": "me", "savepointedAt": True, "comments": "", "partitionMetadata": {}},
        {"savepointedBy": "me", "savepointedAt": 1, "comments": "", "partitionMetadata": {}, "more": 1},
        {"savepointedBy": "me", "savepointedAt": 1, "comments": "", "partitionMetadata": {"p": {"partitionPath": 1}}},
        {"savepointedBy": "\ud800", "savepointedAt": 1, "comments": "", "partitionMetadata": {}},
        {"savepointedAt": 1, "comments": "", "partitionMetadata": {}},
    ],
)
def test_a_value_that_does_not_fit_its_record_is_not_written(value: dict[str, object]) -> None:
    with pytest.raises(Contradiction, match="HoodieSavepointMetadata"):
        service_records.encode(RecordName.SAVEPOINT, value, 9)


@pytest.mark.parametrize("table_version", [5, 7, 10])
def test_a_table_version_without_known_records_is_refused(table_version: int) -> None:
    with pytest.raises(Unsupported):
        service_records.encode(RecordName.INDEX_PLAN, {}, table_version)


def test_a_file_with_another_record_than_asked_for_is_refused() -> None:
    data = service_records.encode(RecordName.INDEX_PLAN, {}, 9)

    with pytest.raises(Unsupported, match=r"HoodieIndexPlan where .*HoodieCleanMetadata"):
        service_records.decode(RecordName.CLEAN, data)


@pytest.mark.parametrize("name", AVRO)
def test_no_torn_file_is_taken_for_a_whole_one(name: str) -> None:
    data = FILES[name]

    for end in cuts(len(data)):
        with pytest.raises(CorruptFile):
            service_records.decode(kind_of(name), data[:end])


def cuts(length: int) -> Iterator[int]:
    """Nothing, something, all but a little; and all through in steps that share no factor with blocks."""
    yield from (0, 1, 3, 4, 5, length // 2, length - 17, length - 16, length - 1)
    yield from range(7, length, 211)


@pytest.mark.parametrize("name", AVRO)
def test_a_flipped_bit_gives_a_value_or_a_typed_error(name: str) -> None:
    data = FILES[name]

    for place in range(0, len(data) * 8, 157):
        broken = bytearray(data)
        broken[place // 8] ^= 1 << place % 8
        with contextlib.suppress(CorruptFile, Unsupported):  # nothing else
            service_records.decode(kind_of(name), bytes(broken))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"\xff",
        b"[" * 100_000,
        b'{"version": 1e400}',
        b'{"version": ' + b"9" * 5000 + b"}",
        b'{"partitionToWriteStats": []}',
        b'{"partitionToWriteStats": {"p": [{"numWrites": "1"}]}}',
        b'{"partitionToWriteStats": {"p": [{"numWrites": 9223372036854775808}]}}',
        b'{"operationType": 1}',
        b'{"compacted": 0}',
    ],
)
def test_json_that_is_no_commit_metadata_is_corrupt(text: bytes) -> None:
    with pytest.raises(CorruptFile):
        service_records.decode_commit_json(RecordName.COMMIT, text)


def test_json_fields_that_nobody_knows_are_passed_over() -> None:
    text = b'{"partitionToWriteStats": {"": [{"fileId": "f", "recordsStats": {"val": null}}]}, "more": [1]}'

    value = service_records.decode_commit_json(RecordName.COMMIT, text)

    assert set(value) == {"partitionToWriteStats", "compacted", "extraMetadata", "version", "operationType"}
    assert value["version"] == 1
