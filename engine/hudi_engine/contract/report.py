"""What the engine answers."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

from hudi_engine.contract.fields import (
    MAX_NAME,
    SCHEMA_VERSION,
    Fields,
    Malformed,
    a_claim,
    a_number,
    a_sentence,
    a_text,
    a_whole,
    list_of,
    mapping_of,
    one_line,
    one_of,
    or_none,
    require_count,
    require_hash,
    require_instant,
    require_name,
    require_text,
)

# What Kubernetes keeps of a pod's termination message.
MAX_REPORT_BYTES = 4_096

# What cannot be left out of a report must fit into it.
MAX_PHASES, MAX_PHASE, _MAX_ENGINE = 12, 48, 64
# Of a long reason so many characters stay; only then kinds of index are left out, too.
_KEPT_OF_REASON = 400
_FIGURES = ("rows", "read_bytes", "write_bytes", "memory_bytes")
_LOCK_FIELDS = ("count", "p99_ms", "max_ms", "waits_total_ms", "waits_max_ms")


class Outcome(StrEnum):
    """What became of a job, or of one index of it."""

    READY = "ready"
    PLANNED = "planned"
    PLAN_CHANGED = "plan_changed"  # the plan asked for is not what would be done now; nothing was written
    SCHEDULED = "scheduled"
    UNCHANGED = "unchanged"  # is as asked for already; nothing was written
    SKIPPED = "skipped"  # of a validation: was not looked at
    DROPPED = "dropped"
    VALID = "valid"
    INVALID = "invalid"
    BUSY = "busy"  # another runner works on it
    TIMED_OUT = "timed_out"  # others did not finish in time; what was not ready is undone
    UNDONE = "undone"  # nothing is left of it
    INTERRUPTED = "interrupted"  # told to stop; the same request goes on or begins anew
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class KindReport:
    """What became of one index: the instant its base files are of, that up to which it holds all, and its size.

    `duplicates` counts record keys that have several rows: in the base of a build, or in all that a validation met.
    In the report of a plan keys and shards are reckoned.
    """

    kind: str
    state: Outcome
    base: str | None = None
    caught_up_to: str | None = None
    keys: int = 0
    shards: int = 0
    size_bytes: int = 0
    duplicates: int = 0

    def __post_init__(self) -> None:
        require_name("kind", self.kind, MAX_NAME)
        require_instant("base", self.base)
        require_instant("caught_up_to", self.caught_up_to)
        for name in ("keys", "shards", "size_bytes", "duplicates"):
            require_count(name, getattr(self, name))

    @staticmethod
    def of_tree(tree: object, what: str) -> "KindReport":
        given = Fields.of(tree, what)
        report = KindReport(
            kind=given.take("kind", a_text),
            state=given.take("state", one_of(Outcome)),
            base=given.take_or("base", or_none(a_text), None),
            caught_up_to=given.take_or("caught_up_to", or_none(a_text), None),
            keys=given.take_or("keys", a_whole, 0),
            shards=given.take_or("shards", a_whole, 0),
            size_bytes=given.take_or("size_bytes", a_whole, 0),
            duplicates=given.take_or("duplicates", a_whole, 0),
        )
        given.require_no_more()
        return report


@dataclass(frozen=True, slots=True)
class LockHolds:
    """How often the job held the table's lock, how long, and how long it waited for it."""

    count: int = 0
    p99_ms: int = 0
    max_ms: int = 0
    waits_total_ms: int = 0
    waits_max_ms: int = 0

    def __post_init__(self) -> None:
        for name in _LOCK_FIELDS:
            require_count(name, getattr(self, name))

    @staticmethod
    def of_tree(tree: object, what: str) -> "LockHolds":
        given = Fields.of(tree, what)
        holds = LockHolds(*(given.take_or(name, a_whole, 0) for name in _LOCK_FIELDS))
        given.require_no_more()
        return holds


