"""`hoodie.properties`: what it means, and every value that is refused rather than guessed at."""

import pytest

from hudi_engine.errors import Unsupported
from hudi_engine.table.config import BaseFormat, TableType, TimelineZone, parse_config

PLAIN = {"hoodie.table.name": "trips", "hoodie.table.version": "8"}


def test_what_is_not_said_has_hudi_s_defaults() -> None:
    config = parse_config(PLAIN)

    assert (config.name, config.database, config.version, config.layout) == ("trips", "", 8, 2)
    assert config.table_type is TableType.COPY_ON_WRITE
    assert not config.is_merge_on_read
    assert (config.timeline_folder, config.history_folder) == (".hoodie/timeline", ".hoodie/timeline/history")
    assert config.timeline_zone is TimelineZone.LOCAL
    assert config.base_format is BaseFormat.PARQUET
    assert config.has_meta_columns
    assert config.partition_fields == config.ordering_fields == config.readable_indexes == ()


@pytest.mark.parametrize(("version", "layout"), [("6", 1), ("8", 2), ("9", 2)])
def test_each_version_has_its_layout(version: str, layout: int) -> None:
    assert parse_config({**PLAIN, "hoodie.table.version": version}).layout == layout


def test_everything_that_is_said_is_taken() -> None:
    config = parse_config(
        {
            "hoodie.table.name": "trips",
            "hoodie.database.name": "lake",
            "hoodie.table.type": "merge_on_read",
            "hoodie.table.version": "9",
            "hoodie.timeline.layout.version": "2",
            "hoodie.timeline.path": "tl",
            "hoodie.timeline.history.path": "old",
            "hoodie.table.timeline.timezone": "utc",
            "hoodie.table.recordkey.fields": "a, b",
            "hoodie.table.partition.fields": "region:SIMPLE,day:TIMESTAMP",
            "hoodie.table.ordering.fields": "seen,turn",
            "hoodie.table.precombine.field": "older",
            "hoodie.table.metadata.partitions": "files,record_index",
            "hoodie.table.metadata.partitions.inflight": "",
            "hoodie.populate.meta.fields": "false",
            "hoodie.something.new": "kept",
        }
    )

    assert (config.name, config.database, config.is_merge_on_read) == ("trips", "lake", True)
    assert (config.timeline_folder, config.history_folder) == (".hoodie/tl", ".hoodie/tl/old")
    assert config.timeline_zone is TimelineZone.UTC
    assert config.record_key_fields == ("a", "b")
    assert config.partition_fields == ("region", "day")
    assert config.ordering_fields == ("seen", "turn")
    assert config.readable_indexes == ("files", "record_index")
    assert config.inflight_indexes == ()
    assert not config.has_meta_columns
    assert config.properties["hoodie.something.new"] == "kept"


def test_the_ordering_field_of_versions_before_9_is_read_by_its_old_name() -> None:
    assert parse_config({**PLAIN, "hoodie.table.precombine.field": "ts"}).ordering_fields == ("ts",)


@pytest.mark.parametrize(("folder", "history"), [("old", ".hoodie/old"), ("", ".hoodie"), (None, ".hoodie/archived")])
def test_layout_1_keeps_its_timeline_and_archive_beside_the_properties(folder: str | None, history: str) -> None:
    said = {} if folder is None else {"hoodie.archivelog.folder": folder}

    config = parse_config({**PLAIN, "hoodie.table.version": "6", **said})

    assert (config.timeline_folder, config.history_folder) == (".hoodie", history)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("hoodie.table.version", "10", "expected one of 6, 8, 9"),
        ("hoodie.table.version", "7", "expected one of 6, 8, 9"),
        ("hoodie.table.version", "5", "upgraded by its next Hudi writer"),
        ("hoodie.table.version", "08", "expected one of 6, 8, 9"),
        ("hoodie.table.version", "eight", "expected one of 6, 8, 9"),
        ("hoodie.table.version", "-8", "expected one of 6, 8, 9"),
        ("hoodie.table.version", "9" * 5000, "expected one of 6, 8, 9"),
        ("hoodie.timeline.layout.version", "1", "expected 2 for table version 8"),
        ("hoodie.timeline.layout.version", "3", "expected 2 for table version 8"),
        ("hoodie.table.name", "", "expected a value"),
        ("hoodie.table.type", "APPEND_ONLY", "expected COPY_ON_WRITE or MERGE_ON_READ"),
        ("hoodie.table.timeline.timezone", "CET", "expected LOCAL or UTC"),
        ("hoodie.table.base.file.format", "ORC", "expected PARQUET or HFILE"),
        ("hoodie.table.base.file.format", "LANCE", "expected PARQUET or HFILE"),
        ("hoodie.table.log.file.format", "PARQUET", "expected HOODIE_LOG"),
        ("hoodie.table.format", "iceberg", "expected native"),
        ("hoodie.bootstrap.base.path", "s3://other/table", "expected no bootstrapped table"),
        ("hoodie.table.multiple.base.file.formats.enable", "true", "expected false"),
        ("hoodie.populate.meta.fields", "yes", "expected true or false"),
    ],
)
def test_a_value_that_changes_the_meaning_is_refused_with_what_was_found_and_expected(
    key: str, value: str, expected: str
) -> None:
    with pytest.raises(Unsupported) as refused:
        parse_config({**PLAIN, key: value})

    assert key in str(refused.value)
    assert value in str(refused.value)
    assert expected in str(refused.value)


def test_a_missing_version_is_refused_and_not_taken_for_the_newest_as_java_does() -> None:
    with pytest.raises(Unsupported, match=r"hoodie\.table\.version is missing .* expected one of 6, 8, 9"):
        parse_config({"hoodie.table.name": "trips"})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hoodie.table.format", "NATIVE"),
        ("hoodie.table.base.file.format", "parquet"),
        ("hoodie.populate.meta.fields", "TRUE"),
        ("hoodie.bootstrap.base.path", ""),
        ("hoodie.timeline.layout.version", "2"),
    ],
)
def test_the_supported_value_may_be_written_out_in_either_case(key: str, value: str) -> None:
    assert parse_config({**PLAIN, key: value}).version == 8
