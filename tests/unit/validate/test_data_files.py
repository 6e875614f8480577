from pathlib import Path
from typing import Final

import pytest

from hudi_engine.format.log.block import BlockType, HeaderKey
from hudi_engine.format.log.writer import write_block
from hudi_engine.format.names import parse_log_file
from hudi_engine.validate.data_files import DataFile, DataFiles
from tests.golden.unpack import unpack
from tests.kit.subjects import subject_at

_ON_TIMELINE: Final = "20261118122705007"
_FAILED: Final = "20261118122630000"  # among the archived ones, and none of them
_UNKNOWN: Final = "20201118122630000"  # older than the archive


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return unpack("v6_cow_archived", tmp_path)


def is_of_failed_commits(folder: Path, *instants: str) -> bool:
    """Of a log that has a block of each instant."""
    base = min(folder.glob("*/*.parquet"))
    log = base.with_name(f".{base.name.split('_')[0]}_{instants[0]}.log.1_0-0-0")
    blocks = (write_block(BlockType.DELETE, {HeaderKey.INSTANT_TIME: instant}, b"", 6) for instant in instants)
    log.write_bytes(b"".join(blocks))
    name = parse_log_file(log.name)
    assert name is not None
    subject = subject_at(folder)
    (stat,) = (each for each in subject.listings[log.parent.name] if each.name == log.name)
    return DataFiles(subject).is_of_failed_commits(DataFile(base.parent.name, name, stat))


def archived(folder: Path) -> str:
    """A commit that completed and is on the timeline no more."""
    table = subject_at(folder).table
    timeline = {each.requested_at for each in table.timeline().completed()}
    return max(each.requested_at for each in table.history() if each.requested_at not in timeline)


def test_a_log_is_of_failed_commits_if_the_archive_passes_over_all_of_them(folder: Path) -> None:
    assert is_of_failed_commits(folder, _FAILED)
    assert is_of_failed_commits(folder, _FAILED, _FAILED[:-1] + "1")


@pytest.mark.parametrize("other", [_ON_TIMELINE, _UNKNOWN])
def test_a_log_with_a_commit_that_may_have_completed_is_not(folder: Path, other: str) -> None:
    assert not is_of_failed_commits(folder, other)
    assert not is_of_failed_commits(folder, _FAILED, other)


def test_a_log_with_an_archived_commit_is_not(folder: Path) -> None:
    assert not is_of_failed_commits(folder, archived(folder))
    assert not is_of_failed_commits(folder, _FAILED, archived(folder))


def test_nothing_failed_where_there_is_no_archive(folder: Path) -> None:
    for file in (folder / ".hoodie/archived").iterdir():
        file.unlink()

    assert not is_of_failed_commits(folder, _FAILED)
