"""What an observer sees of tables that change, and that it costs little while they do not."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_engine.cli.jobs import carry_out
from hudi_engine.cli.observer import MOST_TABLES, Observer
from hudi_engine.clock import HandClock, SystemClock
from hudi_engine.contract import (
    Action,
    IndexState,
    JobRequest,
    ObserveRequest,
    Outcome,
    TableSeen,
    TableUnseen,
    UnseenReason,
)

Golden = Callable[[str], Path]
ALONE = {"hudi.engine.single.writer": "true"}
NAME = "record_index"


@pytest.fixture
def observer() -> Observer:
    return Observer(SystemClock())


def seen(observer: Observer, table: Path, known: str | None = None) -> TableSeen:
    found = observer.answer(ObserveRequest(1, str(table), known=known)).found
    assert isinstance(found, TableSeen), found
    return found


def unseen(observer: Observer, table: Path | str, **more: tuple[str, ...]) -> TableUnseen:
    found = observer.answer(ObserveRequest(1, str(table), **more)).found  # type: ignore[arg-type]  # one field only
    assert isinstance(found, TableUnseen), found
    return found


def is_unchanged(observer: Observer, table: Path, known: TableSeen) -> bool:
    return observer.answer(ObserveRequest(1, str(table), known=known.fingerprint)).found is None


def build(table: Path) -> None:
    assert carry_out(JobRequest(str(table), Action.BUILD, (NAME,), conf=ALONE)).outcome is Outcome.READY


def state_of(table: TableSeen, name: str = NAME) -> IndexState:
    return next((index.state for index in table.indexes if index.name == name), IndexState.ABSENT)


def change_properties(table: Path, change: Callable[[str], str]) -> None:
    path = table / ".hoodie/hoodie.properties"
    lines = path.read_text("latin-1").splitlines()
    kept = [change(line) for line in lines if not line.startswith("hoodie.table.checksum")]
    path.write_text("\n".join(kept) + "\n", "latin-1")


@pytest.mark.parametrize(
    ("name", "kind", "version", "layout", "pending"),
    [
        ("v6_cow_indexed", "COPY_ON_WRITE", 6, 1, 0),
        ("v6_mor_pending", "MERGE_ON_READ", 6, 1, 1),
        ("v8_mor_indexed", "MERGE_ON_READ", 8, 2, 0),
        ("v9_mor_indexed", "MERGE_ON_READ", 9, 2, 0),
        ("v9_mor_pending", "MERGE_ON_READ", 9, 2, 1),
    ],
)
def test_a_table_is_seen_as_its_properties_and_its_timeline_say(
    name: str, kind: str, version: int, layout: int, pending: int, golden: Golden, observer: Observer
) -> None:
    table = seen(observer, golden(name))

    timeline = table.timeline
    assert (table.type, table.version, table.layout) == (kind, version, layout)
    assert table.record_key_fields
    assert sum(timeline.counts.values()) == timeline.active_instants > 0
    assert len([each for each in timeline.pending if each.action != "indexing"]) >= pending
    assert timeline.latest_completed_ms == max(timeline.latest_by_action.values())
    assert not [index for index in table.indexes if index.state is not IndexState.COMPLETE and not index.reason]


@pytest.mark.parametrize("name", ["v6_cow_indexed", "v8_mor_orders", "v9_mor_index_in_flight", "v9_mor_pending"])
def test_a_table_at_which_nothing_changes_is_unchanged_and_any_change_is_seen(
    name: str, golden: Golden, observer: Observer
) -> None:
    table = golden(name)
    before = seen(observer, table)
    was_unchanged = is_unchanged(observer, table, before)
    folder = table / (".hoodie" if before.layout == 1 else ".hoodie/timeline")

    (folder / "20991231000000000.commit.requested").touch()
    after = seen(observer, table, before.fingerprint)

    assert was_unchanged
    assert after.timeline.counts["commit/requested"] == before.timeline.counts.get("commit/requested", 0) + 1
    assert after.timeline.pending[-1].instant == "20991231000000000"
    assert is_unchanged(observer, table, after)
    assert is_unchanged(Observer(SystemClock()), table, after), "another process says the same of the same table"


def test_an_index_is_seen_absent_complete_and_deleted_by_a_writer(golden: Golden, observer: Observer) -> None:
    table = golden("v9_mor_orders")
    absent = seen(observer, table)

    build(table)
    complete = seen(observer, table, absent.fingerprint)
    change_properties(table, lambda line: line.replace(f",{NAME}", "").replace(f"{NAME},", ""))
    shutil.rmtree(table / ".hoodie/metadata" / NAME)
    deleted = seen(observer, table, complete.fingerprint)

    assert [state_of(each) for each in (absent, complete, deleted)] == [
        IndexState.ABSENT,
        IndexState.COMPLETE,
        IndexState.DELETED,
    ]
    (index,) = [index for index in deleted.indexes if index.name == NAME]
    assert "a writer that does not have this kind enabled has deleted it" in index.reason


def test_files_of_an_index_that_vanish_are_noticed(golden: Golden, observer: Observer) -> None:
    table = golden("v9_mor_indexed")
    before = seen(observer, table)

    for file in (table / ".hoodie/metadata" / NAME).iterdir():
        file.unlink()

    assert state_of(seen(observer, table, before.fingerprint)) is IndexState.STALE


def test_properties_that_are_replaced_are_read_again(golden: Golden, observer: Observer) -> None:
    table = golden("v8_mor_orders")
    before = seen(observer, table)

    change_properties(table, lambda line: line.replace(f"hoodie.table.name={before.name}", "hoodie.table.name=other"))

    assert seen(observer, table, before.fingerprint).name == "other"


def test_a_table_that_vanishes_and_comes_back_is_told_of(golden: Golden, tmp_path: Path, observer: Observer) -> None:
    table = golden("v8_mor_orders")
    before = seen(observer, table)

    table.rename(tmp_path / "away")
    gone = unseen(observer, table)
    (tmp_path / "away").rename(table)

    assert (gone.reason, gone.retry) == (UnseenReason.NOT_FOUND, False)
    assert str(table) in gone.message
    assert is_unchanged(observer, table, before)


def test_a_table_whose_folder_stays_without_it_is_none(golden: Golden, observer: Observer) -> None:
    table = golden("v8_mor_orders")
    seen(observer, table)

    shutil.rmtree(table / ".hoodie")

    assert unseen(observer, table).reason is UnseenReason.NOT_A_TABLE


def test_a_newer_version_is_unsupported_and_its_upgrade_seen_at_once(golden: Golden, observer: Observer) -> None:
    table = golden("v9_mor_orders")
    seen(observer, table)

    change_properties(table, lambda line: line.replace("hoodie.table.version=9", "hoodie.table.version=10"))
    newer = unseen(observer, table)
    change_properties(table, lambda line: line.replace("hoodie.table.version=10", "hoodie.table.version=9"))

    assert newer.reason is UnseenReason.UNSUPPORTED
    assert "hoodie.table.version=10" in newer.message
    assert seen(observer, table).version == 9


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (
            lambda table: (table / ".hoodie/hoodie.properties").write_text("hoodie.table.name=x"),
            UnseenReason.UNSUPPORTED,
        ),
        (
            lambda table: (table / ".hoodie/hoodie.properties").write_text(
                "hoodie.table.name=x\nhoodie.table.checksum=1"
            ),
            UnseenReason.CORRUPT,
        ),
        (lambda table: (table / ".hoodie/timeline/20990101000000000.merge").touch(), UnseenReason.UNSUPPORTED),
    ],
)
def test_a_damaged_table_is_told_of_by_its_reason(
    damage: Callable[[Path], object], reason: UnseenReason, golden: Golden, observer: Observer
) -> None:
    table = golden("v8_mor_orders")

    damage(table)

    assert unseen(observer, table).reason is reason


def test_a_heart_that_stops_is_noticed_though_no_file_changes(golden: Golden) -> None:
    table, instant = golden("v9_mor_orders"), "20991231000000000"
    clock = HandClock(SystemClock().now_ms())
    observer = Observer(clock)
    (table / f".hoodie/timeline/{instant}.deltacommit.requested").touch()
    (table / ".hoodie/.heartbeat").mkdir(exist_ok=True)
    (table / ".hoodie/.heartbeat" / instant).touch()

    alive = seen(observer, table)
    clock.sleep(15)
    still = is_unchanged(observer, table, alive)
    clock.sleep(120)
    stopped = seen(observer, table, alive.fingerprint)

    assert still
    assert [each.timeline.pending[-1].is_live for each in (alive, stopped)] == [True, False]
    assert (stopped.timeline.pending[-1].heartbeat_age_seconds or 0) > 120
    assert alive.timeline.oldest_heartbeat_ms is not None
    assert is_unchanged(observer, table, stopped)


def test_only_the_oldest_pending_instants_are_told_and_all_are_counted(golden: Golden, observer: Observer) -> None:
    table = golden("v9_mor_orders")
    for number in range(50):
        (table / f".hoodie/timeline/209912310000000{number:02}.clean.requested").touch()

    timeline = seen(observer, table).timeline

    assert timeline.counts["clean/requested"] == 50
    assert [each.instant for each in timeline.pending] == [f"209912310000000{number:02}" for number in range(20)]


def test_other_properties_are_another_look(golden: Golden, observer: Observer) -> None:
    table = golden("v9_mor_orders")
    before = seen(observer, table)

    other = ObserveRequest(1, str(table), conf={"hoodie.client.heartbeat.interval_in_ms": "9000"})

    assert observer.answer(ObserveRequest(2, other.table, other.conf, known=before.fingerprint)).found is not None


def test_properties_of_folders_are_read_anew_when_they_change(
    golden: Golden, tmp_path: Path, observer: Observer
) -> None:
    table, folder = golden("v9_mor_orders"), tmp_path / "secret"
    folder.mkdir()
    unfit = folder / "hudi.engine.timeline.timezone"
    unfit.write_text("Nowhere/canary-zone")
    request = ObserveRequest(1, str(table), conf_from=(str(folder),))

    refused = observer.answer(request).found
    unfit.unlink()
    good = observer.answer(request).found

    assert isinstance(refused, TableUnseen)
    assert "canary" not in refused.message
    assert isinstance(good, TableSeen)


def test_a_folder_of_properties_that_is_missing_says_nothing_of_the_table(golden: Golden, observer: Observer) -> None:
    found = unseen(observer, golden("v9_mor_orders"), conf_from=("/nowhere",))

    assert (found.reason, found.message[:20]) == (UnseenReason.CONTRADICTION, "conf_from: /nowhere:")


def test_a_table_that_the_contract_has_no_words_for_is_no_end(golden: Golden, observer: Observer) -> None:
    table = golden("v9_mor_orders")
    before = seen(observer, table)

    (table / ".hoodie/timeline/7.clean.requested").touch()
    odd = unseen(observer, table)
    (table / ".hoodie/timeline/7.clean.requested").unlink()

    assert odd.reason in {UnseenReason.UNSUPPORTED, UnseenReason.CONTRADICTION}
    assert seen(observer, table).name == before.name


def test_only_so_many_tables_stay_open(golden: Golden, observer: Observer) -> None:
    table = golden("v9_mor_orders")
    known = seen(observer, table).fingerprint

    for number in range(MOST_TABLES + 20):
        assert observer.answer(ObserveRequest(1, f"{table}{'/' * number}", known=known)).found is None

    assert len(observer.tables) == MOST_TABLES


@pytest.mark.parametrize("name", ["v6_cow_indexed", "v9_mor_indexed"])
def test_an_unchanged_table_with_hundreds_of_instants_costs_little(
    name: str, golden: Golden, observer: Observer
) -> None:
    table = golden(name)
    folder = table / (".hoodie/timeline" if (table / ".hoodie/timeline").is_dir() else ".hoodie")
    for number in range(300):
        (folder / f"20991231000000{number:03}.clean.requested").touch()
    known = seen(observer, table)

    began = time.process_time()
    for _ in range(10):
        assert is_unchanged(observer, table, known)

    assert (time.process_time() - began) / 10 < 0.020


def test_a_table_that_may_not_be_read_is_denied(golden: Golden, observer: Observer) -> None:
    table = golden("v9_mor_orders")
    if os.geteuid() == 0:
        # Nobody denies root anything: a link that leads outside is refused to all.
        shutil.move(table / ".hoodie", table.parent / "outside")
        (table / ".hoodie").symlink_to(table.parent / "outside")
        assert unseen(observer, table).reason is UnseenReason.UNSUPPORTED
    else:
        (table / ".hoodie").chmod(0)
        assert unseen(observer, table).reason is UnseenReason.ACCESS_DENIED
        (table / ".hoodie").chmod(0o755)
