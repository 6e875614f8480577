"""Which merge rule a table has, by its properties (hudi-format 9.6)."""

import pytest

from hudi_engine.errors import Unsupported
from hudi_engine.table.config import TableConfig, parse_config
from hudi_engine.table.merge_mode import MergeMode, MergeRule, merge_mode, merge_rule, require_readable_rows

EVENT_TIME_STRATEGY = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
COMMIT_TIME_STRATEGY = "ce9acb64-bde0-424c-9b91-f6ebba25356d"
CUSTOM_STRATEGY = "1897ef5f-18bc-4557-939c-9d6a8afd1519"
PAYLOAD_BASED = "00000000-0000-0000-0000-000000000000"
MODEL = "org.apache.hudi.common.model"


def _config(version: int, **properties: str) -> TableConfig:
    named = {f"hoodie.{name.replace('__', '.')}": value for name, value in properties.items()}
    return parse_config(
        {
            "hoodie.table.name": "t",
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.table.version": str(version),
            **named,
        }
    )


@pytest.mark.parametrize(
    ("version", "properties", "mode"),
    [
        (9, {"record__merge__mode": "EVENT_TIME_ORDERING"}, MergeMode.EVENT_TIME),
        (9, {"record__merge__mode": "COMMIT_TIME_ORDERING"}, MergeMode.COMMIT_TIME),
        (8, {"record__merge__mode": "event_time_ordering"}, MergeMode.EVENT_TIME),
        (
            8,
            {
                "record__merge__mode": "COMMIT_TIME_ORDERING",
                "table__precombine__field": "ts",
                "record__merge__strategy__id": COMMIT_TIME_STRATEGY,
                "compaction__payload__class": f"{MODEL}.OverwriteWithLatestAvroPayload",
            },
            MergeMode.COMMIT_TIME,
        ),
        (8, {"record__merge__strategy__id": EVENT_TIME_STRATEGY}, MergeMode.EVENT_TIME),
        (8, {"record__merge__strategy__id": COMMIT_TIME_STRATEGY}, MergeMode.COMMIT_TIME),
        (6, {"compaction__record__merger__strategy": EVENT_TIME_STRATEGY}, MergeMode.EVENT_TIME),
        (6, {"compaction__payload__class": f"{MODEL}.DefaultHoodieRecordPayload"}, MergeMode.EVENT_TIME),
        (6, {"compaction__payload__class": f"{MODEL}.EventTimeAvroPayload"}, MergeMode.EVENT_TIME),
        (6, {"compaction__payload__class": f"{MODEL}.OverwriteWithLatestAvroPayload"}, MergeMode.COMMIT_TIME),
        (
            6,
            {
                "compaction__payload__class": f"{MODEL}.OverwriteWithLatestAvroPayload",
                "compaction__record__merger__strategy": EVENT_TIME_STRATEGY,
            },
            MergeMode.COMMIT_TIME,
        ),
        (6, {"table__precombine__field": "ts"}, MergeMode.EVENT_TIME),
        (6, {}, MergeMode.COMMIT_TIME),
        (9, {"table__ordering__fields": "ts"}, MergeMode.EVENT_TIME),
        (9, {"record__merge__strategy__id": PAYLOAD_BASED}, MergeMode.COMMIT_TIME),
    ],
)
def test_the_mode_is_inferred_as_java_does(version: int, properties: dict[str, str], mode: MergeMode) -> None:
    assert merge_mode(_config(version, **properties)) is mode


@pytest.mark.parametrize(
    ("properties", "found"),
    [
        ({"record__merge__mode": "CUSTOM"}, "hoodie.record.merge.mode=CUSTOM"),
        ({"record__merge__strategy__id": CUSTOM_STRATEGY}, CUSTOM_STRATEGY),
        ({"compaction__payload__class": f"{MODEL}.PartialUpdateAvroPayload"}, "PartialUpdateAvroPayload"),
        ({"compaction__payload__class": f"{MODEL}.AWSDmsAvroPayload"}, "AWSDmsAvroPayload"),
        ({"compaction__payload__class": "com.example.DefaultHoodieRecordPayload"}, "com.example"),
        ({"table__partial__update__mode": "IGNORE_DEFAULTS"}, "IGNORE_DEFAULTS"),
        (
            {"table__partial__update__mode": "FILL_UNAVAILABLE", "record__merge__mode": "EVENT_TIME_ORDERING"},
            "FILL_UNAVAILABLE",
        ),
    ],
)
def test_rules_that_are_the_writer_s_own_code_are_refused_by_name(properties: dict[str, str], found: str) -> None:
    with pytest.raises(Unsupported, match=found):
        require_readable_rows(_config(9, **properties))


@pytest.mark.parametrize(
    ("properties", "found"),
    [
        ({"populate__meta__fields": "false"}, "hoodie.populate.meta.fields=false"),
        ({"datasource__write__drop__partition__columns": "true"}, "drop.partition.columns=true"),
        ({"table__base__file__format": "HFILE"}, "hoodie.table.base.file.format=HFILE"),
    ],
)
def test_rows_that_files_do_not_hold_whole_are_refused(properties: dict[str, str], found: str) -> None:
    with pytest.raises(Unsupported, match=found):
        require_readable_rows(_config(8, **properties))


def test_rows_of_a_copy_on_write_table_need_no_rule() -> None:
    require_readable_rows(
        _config(
            8, table__type="COPY_ON_WRITE", compaction__payload__class="com.example.Mine", record__merge__mode="CUSTOM"
        )
    )


def test_rows_of_a_copy_on_write_table_need_no_meta_columns() -> None:
    require_readable_rows(_config(8, table__type="COPY_ON_WRITE", populate__meta__fields="false"))


@pytest.mark.parametrize(
    ("version", "properties", "rule"),
    [
        (9, {"record__merge__mode": "EVENT_TIME_ORDERING", "table__ordering__fields": "a,b"}, (("a", "b"), True, True)),
        (8, {"record__merge__mode": "EVENT_TIME_ORDERING"}, ((), False, True)),
        (8, {"record__merge__mode": "COMMIT_TIME_ORDERING", "table__precombine__field": "a"}, ((), False, False)),
        (6, {"table__precombine__field": "a"}, (("a",), True, False)),
        (
            6,
            {
                "table__precombine__field": "a",
                "compaction__payload__class": f"{MODEL}.OverwriteWithLatestAvroPayload",
            },
            (("a",), False, False),
        ),
        (6, {}, ((), False, False)),
    ],
)
def test_each_release_merges_by_its_own_rule(
    version: int, properties: dict[str, str], rule: tuple[tuple[str, ...], bool, bool]
) -> None:
    assert merge_rule(_config(version, **properties)) == MergeRule(*rule)
