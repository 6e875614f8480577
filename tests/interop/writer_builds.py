"""A build by the engine, held where its index is in flight, and one commit of a Java writer with some settings."""

from collections.abc import Mapping
from typing import Any, Final

from tests.interop.engine_of_one_clock import ONE_CLOCK
from tests.interop.writer_cells import Options
from tests.interop.writer_subjects import IN_FLIGHT, Subject
from tests.java.live import SHORT_LEASE
from tests.java.live_checks import run_engine
from tests.kit.engine import Ended, Engine, Pause

BEGAN_BEFORE: Final = "began before, ends in flight"
WHILE_IN_FLIGHT: Final = "begins and ends in flight"
BEGAN_IN_FLIGHT: Final = "began in flight, ends last"
# All that was committed by then has been read, and nobody holds the lock.
_BEGUN: Final = Pause("begun", r"^create .*\.hfile$")
_NEW: Final = range(20, 28)


def build_beside(subject: Subject, options: Options, moment: str) -> tuple[str, Ended]:
    """What a commit at that moment did to the index, or that the build waited for it; and how the build ended."""
    written = {**SHORT_LEASE, **options}
    pauses, told = [_BEGUN, IN_FLIGHT], {**subject.lock, **SHORT_LEASE}
    with Engine(subject.folder, told, pauses, asked=subject.kind.asked, program=ONE_CLOCK) as engine:
        return _MEETINGS[moment](subject, written, engine)


def _across_the_flag(subject: Subject, options: Options, engine: Engine) -> tuple[str, Ended]:
    assert engine.pauses(_BEGUN.name)
    before = subject.files()
    end_commit = subject.begin(_NEW, options)
    engine.go_on(_BEGUN.name)
    if not engine.pauses(IN_FLIGHT.name):
        ended = engine.end()
        return subject.outcome_of(end_commit, before), ended
    outcome = subject.outcome_of(end_commit)
    engine.go_on(IN_FLIGHT.name)
    return outcome, engine.end()


def _in_between(subject: Subject, options: Options, engine: Engine) -> tuple[str, Ended]:
    _let_publish(engine)
    outcome = subject.outcome_of(lambda: subject.commit((0, 1, *_NEW), options))
    engine.go_on(IN_FLIGHT.name)
    return outcome, engine.end()


def _across_the_end(subject: Subject, options: Options, engine: Engine) -> tuple[str, Ended]:
    _let_publish(engine)
    before = subject.files()
    end_commit = subject.begin(_NEW, options)
    engine.go_on(IN_FLIGHT.name)
    if engine.says("waiting for"):
        end_commit()
        return "waited for", engine.end()
    ended = engine.end()
    return subject.outcome_of(end_commit, before), ended


_MEETINGS: Final = {
    BEGAN_BEFORE: _across_the_flag,
    WHILE_IN_FLIGHT: _in_between,
    BEGAN_IN_FLIGHT: _across_the_end,
}


def _let_publish(engine: Engine) -> None:
    assert engine.pauses(_BEGUN.name)
    engine.go_on(_BEGUN.name)
    assert engine.pauses(IN_FLIGHT.name), engine.end()


def answer(ended: Ended) -> str:
    """In the words of docs/writers.md."""
    if ended.code == 0:
        return "ready"
    assert "hoodie.metadata.index.async=true" in ended.report["reason"], ended
    return "says so"


def state_of(subject: Subject) -> tuple[str, Mapping[str, Any]]:
    """What `validate` says of an index that is complete, else what `index status` says."""
    name, table = subject.kind.name, str(subject.folder)
    if subject.flag == "complete":
        code, document = run_engine("validate", table, "--index", name)
        return ("right" if code == 0 and document["checks"][0]["status"] == "ok" else "wrong"), document
    _, document = run_engine("index", "status", table, "--type", name)
    (found,) = document["indexes"]
    return found["state"], found
