"""Every verb, killed at every write in each of three ways, recovered by the same engine and by another."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

import pytest

from hudi_engine.errors import EngineError, NoSpaceLeft, StorageUnavailable
from hudi_engine.storage.memory import Way
from tests.crash.cases import (
    Case,
    count_looks,
    count_writes,
    require_survives_blindness,
    require_survives_crash,
    require_survives_error,
)
from tests.crash.conftest import CASES
from tests.crash.verbs import BY_PARTITION, EVERYWHERE, OTHER_KINDS, VERBS
from tests.kit.soak import is_soak
from tests.worlds.starts import STARTS

pytestmark = pytest.mark.thorough

Record = Callable[[str, object], None]
ERRORS = {"unavailable": StorageUnavailable, "full": NoSpaceLeft}
WAYS_TO_FAIL = (Way.BEFORE, Way.AFTER)
_QUICK_STEP = 9
_STEP_OF_ERRORS = 6
_LOOKS_OF_A_VERB = 15
# For cases in turns: so that all of the ways, and both engines, have their turn.
_STRIDE_ELSEWHERE = 5
_STRIDE_OF_ERRORS = 9
_LOOKS_OF_ANOTHER_KIND = 4
_IS_SOAK = is_soak()
# Each version and each type, with the turns that begin it: one of them by each of the three ways. `make soak` takes all
# pairs, and all ways.
_TURNS = {"v6_mor": (0,), "v8_cow": (0, 2, 4), "v9_mor": (4,)}
_STARTS = tuple(STARTS) if _IS_SOAK else tuple(_TURNS)
# As docs/internals.md says it.
_LEAST_CASES = 6_000 if _IS_SOAK else 1_000
_STARTS_OF_ERRORS = ("v6_mor", "v9_mor") if _IS_SOAK else ("v9_mor",)
_NOT_GLOBAL = BY_PARTITION | OTHER_KINDS
_EVERY_PAIR = [(start, verb) for verb, each in _NOT_GLOBAL.items() for start in each.starts]
_OF_OTHER_KINDS = _EVERY_PAIR if _IS_SOAK else [("v9_mor", verb) for verb in OTHER_KINDS]
# Where versions and types differ: definitions, logs that are only ever added to, the keys of a secondary index.
_ELSEWHERE = [
    *(("v9_cow", verb) for verb in BY_PARTITION),
    ("v6_cow", "build of files"),
    ("v6_mor", "catch-up of files"),
    ("v8_cow", "build by value"),
    ("v8_mor", "catch-up by value"),
    ("v8_cow", "catch-up of partitions"),
    ("v8_mor", "build a column"),
]
# A drop and a plan are a few writes, the same for all kinds.
_WORKS = [verb for verb in _NOT_GLOBAL if verb.startswith(("build", "catch-up", "abort"))]
_FAILING = [(start, verb) for start in _STARTS_OF_ERRORS for verb in (VERBS if _IS_SOAK else EVERYWHERE)]
_FAILING = [(start, verb) for start, verb in _FAILING if start in VERBS[verb].starts]
_BLIND = [*EVERYWHERE, *(_NOT_GLOBAL if _IS_SOAK else _WORKS)]


def cases(start: str, verb: str, ways: tuple[Way, ...], step: int = 1, first: int = 1) -> Iterator[Case]:
    count = count_writes(start, verb)
    for at_write in range(min(first, count), count + 1, step):
        for way in ways:
            for is_other in (False, True):
                yield Case(start, verb, at_write, way, is_other)


def in_turns(start: str, verb: str, first_turn: int = 0, ways: Sequence[Way] = tuple(Way)) -> Iterator[Case]:
    """Every write, by one of the ways and one of the engines in turns; `make soak` takes all of them at each."""
    for turn, at_write in enumerate(range(1, count_writes(start, verb) + 1), first_turn):
        yield Case(start, verb, at_write, ways[turn // 2 % len(ways)], is_other=turn % 2 == 1)


def crashes(start: str, verb: str) -> Iterator[Case]:
    if _IS_SOAK:
        return cases(start, verb, tuple(Way))
    return chain.from_iterable(in_turns(start, verb, turn) for turn in _TURNS[start])


def crashes_of_another_kind(start: str, verb: str) -> Iterator[Case]:
    return cases(start, verb, tuple(Way)) if _IS_SOAK else in_turns(start, verb)


def crashes_elsewhere(start: str, verb: str) -> Iterator[Case]:
    return islice(in_turns(start, verb), 0, None, _STRIDE_ELSEWHERE)


def crashes_here_and_there(verb: str) -> Iterator[Case]:
    for start, first in (("v6_cow", 1), ("v9_mor", 4)):
        yield from cases(start, verb, (Way.AFTER,), _QUICK_STEP, first)


def failures(start: str, verb: str) -> Iterator[Case]:
    return cases(start, verb, WAYS_TO_FAIL, 1 if _IS_SOAK else _STEP_OF_ERRORS)


def failures_of_another_kind(verb: str) -> Iterator[Case]:
    return islice(in_turns("v9_mor", verb, ways=WAYS_TO_FAIL), 0, None, _STRIDE_OF_ERRORS)


def blind_looks(verb: str) -> range:
    count = count_looks("v9_mor", verb)
    most = _LOOKS_OF_A_VERB if verb in EVERYWHERE else _LOOKS_OF_ANOTHER_KIND
    return range(1, count + 1, 1 if _IS_SOAK else -(-count // most))


def require_all(found: Iterator[Case], check: Callable[[Case], None], record: Record) -> None:
    count = 0
    for case in found:
        check(case)
        count += 1
    assert count
    record(CASES, count)


def test_the_cases_are_as_many_as_the_docs_say() -> None:
    """What the tests below count as they go, and print, is not less without anybody's notice."""
    found = [
        *(crashes(start, verb) for start in _STARTS for verb in EVERYWHERE),
        *(crashes_of_another_kind(*pair) for pair in _OF_OTHER_KINDS),
        *(crashes_elsewhere(*pair) for pair in _ELSEWHERE),
        *map(crashes_here_and_there, EVERYWHERE),
        *(failures(*pair) for pair in _FAILING for _ in ERRORS),
        *map(failures_of_another_kind, _WORKS),
    ]

    assert sum(len(list(each)) for each in found) + sum(map(len, map(blind_looks, _BLIND))) >= _LEAST_CASES


