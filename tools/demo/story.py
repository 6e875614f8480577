"""What happens in the demo, step by step; what was seen of each step is kept."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hudi_engine.contract import Action, Outcome
from hudi_operator.words import Condition, Kind, Reason
from tools.demo import manifests
from tools.demo.java import Commit, JavaWriter
from tools.demo.local_operator import Flag, LocalOperator, Run, Sight
from tools.demo.orders import KEYS_AT_FIRST, key_of, wrong_places

_ENGINE, _PLUGIN = (Path(sys.executable).with_name(name) for name in ("hudi-engine", "kubectl-hudi"))
_COMMITS_BEFORE, _COMMITS_AFTER, _ASKED = 2, 2, 200


@dataclass(frozen=True, slots=True)
class LookUp:
    """`is_java_asked`: Java's own reader answered the same question, and `right` are those it says the same of."""

    at: float
    keys: int
    right: int
    is_java_asked: bool


@dataclass(slots=True)
class Seen:
    """Times are those of the clock."""

    began: float = 0.0
    applied: float = 0.0
    misled: float = 0.0
    ended: float = 0.0
    commits: list[Commit] = field(default_factory=list)
    sights: list[Sight] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    printed: list[tuple[float, str]] = field(default_factory=list)
    builds: list[Run] = field(default_factory=list)
    validations: list[Run] = field(default_factory=list)
    look_ups: list[LookUp] = field(default_factory=list)
    wrong_commit: Commit | None = None
    rows_by_spark: int = 0
    keys_written: int = 0
    keys_lost: int = -1

    @property
    def deleted(self) -> float | None:
        """When the writer took the index out of the table's properties; often long before its commit is over."""
        return next((flag.at for flag in self.flags if flag.at > self.misled > 0 and not flag.is_complete), None)

    @property
    def noticed(self) -> float | None:
        """When the operator first said that a writer dropped it."""
        return next(
            (at for at, line in self.printed if at > self.misled > 0 and Reason.DROPPED_BY_WRITER in line), None
        )

    @property
    def ready_again(self) -> float | None:
        noticed = self.noticed
        return next((each.at for each in self.sights if noticed and each.at > noticed and each.is_ready), None)


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the demo takes place, and how it tells of itself."""

    table: Path
    manifests: Path
    state: Path
    say: Callable[[str], None]
    quote: Callable[[str], None]
    show: Callable[[str, str], None]


def play(stage: Stage, seen: Seen) -> None:
    """All of it; whatever fails on the way raises, and `seen` has what was seen until then."""
    stage.say("A real Hudi writer (Java, Spark) makes a table of 100,000 orders and goes on committing to it")
    with JavaWriter(stage.table, lambda number, commit: _tell_commit(stage, number, commit)) as writer:
        seen.commits = writer.commits
        writer.wait_for(1 + _COMMITS_BEFORE)
        seen.began = writer.commits[0].began
        stage.manifests.mkdir()
        stage.say("A table and an index are applied: hudi-operator local -f manifests/")
        stage.quote(manifests.apply_table(stage.manifests, stage.table))
        stage.quote(manifests.apply_index(stage.manifests))
        show = partial(stage.show, "operator")
        with LocalOperator(stage.table, stage.manifests, stage.state, show) as operator:
            seen.applied = time.time()
            seen.sights, seen.flags, seen.printed = operator.sights, operator.flags, operator.printed
            try:
                _beside(stage, seen, writer, operator)
            finally:
                seen.builds, seen.validations = operator.runs(Action.BUILD), operator.runs(Action.VALIDATE)
    seen.ended = time.time()


def _beside(stage: Stage, seen: Seen, writer: JavaWriter, operator: LocalOperator) -> None:
    """What the operator does beside the writer."""
    operator.wait_for("the index is Ready", _is_ready)
    writer.wait_for(len(writer.commits) + _COMMITS_AFTER)
    _ask_both(stage, seen, writer)
    _validate(stage, operator, "after-the-build")

    stage.say("A job without the index's setting commits: Hudi 1.2.0 then deletes the index")
    seen.misled = time.time()
    seen.wrong_commit = writer.commit_wrongly()
    operator.wait_for("the guard notices that the index is gone", lambda _: seen.noticed is not None)
    operator.wait_for("the index is Ready again", lambda _: seen.ready_again is not None)
    writer.wait_for(len(writer.commits) + _COMMITS_AFTER)
    _validate(stage, operator, "after-the-rebuild")
    _ask_for_all(stage, seen, writer)
    stage.say("kubectl hudi status")
    stage.quote(_printed(_PLUGIN, "status", "--state", str(stage.state)))


def _is_ready(operator: LocalOperator) -> bool:
    return bool(operator.sights) and operator.sights[-1].is_ready


def _ask_both(stage: Stage, seen: Seen, writer: JavaWriter) -> None:
    """The same keys of the engine and of Java's own reader of the record index."""
    known = writer.commits[-1].keys
    # Orders of the first load and of every batch since, and one that does not exist.
    numbers = [*range(0, KEYS_AT_FIRST, KEYS_AT_FIRST // _ASKED), *range(KEYS_AT_FIRST, known, 50)]
    keys = [key_of(number) for number in numbers]
    stage.say(f"hudi-engine lookup: {len(keys)} orders through the index, and the same by Java's own reader")
    ours = look_up(stage, keys)
    java = {key: tuple(place) for key, place in writer.find(keys).items()}
    right = sum(key in java and ours.get(key) == java[key] for key in keys)
    stage.show("lookup", f"{keys[-1]}: {' '.join(ours.get(keys[-1], ('not found',)))}")
    stage.show("lookup", f"{right} of {len(keys)} are where Java says that they are: partition, file group, instant")
    seen.look_ups.append(LookUp(time.time(), len(keys), right, is_java_asked=True))


def _ask_for_all(stage: Stage, seen: Seen, writer: JavaWriter) -> None:
    """Every key that was committed until now, through the index; and how many there are by Spark's reading."""
    seen.rows_by_spark, different = writer.count()
    known = seen.keys_written = writer.commits[-1].keys
    stage.say(f"hudi-engine lookup: each of the {known:,} orders that were ever written")
    ours = look_up(stage, [key_of(number) for number in range(known)])
    lost = wrong_places(((key, place[0]) for key, place in ours.items()), known)
    seen.keys_lost = len(lost) + (seen.rows_by_spark - different)
    seen.look_ups.append(LookUp(time.time(), known, known - len(lost), is_java_asked=False))
    stage.show("lookup", f"{known - len(lost):,} of {known:,} found where their writer put them")


def look_up(stage: Stage, keys: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Partition, file group and instant of each key that the engine finds."""
    asked = stage.state.parent / "keys.txt"
    asked.write_text("".join(f"{key}\n" for key in keys))
    printed = _printed(_ENGINE, "lookup", str(stage.table), "--keys-file", str(asked), "--json")
    answers = [json.loads(line) for line in printed.splitlines()]
    places = ("partition", "file_id", "instant")
    return {each["key"]: tuple(each[name] for name in places) for each in answers if each.get("found")}


def _printed(*command: str | Path) -> str:
    """What it prints, whatever it ends with: what is missing in there is missed."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=120).stdout


def _validate(stage: Stage, operator: LocalOperator, token: str) -> None:
    """One run of the TableService: by its token, which is how a person asks for one."""
    stage.say(f"A Validate run: the whole index against the data, beside the writer (runToken: {token})")
    before = len(operator.runs(Action.VALIDATE))
    manifests.apply_validate(stage.manifests, token)
    operator.wait_for("a Validate run", lambda watched: len(watched.runs(Action.VALIDATE)) > before)
    operator.wait_for("the Validate run in the service's status", lambda watched: _is_handled(watched, token))
    run = operator.runs(Action.VALIDATE)[-1]
    stage.show("validate", f"{run.report.outcome} after {run.ended - run.began:.1f} s")


def _is_handled(operator: LocalOperator, token: str) -> bool:
    service = operator.document(Kind.SERVICE)
    if service is None or service.status.text("lastHandledRunToken") != token:
        return False
    last = service.claim(Condition.LAST_RUN_SUCCEEDED)
    return last is not None and not service.status.trees("activeRuns") and last.reason != Reason.NEVER_RAN


def _tell_commit(stage: Stage, number: int, commit: Commit) -> None:
    how = f"{commit.rows:,} rows in {commit.ended - commit.began:.1f} s, {commit.keys:,} orders"
    stage.show("java", f"commit {number}: {how}" + ("" if commit.is_right else ", WITHOUT the index's setting"))


def is_valid(run: Run) -> bool:
    return run.exit_code == 0 and run.report.outcome is Outcome.VALID
