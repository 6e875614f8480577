from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hudi_engine.errors import NoSpaceLeft
from hudi_engine.validate.compare import ROOM, Room, Sides, Source, suspects
from hudi_engine.validate.fingerprints import combined, fingerprints
from hudi_engine.validate.meeting import Dispute, Terms, disputes
from hudi_engine.validate.sketch import Prints
from hudi_engine.validate.spill import Part, Spill, suspect_rows
from tests.kit.subjects import Count

Rows = list[tuple[str, str]]
TERMS = Terms(("key",), ("partition", "file_id"))
TINY = Room(part_bytes=400, parts=3)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Keys and file ids as a piece of a side."""

    rows: Rows

    def prints(self) -> Prints:
        keys = fingerprints(pa.array([key for key, _ in self.rows], pa.string()))
        places = fingerprints(pa.array([place for _, place in self.rows], pa.string()))
        return Prints(keys, combined(keys, places), np.full(len(keys), 100))

    def kept(self, chosen: NDArray[np.bool_]) -> pa.Table:
        rows = [row for row, is_chosen in zip(self.rows, chosen.tolist(), strict=True) if is_chosen]
        columns = {"key": pa.array([key for key, _ in rows], pa.string())}
        return suspect_rows({**columns, "file_id": pa.array([place for _, place in rows], pa.string())}, len(rows))


@dataclass(slots=True)
class Read:
    """Sources over pieces that count how often they are read."""

    pieces: Sequence[Rows]
    times: list[int] = field(default_factory=list)

    def sources(self) -> list[Source]:
        return [partial(self._of, piece) for piece in self.pieces]

    def _of(self, rows: Rows) -> Iterator[Pairs]:
        self.times.append(len(rows))
        yield Pairs(rows[: len(rows) // 2])
        yield Pairs(rows[len(rows) // 2 :])


def found(data: Rows, index: Rows, room: Room = ROOM) -> list[Dispute]:
    sides = Sides(Read([data[::2], data[1::2]]).sources(), Read([index]).sources())
    return [dispute for part in suspects(sides, Count(), room) for dispute in disputes(part, TERMS)]


def in_short(disputes: Sequence[Dispute]) -> dict[str, tuple[list[str], list[str]]]:
    return {each.key: ([row.place for row in each.rows], [row.place for row in each.entries]) for each in disputes}


def keys(count: int, place: str = "f") -> Rows:
    return [(f"k{number:05}", place) for number in range(count)]


ROWS = st.lists(st.tuples(st.sampled_from([f"k{n}" for n in range(12)]), st.sampled_from("fg")), max_size=16)


@pytest.mark.thorough
@settings(deadline=None)
@given(ROWS, ROWS, st.sampled_from([ROOM, TINY]))
def test_exactly_the_keys_whose_rows_differ_are_disputed(data: Rows, index: Rows, room: Room) -> None:
    def of(rows: Rows) -> dict[str, list[str]]:
        return {key: sorted(place for other, place in rows if other == key) for key, _ in rows}

    told = in_short(found(data, index, room))

    for key in {key for key, _ in (*data, *index)}:
        sides = of(data).get(key, []), of(index).get(key, [])
        is_twice = Counter(data) != Counter(index) and max(map(len, sides)) > 1
        if sides[0] != sides[1]:
            assert told[key] == sides
        elif key in told:  # a key that is twice on both sides is told of, if its bucket is suspicious at all
            assert is_twice


def test_sides_that_agree_are_read_once() -> None:
    data, index, watch = Read([keys(70), []]), Read([keys(30), keys(70)[30:]]), Count()

    assert not list(suspects(Sides(data.sources(), index.sources()), watch, ROOM))

    assert (data.times, index.times, watch.seen) == ([70, 0], [30, 40], 140)


def test_only_rows_of_suspicious_buckets_are_brought_together() -> None:
    data = Read([keys(20_000)])
    index = Read([keys(20_000)[1:]])

    parts = list(suspects(Sides(data.sources(), index.sources()), Count(), ROOM))

    assert len(parts) == 1
    assert parts[0].data.num_rows - parts[0].index.num_rows == 1
    assert 1 <= parts[0].data.num_rows < 30
    assert in_short(list(disputes(parts[0], TERMS))) == {"k00000": (["f"], [])}


def test_an_index_that_was_wiped_out_is_told_in_full_in_parts_that_fit() -> None:
    data = Read([keys(500)])

    parts = list(suspects(Sides(data.sources(), Read([[]]).sources()), Count(), TINY))

    assert sum(part.data.num_rows for part in parts) == 500
    # Hardly two keys share one of so many buckets, so that parts are as small as was asked for.
    assert max(part.data.num_rows for part in parts) <= 8
    assert data.times == [500] * (1 + -(-len(parts) // TINY.parts))


def test_keys_come_in_order_within_a_part() -> None:
    told = [dispute.key for dispute in found(keys(300), keys(300, "g"))]

    assert told == [key for key, _ in keys(300)]


@pytest.mark.thorough
def test_both_sides_of_a_key_meet_in_the_same_part() -> None:
    told = in_short(found(keys(300), keys(300, "g"), TINY))

    assert told == {key: (["f"], ["g"]) for key, _ in keys(300)}


def test_nothing_stays_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    during = []

    for _ in suspects(Sides(Read([keys(300)]).sources(), []), Count(), TINY):
        during.append(len(list(tmp_path.glob("*/*"))))

    assert min(during) > 0
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_no_space_left(tmp_path: Path) -> None:
    (tmp_path / "data-0.arrow").symlink_to("/dev/full")
    rows = suspect_rows({"key": pa.array(["k"] * 10_000)}, 10_000)

    with pytest.raises(NoSpaceLeft, match=r"No space left on device.*TMPDIR"), Spill.into(tmp_path) as spill:
        spill.add(Part(False, 0, rows))


def test_parts_are_put_on_disk_as_they_came_and_may_lack_a_side(tmp_path: Path) -> None:
    rows = [suspect_rows({"key": pa.array([key]), "is_outside": True}, 1) for key in "abc"]

    with Spill.into(tmp_path) as spill:
        for number, table in zip((0, 1, 0), rows, strict=True):
            spill.add(Part(False, number, table))
            spill.write()

    assert spill.take(0).data["key"].to_pylist() == ["a", "c"]
    assert spill.take(1).data["key"].to_pylist() == ["b"]
    assert spill.take(0).index.num_rows == 0
