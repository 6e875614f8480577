"""Reading several sources at once."""

import threading
from collections.abc import Callable, Iterator
from itertools import count, islice

import pytest

from hudi_engine.errors import CorruptFile
from hudi_engine.table.interleave import interleave


def counted(name: str, size: int) -> Callable[[], Iterator[str]]:
    return lambda: (f"{name}{number}" for number in range(size))


@pytest.mark.parametrize("workers", [1, 2, 3, 16])
def test_every_item_of_every_source_arrives_once(workers: int) -> None:
    sources = [counted(name, size) for name, size in (("a", 3), ("b", 0), ("c", 40), ("d", 1), ("e", 7))]

    found = list(interleave(sources, workers))

    assert sorted(found) == sorted(item for source in sources for item in source())


def test_the_order_is_one_item_of_each_in_turn() -> None:
    sources = [counted("a", 3), counted("b", 1), counted("c", 2)]

    assert list(interleave(sources, 2)) == ["a0", "b0", "a1", "a2", "c0", "c1"]


def test_the_items_of_one_source_keep_their_order() -> None:
    found = list(interleave([counted("a", 50), counted("b", 80), counted("c", 20)], 2))

    for name in "abc":
        mine = [item for item in found if item.startswith(name)]
        assert mine == sorted(mine, key=lambda item: int(item[1:]))


def test_a_source_that_fails_raises_after_what_it_gave() -> None:
    def failing() -> Iterator[str]:
        yield "last words"
        raise CorruptFile("torn", 7)

    reading = interleave([failing], 2)

    assert next(reading) == "last words"
    with pytest.raises(CorruptFile, match="torn"):
        next(reading)


def test_a_reader_that_stops_early_leaves_no_thread_behind() -> None:
    before = threading.active_count()

    assert len(list(islice(interleave([counted("a", 10_000)] * 4, 2), 3))) == 3

    assert threading.active_count() == before


def test_no_source_runs_far_ahead_of_the_reader() -> None:
    given = count()

    reading = interleave([lambda: (next(given) for _ in range(1000))], 1)
    next(reading)
    next(reading)

    assert next(given) < 20
    reading.close()  # type: ignore[attr-defined]  # an iterator to its callers, a generator here
