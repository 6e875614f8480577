"""Builds beside two Java writers: conducted, the same way each time, or while the writers never pause."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from tests.interop.conductor import BEFORE_ITS_END, BEFORE_THE_LOCK, BEGUN, Lead, Said, Scene, conduct, pauses_of
from tests.interop.live_cases import OF_VALUES
from tests.java.live_checks import properties_of
from tests.java.live_writers import COMPACTION, USUAL_LEASE, LiveTable, LiveWriters
from tests.kit.engine import Ended, Engine, Pause

Builds = Sequence[Sequence[str]]
Built = Callable[[LiveTable, LiveWriters, Builds], None]

# All that was committed by then has been read, and nobody holds the lock.
_BASE: Final = Pause("base", r"^create .*\.hfile$")
# The engine holds the lock: the index is about to be flagged as in flight.
_PUBLISH: Final = Pause("publish", r"^create .*hoodie\.properties\.backup$")
# The index is in flight, and nobody holds the lock.
_CATCH_UP: Final = Pause("catch up", "^catch up$")
# The engine holds the lock: all indexes of the plan are flagged as complete, and its instant is about to be.
_COMPLETE: Final = Pause("complete", r"^(replace \.hoodie/\.index_attempts/built/|create \.hoodie/\d+\.indexing$)")
_WAITS: Final = Said("waiting for")
_COMPACTS: Final = {**COMPACTION, "hoodie.compact.inline.max.delta.commits": "1"}
_METADATA_COMMIT: Final = re.compile(r"create \.hoodie/metadata/\.hoodie/(timeline/)?\d+(_\d+)?\.deltacommit$")


def build_conducted(table: LiveTable, writers: LiveWriters, builds: Builds) -> None:
    """Commits overlap with each step of each build that matters, and with each other."""
    table = replace(table, options={**table.options, **USUAL_LEASE})
    for writer in writers.writers:
        writer.table = table
    writers.keep_apart()
    with Lead() as lead:
        for asked in builds:
            _require_ready(_conducted(lead, table, writers, asked))


def build_while_they_run(table: LiveTable, writers: LiveWriters, builds: Builds) -> None:
    """Whatever overlaps, overlaps. Each build waits for a commit of each writer, so that none falls between two."""
    with writers.running():
        writers.wait_for_commits(1)
        for asked in builds:
            with Engine(table.place, properties_of(table), [_BASE], asked=asked) as engine:
                assert engine.pauses(_BASE.name), engine.end()
                writers.wait_for_commits(1)
                engine.go_on(_BASE.name)
                _require_ready(engine.end())
        writers.wait_for_commits(2)


def commit_by_turns(writers: LiveWriters) -> None:
    """A commit, which may compact the table, and then one of each writer, one beside the other."""
    writers.keep_apart()
    one, other = writers.writers
    one.commit()
    with Lead() as lead:
        led = lead(other)
        led.to(BEFORE_THE_LOCK)()
        one.commit()
        led.end()


def _conducted(lead: Lead, table: LiveTable, writers: LiveWriters, asked: Sequence[str]) -> Ended:
    """`early` began before the plan. It fails, since another commit changes one of its file groups, and is made again.

    `across` begins before the index is in flight, which it does not see. `beside` and `late` begin while the engine
    holds the lock.
    """
    one, other = writers.writers
    compacts = _COMPACTS if table.table_type == "MERGE_ON_READ" else {}
    early, across, late = lead(other, other.author.shared_step()), lead(other), lead(other)
    beside = lead(one)
    score: list[Scene] = [
        (_BASE, [early.to(BEFORE_THE_LOCK), lambda: one.commit(one.author.shared_step()), early.end_second,
                 lambda: one.commit(options=compacts), across.to(BEGUN)]),
        (_PUBLISH, [beside.set_out]),
        (_CATCH_UP, [across.to(BEFORE_THE_LOCK), beside.end]),
    ]  # fmt: skip
    # Whether it keeps a secondary index a writer settles under the lock, as it ends: nobody waits for that one.
    is_waited_for = tuple(asked) != OF_VALUES
    if is_waited_for:
        score += [(_WAITS, [across.to(BEFORE_ITS_END), across.end]), (_COMPLETE, [late.set_out])]
    else:
        score += [(_COMPLETE, [across.give_up])]
    early.to(BEGUN)()
    with Engine(table.place, properties_of(table), pauses_of(score), asked=asked) as engine:
        ended, steps = conduct(engine, score), engine.steps
    (late if is_waited_for else across).end()
    own = [step for step in steps if _METADATA_COMMIT.match(step)]
    assert len(own) > 1, f"the base, and what commits since it was read have left out: {own}"
    return ended


def _require_ready(ended: Ended) -> None:
    assert (ended.code, ended.report["outcome"]) == (0, "ready"), ended
