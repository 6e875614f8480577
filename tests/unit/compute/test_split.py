"""Keys go to the shards in which Hudi looks for them."""

import pyarrow as pa
import pytest

from hudi_engine.compute.shard_names import Group
from hudi_engine.compute.split import ShardKeys, split, split_all


def keys_of(first: int, count: int) -> pa.Array:
    return pa.array([b"key-%d" % number for number in range(first, first + count)], pa.large_binary())


def placed(parts: list[ShardKeys]) -> dict[bytes, int]:
    return {key: part.place for part in parts for key in part.keys.to_pylist()}


def test_a_key_goes_to_the_remainder_of_javas_hash_counted_from_the_first_place_of_its_group() -> None:
    # `String.hashCode` of "a" is 97, of "record" -934908847, of U+1F600 1772899.
    keys = pa.array([b"a", b"record", "\U0001f600".encode()], pa.large_binary())

    found = placed(list(split(keys, Group("p", 20, 10))))

    assert found == {b"a": 27, b"record": 27, "\U0001f600".encode(): 29}


def test_the_only_shard_of_a_group_gets_all_keys_as_they_come() -> None:
    (part,) = split(keys_of(0, 5), Group(None, 3, 1))

    assert (part.place, part.keys) == (3, keys_of(0, 5))


def test_a_shard_gets_its_keys_in_the_order_in_which_they_came() -> None:
    for part in split(keys_of(0, 1000), Group(None, 0, 7)):
        numbers = [int(key[4:]) for key in part.keys.to_pylist()]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("count", [1, 3, 10_000])
def test_no_key_is_lost_between_pieces(count: int) -> None:
    pieces = [keys_of(first, 700) for first in range(0, 7000, 700)]

    at_once = list(split_all(pieces, Group(None, 0, count)))

    together = placed([part for parts in at_once for part in parts])
    assert together == placed(list(split(keys_of(0, 7000), Group(None, 0, count))))
    assert len(together) == 7000


def test_pieces_are_joined_until_each_of_many_shards_gets_some_keys() -> None:
    pieces = [keys_of(first, 1000) for first in range(0, 10_000, 1000)]

    at_once = list(split_all(pieces, Group(None, 0, 8)))

    assert [sum(len(part.keys) for part in parts) for parts in at_once] == [5000, 5000]