@pytest.mark.parametrize("verb", EVERYWHERE)
@pytest.mark.parametrize("start", _STARTS)
def test_a_crash_at_any_write_is_survived(start: str, verb: str, record_property: Record) -> None:
    require_all(crashes(start, verb), require_survives_crash, record_property)


@pytest.mark.parametrize(("start", "verb"), _OF_OTHER_KINDS)
def test_a_crash_at_any_write_of_other_kinds_is_survived(start: str, verb: str, record_property: Record) -> None:
    require_all(crashes_of_another_kind(start, verb), require_survives_crash, record_property)


@pytest.mark.parametrize(("start", "verb"), _ELSEWHERE)
def test_crashes_of_other_kinds_here_and_there_are_survived(start: str, verb: str, record_property: Record) -> None:
    require_all(crashes_elsewhere(start, verb), require_survives_crash, record_property)


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize(("start", "verb"), _FAILING)
def test_a_store_that_fails_at_any_write_is_survived(start: str, verb: str, kind: str, record_property: Record) -> None:
    require_all(failures(start, verb), lambda case: _require_survives(case, ERRORS[kind]), record_property)


@pytest.mark.parametrize("verb", _WORKS)
def test_a_store_that_fails_at_some_writes_of_other_kinds_is_survived(verb: str, record_property: Record) -> None:
    kinds = tuple(ERRORS.values())
    found = failures_of_another_kind(verb)
    require_all(found, lambda case: _require_survives(case, kinds[case.at_write % len(kinds)]), record_property)


@pytest.mark.parametrize("verb", _BLIND)
def test_a_store_that_fails_to_answer_is_survived(verb: str, record_property: Record) -> None:
    looks = blind_looks(verb)
    for at_look in looks:
        require_survives_blindness("v9_mor", verb, at_look, StorageUnavailable("the store of the test does not answer"))
    record_property(CASES, len(looks))


@pytest.mark.parametrize("verb", EVERYWHERE)
def test_crashes_here_and_there_are_survived(verb: str, record_property: Record) -> None:
    require_all(crashes_here_and_there(verb), require_survives_crash, record_property)


def _require_survives(case: Case, kind: type[EngineError]) -> None:
    require_survives_error(case, kind("the store of the test fails here"))
