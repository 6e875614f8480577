"""What is asked of the engine."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from hudi_engine.contract.fields import (
    MAX_LOCATION,
    MAX_NAME,
    SCHEMA_VERSION,
    Fields,
    Malformed,
    a_text,
    a_whole,
    list_of,
    mapping_of,
    one_line,
    one_of,
    or_none,
    require_conf,
    require_count,
    require_hash,
    require_instant,
    require_length,
    require_locations,
    require_name,
    require_names,
)
from hudi_engine.contract.grant import Grant, a_grant, without_grant_of_none

# One argument of a process on Linux has at most 131,072 bytes, its final zero included.
MAX_REQUEST_BYTES = 131_071
DEFAULT_MEMORY_BYTES = 2 << 30
MAX_COLUMNS = 128

_COLUMN_STATS = "column_stats"
_SECONDARY_INDEX = re.compile(r"secondary_index_[A-Za-z0-9_]+")


class Action(StrEnum):
    """What a job does."""

    PLAN = "plan"  # says what a build would take, and writes nothing
    BUILD = "build"  # schedules and runs
    SCHEDULE = "schedule"
    RUN = "run"
    DROP = "drop"
    ABORT = "abort"
    VALIDATE = "validate"


class DuplicateKeys(StrEnum):
    """How a build treats a record key that has several rows."""

    REFUSE = "refuse"
    NEWEST = "newest"  # the row of each key that was written last is indexed


_OF_KINDS = (Action.PLAN, Action.BUILD, Action.SCHEDULE, Action.DROP)


_BUILDING = (Action.PLAN, Action.BUILD, Action.RUN)


class ComputeKind(StrEnum):
    """What spreads the work."""

    LOCAL = "local"
    SPARK = "spark"


@dataclass(frozen=True, slots=True)
class JobRequest:
    """One job on one table. `conf` has properties by their own names: Hudi's, Hadoop's and the engine's.

    `conf_from` are folders as Kubernetes mounts a Secret: the name of each file is a property, its content the value.
    They are for what must not stand in a request; `conf` wins over them. `progress_path` is a file that always holds
    the newest `RunProgress`. `plan_hash` is that of the plan which a build is to carry out and no other. `sample` is
    of how many file groups a validation looks at. `columns` are, by the name of an index among `kinds`, those that it
    is to be of: one of a secondary index; of column stats any, or those that writers choose by themselves. `duplicates`
    is what a build does with record keys that have several rows. `grant` is what may be opened, as in an
    `ObserveRequest`.
    """

    table: str
    action: Action
    kinds: tuple[str, ...] = ()
    instant: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    compute: ComputeKind = ComputeKind.LOCAL
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    report_path: str | None = None
    conf_from: tuple[str, ...] = ()
    progress_path: str | None = None
    plan_hash: str | None = None
    sample: int | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    duplicates: DuplicateKeys = DuplicateKeys.REFUSE
    grant: Grant | None = None

    def __post_init__(self) -> None:
        require_name("table", self.table, MAX_LOCATION)
        require_names("kinds", self.kinds)
        require_instant("instant", self.instant)
        for name in ("report_path", "progress_path"):
            path = getattr(self, name)
            if path is not None:
                require_name(name, path, MAX_LOCATION)
        require_conf(self.conf)
        require_locations("conf_from", self.conf_from)
        require_count("memory_bytes", self.memory_bytes, least=1)
        _require_of_one_action("plan_hash", self.plan_hash, self.action, Action.BUILD)
        require_hash("plan_hash", self.plan_hash)
        _require_of_one_action("sample", self.sample, self.action, Action.VALIDATE)
        if self.sample is not None:
            require_count("sample", self.sample, least=1)
        if self.duplicates is not DuplicateKeys.REFUSE and self.action not in _BUILDING:
            raise Malformed(f"duplicates: given with {self.action}, expected with {', '.join(_BUILDING)} only")
        for name, columns in self.columns.items():
            _require_columns(name, columns, self.kinds)
        if self.action in _OF_KINDS and not self.kinds:
            raise Malformed(f"kinds: empty, expected the kinds of index to {self.action}")
        if self.action is Action.RUN and self.instant is None:
            raise Malformed("instant: missing, expected that of the plan to run, as schedule reports it")
        if self.action is Action.ABORT and self.instant is None and not self.kinds:
            raise Malformed("instant: missing, and kinds: empty, expected one of them to know what to abort")

    def to_json(self) -> str:
        """One line that fits into one argument of a process."""
        text = one_line({"version": SCHEMA_VERSION, **without_grant_of_none(asdict(self))})
        require_length("the request", len(text.encode()), MAX_REQUEST_BYTES)
        return text

    @staticmethod
    def from_json(text: str | bytes) -> "JobRequest":
        """The request that the text describes, or `Malformed`."""
        given = Fields.parsed(text, "the request", MAX_REQUEST_BYTES)
        request = JobRequest(
            table=given.take("table", a_text),
            action=given.take("action", one_of(Action)),
            kinds=tuple(given.take_or("kinds", list_of(a_text), [])),
            instant=given.take_or("instant", or_none(a_text), None),
            conf=given.take_or("conf", mapping_of(a_text), {}),
            compute=given.take_or("compute", one_of(ComputeKind), ComputeKind.LOCAL),
            memory_bytes=given.take_or("memory_bytes", a_whole, DEFAULT_MEMORY_BYTES),
            report_path=given.take_or("report_path", or_none(a_text), None),
            conf_from=tuple(given.take_or("conf_from", list_of(a_text), [])),
            progress_path=given.take_or("progress_path", or_none(a_text), None),
            plan_hash=given.take_or("plan_hash", or_none(a_text), None),
            sample=given.take_or("sample", or_none(a_whole), None),
            columns=given.take_or("columns", _columns_by_name, {}),
            duplicates=given.take_or("duplicates", one_of(DuplicateKeys), DuplicateKeys.REFUSE),
            grant=given.take_or("grant", or_none(a_grant), None),
        )
        given.require_no_more()
        return request


def _require_of_one_action(field_name: str, value: object, action: Action, only: Action) -> None:
    if value is not None and action is not only:
        raise Malformed(f"{field_name}: given with {action}, expected with {only} only")


def _columns_by_name(value: object, path: str) -> dict[str, tuple[str, ...]]:
    return {name: tuple(columns) for name, columns in mapping_of(list_of(a_text))(value, path).items()}


def _require_columns(name: str, columns: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    where = f"columns[{name[:MAX_NAME]!r}]"
    if name not in kinds:
        raise Malformed(f"{where}: not among kinds, expected one of {', '.join(kinds) or 'none'}")
    is_secondary = _SECONDARY_INDEX.fullmatch(name) is not None
    if not is_secondary and name != _COLUMN_STATS:
        raise Malformed(
            f"{where}: expected {_COLUMN_STATS} or secondary_index_NAME, NAME of letters, digits and '_': "
            "no other index has columns of its own"
        )
    if is_secondary and len(columns) != 1:
        raise Malformed(f"{where}: {len(columns)} columns, expected exactly one")
    require_length(where, len(columns), MAX_COLUMNS, "columns")
    require_names(where, columns)
