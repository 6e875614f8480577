"""Names of data files, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import Unsupported
from hudi_engine.format.names import (
    BaseFileName,
    HistoryFileName,
    LogFileName,
    parse_base_file,
    parse_history_file,
    parse_log_file,
    refuse_if_native_log,
)

DIGITS = st.text("0123456789", min_size=1, max_size=20)
PLAIN = st.text("abcXYZ019-", min_size=1, max_size=40)
TOKENS = st.tuples(DIGITS, DIGITS, DIGITS).map("-".join)
BASE_FILES = st.builds(BaseFileName, PLAIN, PLAIN, DIGITS, st.sampled_from(["parquet", "orc", "hfile"]))
LOG_FILES = st.builds(
    lambda file_id, instant, version, token, is_cdc, extension: LogFileName(
        file_id, instant, version, token, is_cdc and token is not None, extension
    ),
    PLAIN,
    DIGITS,
    st.integers(0, 999_999_999),
    st.none() | TOKENS,
    st.booleans(),
    st.sampled_from(["log", "archive"]),
)
HISTORY_FILES = st.builds(HistoryFileName, DIGITS, DIGITS, st.integers(0, 999_999_999))


@given(BASE_FILES)
def test_a_base_file_name_is_read_back_as_written(name: BaseFileName) -> None:
    assert parse_base_file(str(name)) == name


@given(LOG_FILES)
def test_a_log_file_name_is_read_back_as_written(name: LogFileName) -> None:
    assert parse_log_file(str(name)) == name


@given(HISTORY_FILES)
def test_a_history_file_name_is_read_back_as_written(name: HistoryFileName) -> None:
    assert parse_history_file(str(name)) == name


@given(st.text(max_size=60))
def test_whatever_parses_is_spelled_as_it_was_found(name: str) -> None:
    for parsed in (parse_base_file(name), parse_log_file(name)):
        assert parsed is None or str(parsed) == name


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        (
            "4deb6842-219f-4945-8b3e-5e23835732ca-0_0-21-20_20261118120706074.parquet",
            BaseFileName("4deb6842-219f-4945-8b3e-5e23835732ca-0", "0-21-20", "20261118120706074", "parquet"),
        ),
        (
            "record-index-0007-0_3-1-0_00000000000000000.hfile",
            BaseFileName("record-index-0007-0", "3-1-0", "00000000000000000", "hfile"),
        ),
    ],
)
def test_base_files_of_real_tables_are_known(name: str, parsed: BaseFileName) -> None:
    assert parse_base_file(name) == parsed


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        (
            ".f-0_20261118120717544.log.1_0-47-80",
            LogFileName("f-0", "20261118120717544", 1, "0-47-80"),
        ),
        (".f-0_20261118120717544.log.12", LogFileName("f-0", "20261118120717544", 12)),
        (
            ".f-0_20261118120717544.log.1_0-47-80.cdc",
            LogFileName("f-0", "20261118120717544", 1, "0-47-80", is_cdc=True),
        ),
        (".commits_.archive.3_1-0-1", LogFileName("commits", "", 3, "1-0-1", extension="archive")),
    ],
)
def test_log_files_of_real_tables_are_known(name: str, parsed: LogFileName) -> None:
    assert parse_log_file(name) == parsed


@pytest.mark.parametrize(
    "name",
    [
        "",
        "part-00000.parquet",
        "f_0-1-1_20260101.parquet.crc",
        ".f_0-1-1_20260101.parquet",
        "f_0-1-1_20260101.csv",
        "f_0-1-1_２０２６.parquet",
        "a/f_0-1-1_20260101.parquet",
        "f_0-1-1_20260101.parquet\n",
    ],
)
def test_what_is_not_named_as_a_base_file_is_none(name: str) -> None:
    assert parse_base_file(name) is None


@pytest.mark.parametrize(
    "name",
    [
        ".f_20260101.log.",
        ".f_20260101.log.1_0-1",
        ".f_20260101.log.1_0-1-1.txt",
        ".f_20260101.log.9999999999",
        "f_20260101.log.1_0-1-1",
        ".f_../x_1.log.1_0-1-1",
        ".f_20260101.log.1_0-1-1\n",
    ],
)
def test_what_is_not_named_as_a_log_file_is_none(name: str) -> None:
    assert parse_log_file(name) is None


def test_numbers_too_long_for_a_number_are_no_name_and_no_crash() -> None:
    assert parse_history_file(f"1_2_{'9' * 5000}.parquet") is None
    assert parse_log_file(f".f_1.log.{'9' * 5000}") is None


def test_logs_merge_by_instant_then_version_then_token_as_text_with_none_first() -> None:
    names = [
        ".f_2.log.1_0-1-1",
        ".f_1.log.10_0-1-1",
        ".f_1.log.2_0-9-1",
        ".f_1.log.2_0-10-1",
        ".f_1.log.2",
    ]

    ordered = sorted((parsed for name in names if (parsed := parse_log_file(name))), key=lambda log: log.merge_order)

    assert [str(log) for log in ordered] == [
        ".f_1.log.2",
        ".f_1.log.2_0-10-1",
        ".f_1.log.2_0-9-1",
        ".f_1.log.10_0-1-1",
        ".f_2.log.1_0-1-1",
    ]


@pytest.mark.parametrize("kind", ["log.parquet", "deletes.parquet", "cdc.parquet", "log.hfile"])
def test_a_native_log_of_version_10_is_refused_by_name(kind: str) -> None:
    name = f"f1-0_0-1-1_20260101000000000_1.{kind}"

    with pytest.raises(Unsupported, match="native log file of table version 10"):
        refuse_if_native_log(name)


def test_a_shard_has_the_name_of_its_partition_in_its_own() -> None:
    name = "record-index-a$b%2F50%25 off-0000-0_0-123-210_20261118165452112.hfile"

    parsed = parse_base_file(name)

    assert parsed is not None
    assert (parsed.file_id, str(parsed)) == ("record-index-a$b%2F50%25 off-0000-0", name)
    assert parse_base_file("a$b-0_0-1-2_20261118165452112.hfile") is None