@dataclass(frozen=True, slots=True)
class JobReport:
    """What became of a job. `retry`: the same request may succeed later with nothing else changed.

    `rows` is how many it has read of the data. Of a plan: `plan_hash` names what would be done, and the figures beside
    it are what that would take.
    """

    outcome: Outcome
    exit_code: int = 0
    retry: bool = False
    reason: str = ""
    instant: str | None = None
    kinds: tuple[KindReport, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    lock_holds: LockHolds = LockHolds()
    engine: str = ""
    rows: int = 0
    plan_hash: str | None = None
    read_bytes: int = 0
    write_bytes: int = 0
    memory_bytes: int = 0
    seconds_expected: float = 0.0

    def __post_init__(self) -> None:
        require_count("exit_code", self.exit_code, most=255)
        require_text("reason", self.reason)
        require_instant("instant", self.instant)
        _require_seconds(self.seconds)
        if self.engine:
            require_name("engine", self.engine, _MAX_ENGINE)
        require_hash("plan_hash", self.plan_hash)
        for name in (*_FIGURES, "seconds_expected"):
            require_count(name, getattr(self, name))

    def to_json(self) -> str:
        """One line that fits into a termination message: a long reason is cut, kinds are left out, and it says so."""
        for kept_kinds in range(len(self.kinds), 0, -1):
            line = self._shortened(kept_kinds)
            if line is not None:
                return line
        return self._shortened(0, least=0) or ""

    @staticmethod
    def from_json(text: str | bytes) -> "JobReport":
        """The report that the text describes, or `Malformed`."""
        given = Fields.parsed(text, "the report", MAX_REPORT_BYTES)
        report = JobReport(
            outcome=given.take("outcome", one_of(Outcome)),
            exit_code=given.take("exit_code", a_whole),
            retry=given.take("retry", a_claim),
            reason=given.take_or("reason", a_sentence, ""),
            instant=given.take_or("instant", or_none(a_text), None),
            kinds=tuple(given.take_or("kinds", list_of(KindReport.of_tree), [])),
            seconds=given.take_or("seconds", mapping_of(a_number), {}),
            lock_holds=given.take_or("lock_holds", LockHolds.of_tree, LockHolds()),
            engine=given.take_or("engine", a_text, ""),
            plan_hash=given.take_or("plan_hash", or_none(a_text), None),
            seconds_expected=given.take_or("seconds_expected", a_number, 0.0),
            **{name: given.take_or(name, a_whole, 0) for name in _FIGURES},
        )
        given.require_no_more()
        return report

    def _shortened(self, kept_kinds: int, least: int = _KEPT_OF_REASON) -> str | None:
        """The line with so many kinds and as much of the reason as there is room for; None if that is too little."""
        length = len(self.reason)
        if len(self._line(kept_kinds, length).encode()) > MAX_REPORT_BYTES:
            lengths = range(length)
            length = (
                bisect_right(lengths, MAX_REPORT_BYTES, key=lambda cut: len(self._line(kept_kinds, cut).encode())) - 1
            )
        return self._line(kept_kinds, length) if length >= min(least, len(self.reason)) else None

    def _line(self, kept_kinds: int, kept_of_reason: int) -> str:
        reason = self.reason[:kept_of_reason].encode(errors="backslashreplace").decode()
        if kept_of_reason < len(self.reason):
            reason += f"… [cut: {len(self.reason) - kept_of_reason} more characters]"
        if kept_kinds < len(self.kinds):
            reason += f" [left out: {len(self.kinds) - kept_kinds} more kinds]"
        shown = replace(self, kinds=self.kinds[:kept_kinds], reason="")
        return one_line({"version": SCHEMA_VERSION, **asdict(shown), "reason": reason})


def _require_seconds(phases: Mapping[str, float]) -> None:
    if len(phases) > MAX_PHASES:
        raise Malformed(f"seconds: {len(phases)} phases, expected at most {MAX_PHASES}")
    for phase, seconds in phases.items():
        require_name("a phase of seconds", phase, MAX_PHASE)
        require_count(f"seconds[{phase!r}]", seconds)
