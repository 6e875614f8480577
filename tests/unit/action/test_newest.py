"""Of a key with several rows a build that keeps the newest indexes the one written last, whatever commits beside it."""

import random
from collections.abc import Callable

import pytest

from hudi_engine.action.catch_up import CaughtUp
from hudi_engine.action.execute import Run
from hudi_engine.action.index import Ready, build
from hudi_engine.action.schedule import IndexRequest
from hudi_engine.compute.duplicates import DUPLICATES_KEY
from hudi_engine.errors import Contradiction
from hudi_engine.index.kinds import IndexKind
from tests.unit.action.builds import answers, catching_up, in_build
from tests.worlds.java_metadata import Location
from tests.worlds.java_rows import GroupChange
from tests.worlds.starts import STARTS
from tests.worlds.world import CONF, World, world_of
from tests.worlds.writer import Write, Writer, partitions_of

pytestmark = pytest.mark.thorough

_OLD, _NEW = "twice", "also twice"
_RANDOM_WORLDS = 12


def world_with_duplicates(start: str) -> World:
    """Two keys have a row in a first partition, and a newer one in a second."""
    world = world_of(start)
    world.conf = {**CONF, DUPLICATES_KEY: "newest"}
    for partition in partitions_of(world)[:2]:
        Writer(world).begin().insert(partition, _OLD, _NEW, f"alone in {partition}").complete()
    return world


def places_of(world: World, key: str) -> list[Location]:
    """Where the key has rows, the newest last."""
    found = [
        (rows[key]["_hoodie_commit_time"], place[1], place[0]) for place, rows in world.rows().items() if key in rows
    ]
    return [(partition, file_id) for _, file_id, partition in sorted(found)]


def newest(world: World) -> dict[str, Location]:
    """What the index must answer."""
    keys = {key for rows in world.rows().values() for key in rows}
    return {key: places_of(world, key)[-1] for key in keys}


def delete_at(write: Write, place: Location, key: str) -> None:
    write.changes.setdefault(place, GroupChange()).gone.append(key)


def update_at(write: Write, place: Location, key: str) -> None:
    write.changes.setdefault(place, GroupChange()).puts[key] = write._newer(write.rows[place][key])


def caught_up(world: World, *acts: Callable[[Write], object]) -> None:
    """A build beside whose base writers that do not know of the index commit these, one after the other."""
    writes: list[Write] = []

    def body(_: Run) -> None:
        for act in acts:
            # The writer that began before the index reads the table as it writes.
            write = writes.pop(0)
            write.rows, write.slices = world.rows(), world.slices()
            act(write)
            write.complete()
        assert isinstance(catching_up(_).run(), CaughtUp)

    writes += [Writer(world).begin() for _ in acts]
    in_build(world, body)
    assert answers(world) == newest(world)


@pytest.mark.parametrize("start", STARTS)
def test_the_base_has_the_newest_row_of_each_key_and_the_report_counts_the_keys(start: str) -> None:
    world = world_with_duplicates(start)

    built = build(world.site(), IndexRequest((IndexKind.RECORD_INDEX,)))

    assert isinstance(built, Ready)
    assert answers_of_complete(world) == newest(world)


@pytest.mark.parametrize("start", STARTS)
def test_a_newer_row_that_a_commit_adds_takes_the_place_of_the_indexed_one(start: str) -> None:
    world = world_with_duplicates(start)
    first, *_ = partitions_of(world)

    caught_up(world, lambda write: write.insert(first, _OLD, "unrelated"))


@pytest.mark.parametrize("start", STARTS)
def test_the_older_row_is_indexed_once_a_commit_has_removed_the_newest(start: str) -> None:
    world = world_with_duplicates(start)
    older, newer = places_of(world, _OLD)

    caught_up(world, lambda write: delete_at(write, newer, _OLD))

    assert answers(world)[_OLD] == older


@pytest.mark.parametrize("start", STARTS)
def test_an_update_makes_the_older_row_the_newest(start: str) -> None:
    world = world_with_duplicates(start)
    older, _ = places_of(world, _OLD)

    caught_up(world, lambda write: update_at(write, older, _OLD))

    assert answers(world)[_OLD] == older
    assert answers(world)[_NEW] != older


@pytest.mark.parametrize("start", STARTS)
def test_a_key_without_any_row_left_has_no_entry(start: str) -> None:
    world = world_with_duplicates(start)

    def delete_all(write: Write) -> None:
        for place in places_of(world, _OLD):
            delete_at(write, place, _OLD)

    caught_up(world, delete_all)

    assert _OLD not in answers(world)


@pytest.mark.parametrize("start", STARTS)
def test_a_row_that_comes_and_goes_beside_the_build_leaves_the_one_that_was_there(start: str) -> None:
    world = world_with_duplicates(start)
    first, *_ = partitions_of(world)

    caught_up(
        world,
        lambda write: write.insert(first, _OLD),
        lambda write: delete_at(write, places_of(world, _OLD)[-1], _OLD),
        lambda write: update_at(write, places_of(world, _OLD)[0], _OLD),
    )


@pytest.mark.parametrize("seed", range(_RANDOM_WORLDS))
def test_whatever_commits_do_to_rows_of_one_key_the_newest_is_indexed(seed: int) -> None:
    world = world_with_duplicates(sorted(STARTS)[seed % len(STARTS)])
    chance = random.Random(seed)

    def act(write: Write) -> None:
        for key in (_OLD, _NEW):
            places = places_of(world, key)
            match chance.choice(["insert", "delete", "update", "nothing"]):
                case "insert":
                    write.insert(chance.choice(partitions_of(world)), key)
                case "delete" if places:
                    delete_at(write, chance.choice(places), key)
                case "update" if places:
                    update_at(write, chance.choice(places), key)
        write.insert(partitions_of(world)[0], f"new by {write.instant}")

    caught_up(world, *[act] * 4)


def test_a_commit_that_adds_a_duplicate_is_refused_unless_the_newest_is_kept() -> None:
    world = world_of("v9_cow")
    first, second, *_ = partitions_of(world)
    key = next(key for key, place in world.truth().items() if place[0] == first)
    write = Writer(world).begin().insert(second, key)

    def body(run: Run) -> None:
        write.complete()
        with pytest.raises(Contradiction, match=rf"1 record keys have several rows.*{key}.*--duplicates newest"):
            catching_up(run).run()

    in_build(world, body)


def answers_of_complete(world: World) -> dict[str, Location]:
    index = world.metadata().index(IndexKind.RECORD_INDEX.value)
    return {row["key"]: (row["partition"], row["file_id"]) for rows in index.scan() for row in rows.to_pylist()}
