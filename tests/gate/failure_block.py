"""For pytest: a failed test is reported with one block of what is needed in order to act upon it.

The block has: the test and a line that repeats it, commit, seed and load; timelines and properties of the tables below
the test's `tmp_path`; steps and reports of engines; the ends of logs. See `tests/kit/evidence.py` for more logs.
"""

import os
import shlex
import subprocess
import time
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.gate.evidence_files import Block, blocks_below, last_lines, log_block
from tests.kit import evidence
from tests.kit.soak import SEED, SOAK

_ROOT: Final = Path(__file__).parents[2]
_BEGAN: Final = pytest.StashKey[float]()
_TITLE: Final = "To act upon"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    evidence.forget_kept()
    item.stash[_BEGAN] = time.time()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        report.sections.append((_TITLE, block_of(item)))
    return report


def block_of(item: pytest.Item) -> str:
    lines = [*_about(item)]
    try:
        for title, found in _blocks(item):
            lines += [f"-- {title}", *(f"   {line}" for line in found)]
    except OSError as error:  # processes of the test may still write, and remove, what is read here
        lines.append(f"-- the rest could not be read: {error}")
    return "\n".join(lines)


def _about(item: pytest.Item) -> Iterator[str]:
    yield f"test      {item.nodeid}"
    given = [f"{name}={os.environ[name]}" for name in (SOAK, SEED) if name in os.environ]
    yield f"repeat    {' '.join(['TZ=UTC', *given])} .venv/bin/python -m pytest -n 0 {shlex.quote(item.nodeid)}"
    yield f"commit    {_commit()}"
    if seeds := _seeds(item):
        yield f"seed      {seeds}"
    yield f"load      {' '.join(f'{load:.1f}' for load in os.getloadavg())} on {os.cpu_count()} processors"
    if folder := _folder(item):
        yield f"files     {folder}"


def _blocks(item: pytest.Item) -> Iterator[Block]:
    folder = _folder(item)
    if folder is not None:
        yield from blocks_below(folder)
    for name, text in evidence.kept():
        yield name, last_lines(text)
    for name, log in evidence.watched():
        # A log of an earlier test's process says nothing of this one.
        if log.stat().st_mtime >= item.stash[_BEGAN]:
            yield log_block(name, log)


def _folder(item: pytest.Item) -> Path | None:
    folder = item.funcargs.get("tmp_path") if isinstance(item, pytest.Function) else None
    return folder if isinstance(folder, Path) and folder.is_dir() else None


def _seeds(item: pytest.Item) -> str:
    given = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return ", ".join(f"{name}={value}" for name, value in given.items() if "seed" in name)


@cache
def _commit() -> str:
    commit, changes = _git("rev-parse", "--short=12", "HEAD"), _git("status", "--porcelain", "--untracked-files=no")
    return f"{commit} with changes that are not committed" if changes else commit


def _git(*arguments: str) -> str:
    # A copy of the files without the repository's history has no commit; its tests can fail all the same.
    done = subprocess.run(["git", *arguments], cwd=_ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "unknown"
