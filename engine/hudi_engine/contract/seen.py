"""A table as an observer sees it, or why it does not see it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from hudi_engine.contract.fields import (
    MAX_NAME,
    MAX_WHOLE,
    Fields,
    Malformed,
    a_claim,
    a_number,
    a_sentence,
    a_text,
    a_whole,
    list_of,
    mapping_of,
    one_of,
    or_none,
    require_count,
    require_instant,
    require_length,
    require_name,
)

MAX_PENDING, MAX_INDEXES, MAX_FIELDS, MAX_COUNTS = 20, 128, 64, 64
MAX_SENTENCE = 1_000
MAX_COLUMNS_SEEN = 2_000


class IndexState(StrEnum):
    """What there is of an index."""

    ABSENT = "absent"
    SCHEDULED = "scheduled"
    IN_FLIGHT = "in flight"
    COMPLETE = "complete"
    STALE = "stale"  # listed, and what it was made of is no longer so
    DELETED = "deleted by a writer"


class UnseenReason(StrEnum):
    """Why a table could not be looked at."""

    NOT_FOUND = "not_found"
    NOT_A_TABLE = "not_a_table"
    ACCESS_DENIED = "access_denied"
    NOT_ALLOWED = "not_allowed"  # by the policy of whoever asks
    UNSUPPORTED = "unsupported"
    STORAGE_UNAVAILABLE = "storage_unavailable"
    TIMED_OUT = "timed_out"
    CORRUPT = "corrupt"
    CONTRADICTION = "contradiction"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class IndexSeen:
    """One index. `reason` says what happened and what to do where the state does not.

    `base` is the last commit that it was made of, `caught_up_to` the last that it holds with all before, `head` the
    table's last. `attempt`, `owner` and the heartbeat are those of the runner of its plan, if any has begun. `columns`
    are those of an index that is complete, where they are recorded.
    """

    name: str
    state: IndexState
    reason: str = ""
    plan: str | None = None
    base: str | None = None
    caught_up_to: str | None = None
    head: str | None = None
    lag_instants: int = 0
    lag_seconds: float = 0.0
    phase: str = ""
    attempt: int | None = None
    owner: str | None = None
    heartbeat_age_seconds: float | None = None
    is_live: bool = False
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_name("name", self.name, MAX_NAME)
        _require_most("columns", len(self.columns), MAX_COLUMNS_SEEN)
        for column in self.columns:
            require_length("columns", len(column), MAX_SENTENCE, "characters")
        for name in ("plan", "base", "caught_up_to", "head"):
            require_instant(name, getattr(self, name))
        for name in ("reason", "phase", "owner"):
            require_length(name, len(getattr(self, name) or ""), MAX_SENTENCE, "characters")
        require_count("lag_instants", self.lag_instants)
        require_count("lag_seconds", self.lag_seconds)
        if self.attempt is not None:
            require_count("attempt", self.attempt)
        _require_age(self.heartbeat_age_seconds)

    @staticmethod
    def of_tree(tree: object, what: str) -> "IndexSeen":
        given = Fields.of(tree, what)
        seen = IndexSeen(
            name=given.take("name", a_text),
            state=given.take("state", one_of(IndexState)),
            reason=given.take_or("reason", a_sentence, ""),
            plan=given.take_or("plan", or_none(a_text), None),
            base=given.take_or("base", or_none(a_text), None),
            caught_up_to=given.take_or("caught_up_to", or_none(a_text), None),
            head=given.take_or("head", or_none(a_text), None),
            lag_instants=given.take_or("lag_instants", a_whole, 0),
            lag_seconds=given.take_or("lag_seconds", a_number, 0.0),
            phase=given.take_or("phase", a_sentence, ""),
            attempt=given.take_or("attempt", or_none(a_whole), None),
            owner=given.take_or("owner", or_none(a_sentence), None),
            heartbeat_age_seconds=given.take_or("heartbeat_age_seconds", or_none(a_number), None),
            is_live=given.take_or("is_live", a_claim, False),
            columns=tuple(given.take_or("columns", list_of(a_text), [])),
        )
        given.require_no_more()
        return seen


@dataclass(frozen=True, slots=True)
class PendingSeen:
    """What has begun and not ended. Without a heartbeat nothing tells whether somebody still works on it."""

    instant: str
    action: str
    state: str
    requested_ms: int
    heartbeat_age_seconds: float | None = None
    is_live: bool = False

    def __post_init__(self) -> None:
        require_instant("instant", self.instant)
        for name in ("action", "state"):
            require_name(name, getattr(self, name), MAX_NAME)
        require_count("requested_ms", self.requested_ms)
        _require_age(self.heartbeat_age_seconds)

    @staticmethod
    def of_tree(tree: object, what: str) -> "PendingSeen":
        given = Fields.of(tree, what)
        seen = PendingSeen(
            instant=given.take("instant", a_text),
            action=given.take("action", a_text),
            state=given.take("state", a_text),
            requested_ms=given.take("requested_ms", a_whole),
            heartbeat_age_seconds=given.take_or("heartbeat_age_seconds", or_none(a_number), None),
            is_live=given.take_or("is_live", a_claim, False),
        )
        given.require_no_more()
        return seen


@dataclass(frozen=True, slots=True)
class TimelineSeen:
    """The active timeline. Times are milliseconds since 1970.

    `latest_by_action` is when the newest completed instant of each action was completed; `counts` are instants by
    `action/state`; `pending` are the oldest of them only.
    """

    latest_completed: str | None
    latest_completed_ms: int | None
    latest_by_action: Mapping[str, int]
    active_instants: int
    counts: Mapping[str, int]
    pending: tuple[PendingSeen, ...] = ()
    oldest_heartbeat_ms: int | None = None

    def __post_init__(self) -> None:
        require_instant("latest_completed", self.latest_completed)
        require_count("active_instants", self.active_instants)
        for name in ("latest_completed_ms", "oldest_heartbeat_ms"):
            if getattr(self, name) is not None:
                require_count(name, getattr(self, name))
        for name in ("latest_by_action", "counts"):
            counts: Mapping[str, int] = getattr(self, name)
            _require_most(name, len(counts), MAX_COUNTS)
            for key, count in counts.items():
                require_name(f"a key of {name}", key, MAX_NAME)
                require_count(f"{name}[{key!r}]", count)
        _require_most("pending", len(self.pending), MAX_PENDING)

    @staticmethod
    def of_tree(tree: object, what: str) -> "TimelineSeen":
        given = Fields.of(tree, what)
        seen = TimelineSeen(
            latest_completed=given.take("latest_completed", or_none(a_text)),
            latest_completed_ms=given.take("latest_completed_ms", or_none(a_whole)),
            latest_by_action=given.take("latest_by_action", mapping_of(a_whole)),
            active_instants=given.take("active_instants", a_whole),
            counts=given.take("counts", mapping_of(a_whole)),
            pending=tuple(given.take_or("pending", list_of(PendingSeen.of_tree), [])),
            oldest_heartbeat_ms=given.take_or("oldest_heartbeat_ms", or_none(a_whole), None),
        )
        given.require_no_more()
        return seen


@dataclass(frozen=True, slots=True)
class TableSeen:
    """A table at one moment. Looks with the same `fingerprint` have seen the same but for what time alone changes.

    `store` stands for the address that was asked: a location is another table where that is another.
    """

    fingerprint: str
    observed_ms: int
    name: str
    type: str
    version: int
    layout: int
    record_key_fields: tuple[str, ...]
    partition_fields: tuple[str, ...]
    indexes: tuple[IndexSeen, ...]
    timeline: TimelineSeen
    store: str = ""

    def __post_init__(self) -> None:
        for name in ("fingerprint", "name", "type"):
            require_name(name, getattr(self, name), MAX_NAME)
        for name in ("observed_ms", "version", "layout"):
            require_count(name, getattr(self, name))
        for name in ("record_key_fields", "partition_fields"):
            fields: tuple[str, ...] = getattr(self, name)
            _require_most(name, len(fields), MAX_FIELDS)
            for each in fields:
                require_name(name, each, MAX_NAME)
        _require_most("indexes", len(self.indexes), MAX_INDEXES)
        require_length("store", len(self.store), MAX_NAME, "characters")

    @staticmethod
    def of_tree(tree: object, what: str) -> "TableSeen":
        given = Fields.of(tree, what)
        seen = TableSeen(
            fingerprint=given.take("fingerprint", a_text),
            observed_ms=given.take("observed_ms", a_whole),
            name=given.take("name", a_text),
            type=given.take("type", a_text),
            version=given.take("version", a_whole),
            layout=given.take("layout", a_whole),
            record_key_fields=tuple(given.take("record_key_fields", list_of(a_text))),
            partition_fields=tuple(given.take("partition_fields", list_of(a_text))),
            indexes=tuple(given.take("indexes", list_of(IndexSeen.of_tree))),
            timeline=given.take("timeline", TimelineSeen.of_tree),
            store=given.take_or("store", a_text, ""),
        )
        given.require_no_more()
        return seen


@dataclass(frozen=True, slots=True)
class TableUnseen:
    """Why a table could not be looked at. `retry`: the same may be seen later with nothing else changed."""

    reason: UnseenReason
    message: str
    retry: bool
    observed_ms: int

    def __post_init__(self) -> None:
        require_length("message", len(self.message), MAX_SENTENCE, "characters")
        require_count("observed_ms", self.observed_ms)

    @staticmethod
    def of_tree(tree: object, what: str) -> "TableUnseen":
        given = Fields.of(tree, what)
        unseen = TableUnseen(
            reason=given.take("reason", one_of(UnseenReason)),
            message=given.take("message", a_sentence),
            retry=given.take("retry", a_claim),
            observed_ms=given.take("observed_ms", a_whole),
        )
        given.require_no_more()
        return unseen


def _require_age(seconds: float | None) -> None:
    """A time that lies ahead, because some clock is wrong, is an age below zero."""
    if seconds is not None:
        require_count("heartbeat_age_seconds", seconds, least=-MAX_WHOLE)


def _require_most(field_name: str, count: int, most: int) -> None:
    if count > most:
        raise Malformed(f"{field_name}: {count} entries, expected at most {most}")
