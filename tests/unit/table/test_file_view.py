"""Groups, slices and what a reader may see of them (hudi-format 5.5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.errors import Unsupported
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.file_view import Completions, FileSlice, FileView

GROUP = ("p", "f")


def _base(instant: str, token: str = "0-1-1") -> str:
    return f"f_{token}_{instant}.parquet"


def _log(instant: str, version: int = 1, token: str = "0-1-1") -> str:
    return f".f_{instant}.log.{version}_{token}"


def _listing(*names: str) -> list[FileStat]:
    return [FileStat(f"p/{name}", 10, 0) for name in names]


def _view(
    *,
    layout: int = 2,
    completed: dict[str, str] | None = None,
    compaction: str = "",
    replaced: str = "",
    border: str = "00",
) -> FileView:
    """A view in which the instants of `completed` (requested: completed) are done, and a compaction may be pending."""
    done = completed or {}
    return FileView(
        layout=layout,
        completions=Completions(border, done),
        visible_instants=frozenset(done) | ({compaction} if compaction else frozenset()),
        compactions={GROUP: compaction} if compaction else {},
        replaced_at={GROUP: replaced} if replaced else {},
    )


def _seen(view: FileView, listing: list[FileStat], instant: str = "99") -> FileSlice | None:
    (group,) = view.groups("p", listing)
    return view.slice_at(group, instant)


def _names(found: FileSlice | None) -> list[str]:
    assert found is not None
    base = [] if found.base_file is None else [found.base_file.stat.name]
    return [*base, *(log.stat.name for log in found.log_files)]


class TestLayout2:
    def test_a_base_file_begun_after_the_timeline_was_read_takes_no_committed_log_along(self) -> None:
        view = _view(completed={"10": "11", "20": "35"})
        listing = _listing(_base("10"), _log("20"), _base("30"))

        assert _names(_seen(view, listing)) == [_base("10"), _log("20")]

    def test_a_log_belongs_to_the_base_file_that_was_there_when_its_commit_completed(self) -> None:
        view = _view(completed={"10": "11", "20": "35", "30": "31", "40": "41"})
        listing = _listing(_base("10"), _log("20"), _base("30"), _log("40"))

        assert _names(_seen(view, listing)) == [_base("30"), _log("20"), _log("40")]
        assert _names(_seen(view, listing, "29")) == [_base("10")]

    def test_a_log_completed_at_the_very_time_of_a_base_file_belongs_to_it(self) -> None:
        view = _view(completed={"10": "11", "20": "30", "30": "31"})

        assert _names(_seen(view, _listing(_base("10"), _log("20"), _base("30")))) == [_base("30"), _log("20")]

    def test_logs_without_any_base_file_are_one_slice_by_the_first_of_them(self) -> None:
        found = _seen(_view(completed={"10": "11", "20": "21"}), _listing(_log("20"), _log("10")))

        assert _names(found) == [_log("10"), _log("20")]
        assert found is not None
        assert found.base_instant == "10"

    def test_a_log_older_than_every_base_file_is_a_slice_of_its_own(self) -> None:
        view = _view(completed={"10": "11", "20": "21"})
        listing = _listing(_log("10"), _base("20"))

        assert _names(_seen(view, listing)) == [_base("20")]
        assert _names(_seen(view, listing, "19")) == [_log("10")]

    def test_a_pending_log_is_hidden(self) -> None:
        view = _view(completed={"10": "11"})

        assert _names(_seen(view, _listing(_base("10"), _log("20")))) == [_base("10")]

    def test_a_pending_base_file_is_hidden_with_its_slice(self) -> None:
        view = _view(completed={"10": "11", "20": "21"})

        assert _names(_seen(view, _listing(_base("10"), _log("20"), _base("30")))) == [_base("10"), _log("20")]

    def test_a_group_that_nobody_committed_is_not_seen(self) -> None:
        assert _seen(_view(completed={"10": "11"}), _listing(_base("20"), _log("20"))) is None

    def test_a_slice_whose_logs_are_all_pending_is_not_seen(self) -> None:
        assert _seen(_view(completed={"10": "11"}, border="30"), _listing(_log("40"))) is None

    def test_a_pending_compaction_takes_nothing_away_and_hides_its_own_base_file(self) -> None:
        view = _view(completed={"10": "11", "20": "21", "40": "41"}, compaction="30")
        listing = _listing(_base("10"), _log("20"), _base("30"), _log("40"))

        found = _seen(view, listing)

        assert _names(found) == [_base("10"), _log("20"), _log("40")]
        assert found is not None
        assert found.base_instant == "10"

    def test_a_pending_compaction_of_a_group_with_no_log_since_shows_the_slice_before(self) -> None:
        view = _view(completed={"10": "11", "20": "21"}, compaction="30")

        assert _names(_seen(view, _listing(_base("10"), _log("20")))) == [_base("10"), _log("20")]

    def test_a_log_begun_before_and_completed_after_the_pending_compaction_is_read(self) -> None:
        view = _view(completed={"10": "11", "20": "35"}, compaction="30")
        (group,) = view.groups("p", _listing(_base("10"), _log("20")))

        assert [found.base_instant for found in group.slices] == ["30", "10"]
        assert _names(view.slice_at(group, "99")) == [_base("10"), _log("20")]

    def test_a_pending_compaction_with_nothing_before_it_reads_its_logs_and_not_its_base_file(self) -> None:
        found = _seen(_view(completed={"20": "35"}, compaction="30"), _listing(_log("20"), _base("30")))

        assert _names(found) == [_log("20")]

    def test_a_version_6_leftover_is_sliced_by_its_requested_time_among_longer_times(self) -> None:
        view = _view(completed={"100": "101", "115": "9"})

        assert _names(_seen(view, _listing(_base("100"), _log("115")))) == [_base("100"), _log("115")]

    def test_a_log_of_version_6_named_after_its_base_file_stays_with_it(self) -> None:
        """An upgrade leaves names as they are: T is the base instant, whose completion time slices it right."""
        view = _view(completed={"10": "11", "30": "31"})
        listing = _listing(_base("10"), _log("10"), _log("10", 2), _base("30"))

        assert _names(_seen(view, listing)) == [_base("30")]
        assert _names(_seen(view, listing, "29")) == [_base("10"), _log("10"), _log("10", 2)]

    def test_an_archived_commit_is_visible_and_sliced_by_its_time_in_the_history(self) -> None:
        listing = _listing(_base("10"), _log("20"), _base("30"))

        known = _view(completed={"20": "35", "50": "51"}, border="50")
        unknown = _view(completed={"50": "51"}, border="50")

        assert _names(_seen(known, listing)) == [_base("30"), _log("20")]
        assert _names(_seen(unknown, listing)) == [_base("30")]


class TestLayout1:
    def test_a_log_belongs_to_the_base_file_that_it_is_named_after(self) -> None:
        view = _view(layout=1, completed={"10": "11", "30": "31"})
        listing = _listing(_base("10"), _log("10"), _base("30"), _log("30", 2), _log("30", 1))

        assert _names(_seen(view, listing)) == [_base("30"), _log("30", 1), _log("30", 2)]
        assert _names(_seen(view, listing, "29")) == [_base("10"), _log("10")]

    def test_a_log_shared_by_commits_is_kept_though_its_last_commit_is_pending(self) -> None:
        """Its blocks tell which of them count."""
        view = _view(layout=1, completed={"10": "11"})

        assert _names(_seen(view, _listing(_base("10"), _log("10")))) == [_base("10"), _log("10")]

    def test_a_pending_compaction_is_merged_with_the_slice_before_logs_in_order(self) -> None:
        view = _view(layout=1, completed={"10": "11"}, compaction="30")
        listing = _listing(_base("10"), _log("10", 2), _log("10", 1), _log("30", 1), _base("30"))

        assert _names(_seen(view, listing)) == [_base("10"), _log("10", 1), _log("10", 2), _log("30", 1)]

    def test_a_slice_of_logs_only_is_read(self) -> None:
        assert _names(_seen(_view(layout=1, completed={"10": "11"}), _listing(_log("10")))) == [_log("10")]


@pytest.mark.parametrize("layout", [1, 2])
@pytest.mark.parametrize(("instant", "is_seen"), [("29", True), ("30", False), ("31", False)])
def test_a_replaced_group_is_hidden_from_the_replacing_instant_on(layout: int, instant: str, is_seen: bool) -> None:
    view = _view(layout=layout, completed={"10": "11", "30": "31"}, replaced="30")

    assert (_seen(view, _listing(_base("10")), instant) is not None) == is_seen


@pytest.mark.parametrize("layout", [1, 2])
def test_nothing_from_after_the_instant_is_seen(layout: int) -> None:
    view = _view(layout=layout, completed={"10": "11", "20": "21"})
    listing = _listing(_base("10"), _base("20"))

    assert _names(_seen(view, listing, "15")) == [_base("10")]
    assert _seen(view, listing, "05") is None


@given(
    st.permutations(
        [_log("20", 1, "0-9-1"), _log("20", 1, "0-10-1"), _log("20", 2), _log("10", 3), _base("05"), ".f_20.log.1"]
    )
)
def test_logs_are_in_merge_order_whatever_the_order_of_the_listing(names: list[str]) -> None:
    view = _view(completed={"05": "06", "10": "11", "20": "21"})

    assert _names(_seen(view, _listing(*names))) == [
        _base("05"),
        _log("10", 3),
        ".f_20.log.1",
        _log("20", 1, "0-10-1"),
        _log("20", 1, "0-9-1"),
        _log("20", 2),
    ]


def test_of_two_base_files_of_one_instant_the_greater_token_counts() -> None:
    found = _seen(_view(completed={"10": "11"}), _listing(_base("10", "0-1-2"), _base("10", "0-1-1")))

    assert _names(found) == [_base("10", "0-1-2")]


def test_what_is_no_data_file_is_passed_over() -> None:
    listing = [
        *_listing(_base("10"), ".hoodie_partition_metadata", ".hoodie_partition_metadata.parquet", "_SUCCESS"),
        *_listing(f"{_log('10')}.cdc", ".f_10.archive.1_0-1-1", ".part.parquet.tmp", ".g_0-1-1_10.parquet"),
        FileStat("p/g_0-1-1_10.parquet", 0, 0, is_folder=True),
    ]

    assert _names(_seen(_view(completed={"10": "11"}), listing)) == [_base("10")]


@pytest.mark.parametrize("name", ["part-0000.parquet", "data.hfile", "x_y.orc"])
def test_a_data_file_that_hudi_did_not_name_is_refused_and_not_left_out(name: str) -> None:
    with pytest.raises(Unsupported, match=f"p/{name}: a data file whose name is not Hudi's"):
        _view().groups("p", _listing(name))


def test_a_native_log_of_version_10_is_refused() -> None:
    with pytest.raises(Unsupported, match="version 10"):
        _view().groups("p", _listing("f1-0_0-1-1_20260101000000000_1.log.parquet"))


def test_groups_are_in_the_order_of_their_ids_and_sizes_add_up() -> None:
    listing = _listing("b_0-1-1_10.parquet", ".a_10.log.1_0-1-1", "a_0-1-1_10.parquet")
    view = _view(completed={"10": "11"})

    groups = view.groups("p", listing)

    assert [group.file_id for group in groups] == ["a", "b"]
    assert [found.size_bytes for group in groups for found in group.slices] == [20, 10]


class TestCompletions:
    def test_what_is_below_the_border_completed_at_an_unknown_time(self) -> None:
        completions = Completions("50", {"20": "25", "60": "61"})

        assert [completions.is_completed(instant) for instant in ("10", "20", "50", "60")] == [True, True, False, True]
        assert [completions.time_of(instant) for instant in ("10", "20", "50", "60")] == ["10", "25", None, "61"]

    def test_an_empty_timeline_completed_nothing(self) -> None:
        assert not Completions("", {}).is_completed("10")


def test_a_log_of_an_index_under_a_name_that_hudi_itself_loses_is_refused() -> None:
    with pytest.raises(Unsupported, match="a data partition's name has a dot"):
        _view().groups("p", _listing(".record-index-v1.2-0000-0_10.log.1_0-1-1"))
