"""Names of data files: ours and Java's are the same, both ways."""

import pytest

from hudi_engine.format.names import BaseFileName, LogFileName, parse_base_file, parse_log_file
from tests.java.jvm import Jvm

FILE_ID = "5fef950f-d85c-4083-8a08-7df520c80eb9-0"
INSTANT = "20261118122523995"
BASE_FILES = (
    BaseFileName(FILE_ID, "0-228-274", INSTANT, "parquet"),
    BaseFileName("record-index-0007-0", "1-0-1", "00000000000000012", "hfile"),
    BaseFileName("00000001-882a-4982-a06f-ba851dd0749a-0", "12-3456-7890123", "20261118122523", "orc"),
)
LOG_FILES = (
    LogFileName(FILE_ID, INSTANT, 1, "0-228-274"),
    LogFileName(FILE_ID, INSTANT, 99, "1-0-1"),
    LogFileName("files-0000-0", "00000000000000010", 1, "0-0-0"),
    LogFileName("col-stats-0003-0", "20261118122523", 123456, "12-3456-7890123"),
)


@pytest.mark.parametrize("ours", BASE_FILES, ids=str)
def test_java_makes_and_takes_apart_the_same_base_file_names(ours: BaseFileName, real_hudi: Jvm) -> None:
    parts = [ours.file_id, ours.write_token, ours.instant, ours.extension]

    java = real_hudi.base_file_name(parts=parts)

    assert java == {"name": str(ours), "file_id": ours.file_id, "instant": ours.instant}
    assert parse_base_file(java["name"]) == ours


@pytest.mark.parametrize("ours", LOG_FILES, ids=str)
def test_java_makes_and_takes_apart_the_same_log_file_names(ours: LogFileName, real_hudi: Jvm) -> None:
    java = real_hudi.log_file_name(parts=[ours.file_id, ours.instant, ours.version, ours.write_token])

    assert java == {"name": str(ours)} | _parts(ours)
    assert parse_log_file(java["name"]) == ours


def test_java_sees_that_a_log_holds_changes_and_not_rows(real_hudi: Jvm) -> None:
    ours = LogFileName(FILE_ID, INSTANT, 2, "0-1-2", is_cdc=True)

    assert real_hudi.log_file_parts(name=str(ours)) == _parts(ours) | {"suffix": ".cdc"}


def _parts(ours: LogFileName) -> dict[str, object]:
    return {
        "file_id": ours.file_id,
        "instant": ours.instant,
        "version": ours.version,
        "write_token": ours.write_token,
        "extension": ours.extension,
        "suffix": "",
    }
