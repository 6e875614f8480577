"""What settings of Java's writers do to an index of the engine: each cell of the tables in docs/writers.md."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest

from tests.interop.readable import TABLE_VERSIONS
from tests.interop.writer_builds import (
    BEGAN_BEFORE,
    BEGAN_IN_FLIGHT,
    WHILE_IN_FLIGHT,
    answer,
    build_beside,
    state_of,
)
from tests.interop.writer_cells import KINDS, Cell, cells_of
from tests.interop.writer_subjects import States, Subject
from tests.java.jvm import Jvm
from tests.java.live_writers import zookeeper_lock
from tests.kit.soak import is_soak
from tests.kit.zookeeper_server import ZooKeeperServer

_NEW_NAME: Final = "hoodie.metadata.global.record.level.index.enable"
_IS_SOAK: Final = is_soak()
_COW, _MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
_AT_REST: Final = cells_of("absent", "in flight", "complete")
_BESIDE: Final = cells_of(BEGAN_BEFORE, WHILE_IN_FLIGHT, BEGAN_IN_FLIGHT)
# Each release and each kind once; where settings are those to have, and where every commit fails. The rest is for soak.
_FEW_AT_REST: Final = {
    ("bloom_filters", "0.15.0", "", "on, async"),
    ("column_stats", "1.0.2", "", "on, async"),
    ("record_index", "1.1.1", "off", "on, async"),
    ("record_index", "1.1.1", "on", "on, async"),
    ("secondary_index_by_seen", "1.2.0", "off", "none, keep"),
}
# A build that a writer's own index takes the place of, and one that does what a writer leaves out.
_FEW_BESIDE: Final = {
    ("record_index", "0.15.0", "", "on", WHILE_IN_FLIGHT),
    ("record_index", "1.2.0", "on", "none, keep", WHILE_IN_FLIGHT),
}


def _each(cells: Sequence[Cell]) -> pytest.MarkDecorator:
    """The page tells of other kinds what was measured on merge-on-read tables."""
    both = (_MOR, _COW) if _IS_SOAK else (_MOR,)
    cases = [
        (cell.release, table_type, cell)
        for cell in cells
        for table_type in (both if cell.kind is KINDS["record_index"] else (_MOR,))
    ]
    return pytest.mark.parametrize(("real_hudi", "table_type", "cell"), cases, indirect=["real_hudi"], ids=str)


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> States:
    return States(tmp_path_factory.mktemp("states"))


def test_the_page_has_every_kind_release_setting_and_moment() -> None:
    rows = [
        (kind, release, streams, settings)
        for kind in KINDS
        for release, versions in TABLE_VERSIONS.items()
        if not KINDS[kind].needs or versions[-1] > 6
        for streams in (("off", "on") if versions[-1] > 8 else ("",))
        for settings in _settings(kind, release)
    ]

    assert Counter(cell.row for cell in _AT_REST) == Counter(rows * 3)
    assert Counter(cell.row for cell in _BESIDE) == Counter([row for row in rows if row[0] == "record_index"] * 3)


def _settings(kind: str, release: str) -> tuple[str, ...]:
    """Statistics are on for who says nothing, from 1.1 on; from 1.2 on a writer can be told to delete nothing."""
    has_default = kind == "column_stats"
    silent = ("none",) if not has_default or release in {"1.1.1", "1.2.0"} else ()
    said = ("off", "on", "on, async") if has_default else ("on", "on, async")
    kept = tuple(f"{each}, keep" for each in ("none", *(["off"] if has_default else []))) if release == "1.2.0" else ()
    return (*silent, *said, *kept)


@_each([cell for cell in _AT_REST if _IS_SOAK or cell.row in _FEW_AT_REST])
def test_a_commit_does_to_the_index_it_finds_what_the_page_says(
    real_hudi: Jvm, table_type: str, cell: Cell, states: States
) -> None:
    subject = states.copy(real_hudi, cell.kind, table_type, cell.column)

    outcome = subject.outcome_of(lambda: subject.commit((0, 1, *range(20, 28)), cell.options))

    assert outcome == cell.outcome


@_each([cell for cell in _BESIDE if _IS_SOAK or (*cell.row, cell.column) in _FEW_BESIDE])
def test_a_build_that_a_commit_meets_ends_as_the_page_says_and_leaves_an_index_that_is_right_or_told_of(
    real_hudi: Jvm, table_type: str, cell: Cell, states: States, zookeeper: ZooKeeperServer
) -> None:
    lock = zookeeper_lock(zookeeper.address, str(cell))
    subject = replace(states.copy(real_hudi, cell.kind, table_type, "absent"), lock=lock)

    outcome, ended = build_beside(subject, cell.options, cell.column)

    assert f"{outcome}, {answer(ended)}" == cell.outcome
    _require_right_or_told(subject)
    (later,) = (each for each in _AT_REST if (each.row, each.column) == (cell.row, subject.flag))
    assert subject.outcome_of(lambda: subject.commit((0, *range(30, 34)), cell.options)) == later.outcome
    _require_right_or_told(subject)


def _require_right_or_told(subject: Subject) -> None:
    state, document = state_of(subject)
    assert state in {"right", "deleted by a writer"}, document


@pytest.mark.parametrize("real_hudi", ["1.1.1", *(["1.2.0"] if _IS_SOAK else [])], indirect=True)
@pytest.mark.parametrize(("state", "expected"), [("absent", "builds"), ("complete", "logs")])
def test_the_newer_name_of_the_property_means_the_same(
    real_hudi: Jvm, state: str, expected: str, states: States
) -> None:
    subject = states.copy(real_hudi, KINDS["record_index"], _MOR, state)
    options = {**KINDS["record_index"].options("none"), _NEW_NAME: "true"}

    outcome = subject.outcome_of(lambda: subject.commit(range(20, 28), options))

    assert outcome == expected
