"""A process has as many threads as the quotas of its control groups allow, in both versions of control groups."""

from pathlib import Path

import pytest

from hudi_engine.cli.processors import within_quota

POD = "/kubepods.slice/pod7"


def groups(folder: Path, membership: str, files: dict[str, str]) -> dict[str, Path]:
    """The control groups of a machine, and what `/proc/self/cgroup` says of this process."""
    root, of_process = folder / "fs", folder / "self"
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    of_process.write_text(membership)
    return {"root": root, "of_process": of_process}


@pytest.mark.parametrize(("quota", "processors"), [("200000 100000", 2), ("150000 100000", 2), ("10000 100000", 1)])
def test_a_container_of_version_2_has_as_many_processors_as_its_quota_rounded_up(
    tmp_path: Path, quota: str, processors: int
) -> None:
    there = groups(tmp_path, "0::/\n", {"cpu.max": f"{quota}\n"})

    assert within_quota(64, **there) == processors


def test_a_container_of_version_1_has_as_many_processors_as_its_quota(tmp_path: Path) -> None:
    # A container sees its own group at the mount's root, though the kernel names it by the machine's path.
    files = {"cpu,cpuacct/cpu.cfs_quota_us": "300000\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"}
    there = groups(tmp_path, f"5:cpu,cpuacct:{POD}\n1:name=systemd:{POD}\n", files)

    assert within_quota(64, **there) == 3


def test_the_smallest_quota_of_a_group_and_of_those_above_it_counts(tmp_path: Path) -> None:
    files = {f"{POD[1:]}/engine/cpu.max": "400000 100000", f"{POD[1:]}/cpu.max": "200000 100000"}
    there = groups(tmp_path, f"0::{POD}/engine\n", files)

    assert within_quota(64, **there) == 2


@pytest.mark.parametrize(
    ("membership", "files"),
    [
        ("0::/\n", {"cpu.max": "max 100000\n"}),
        ("5:cpu,cpuacct:/\n", {"cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpu.cfs_period_us": "100000"}),
        ("0::/\n", {"cpu.max": "a word\n"}),
        ("0::/../elsewhere\n", {}),
        ("", {}),
    ],
)
def test_without_a_quota_all_processors_count(tmp_path: Path, membership: str, files: dict[str, str]) -> None:
    assert within_quota(64, **groups(tmp_path, membership, files)) == 64


def test_a_quota_above_the_processors_of_the_process_adds_none(tmp_path: Path) -> None:
    assert within_quota(4, **groups(tmp_path, "0::/\n", {"cpu.max": "800000 100000"})) == 4


def test_a_system_without_control_groups_has_all_its_processors(tmp_path: Path) -> None:
    assert within_quota(8, tmp_path / "none", tmp_path / "nowhere") == 8
