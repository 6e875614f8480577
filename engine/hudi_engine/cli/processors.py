"""How many processors this process may keep busy."""

import os
from collections.abc import Iterator
from math import ceil
from pathlib import Path, PurePosixPath

_ROOT = Path("/sys/fs/cgroup")
_OF_PROCESS = Path("/proc/self/cgroup")


def threads() -> int:
    """The processors of this process. The CPU limit of a container is a quota, which the affinity does not show."""
    return within_quota(len(os.sched_getaffinity(0)))


def within_quota(processors: int, root: Path = _ROOT, of_process: Path = _OF_PROCESS) -> int:
    """At most as many as the control groups of the process give CPU time to, rounded up, and at least one."""
    return max(1, min([processors, *(ceil(quota) for quota in _quotas(root, of_process))]))


def _quotas(root: Path, of_process: Path) -> Iterator[float]:
    """Every quota of the group and of all groups above it, in processors.

    A container may see its own group at the root of the mount while the kernel names the group by the machine's path.
    Folders that are not there are passed by, and so both views are covered.
    """
    for line in _text(of_process).splitlines():
        controllers, _, path = line.partition(":")[2].partition(":")
        names = controllers.split(",")
        if controllers and "cpu" not in names:
            continue
        mount = root / controllers if controllers else root
        inner = PurePosixPath(path.lstrip("/"))
        for group in (inner, *inner.parents):
            if ".." not in group.parts:
                yield from _of_version_1(mount / group) if controllers else _of_version_2(mount / group)


def _of_version_2(group: Path) -> Iterator[float]:
    """`cpu.max` has the quota and its period, as `200000 100000`, or `max 100000`."""
    yield from _ratio(*_text(group / "cpu.max").split())


def _of_version_1(group: Path) -> Iterator[float]:
    """A quota of -1 means none."""
    yield from _ratio(_text(group / "cpu.cfs_quota_us").strip(), _text(group / "cpu.cfs_period_us").strip())


def _ratio(quota: str = "", period: str = "", *_: str) -> Iterator[float]:
    if quota.isdecimal() and period.isdecimal() and int(period):
        yield int(quota) / int(period)


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""  # another version of control groups, or none
