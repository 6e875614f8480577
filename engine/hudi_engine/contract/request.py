"""What is asked of the engine."""

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
    require_count,
    require_instant,
    require_length,
    require_name,
    require_names,
    require_text,
)

# One argument of a process on Linux has at most 131,072 bytes, its final zero included.
MAX_REQUEST_BYTES = 131_071
DEFAULT_MEMORY_BYTES = 2 << 30


class Action(StrEnum):
    """What a job does."""

    BUILD = "build"  # schedules and runs
    SCHEDULE = "schedule"
    RUN = "run"
    DROP = "drop"
    ABORT = "abort"
    VALIDATE = "validate"


class ComputeKind(StrEnum):
    """What spreads the work."""

    LOCAL = "local"
    SPARK = "spark"


@dataclass(frozen=True, slots=True)
class JobRequest:
    """One job on one table. `conf` has properties by their own names: Hudi's, Hadoop's and the engine's."""

    table: str
    action: Action
    kinds: tuple[str, ...] = ()
    instant: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    compute: ComputeKind = ComputeKind.LOCAL
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    report_path: str | None = None

    def __post_init__(self) -> None:
        require_name("table", self.table, MAX_LOCATION)
        require_names("kinds", self.kinds)
        require_instant("instant", self.instant)
        if self.report_path is not None:
            require_name("report_path", self.report_path, MAX_LOCATION)
        _require_conf(self.conf)
        require_count("memory_bytes", self.memory_bytes, least=1)
        if self.action in (Action.BUILD, Action.SCHEDULE, Action.DROP) and not self.kinds:
            raise Malformed(f"kinds: empty, expected the kinds of index to {self.action}")
        if self.action is Action.RUN and self.instant is None:
            raise Malformed("instant: missing, expected that of the plan to run, as schedule reports it")
        if self.action is Action.ABORT and self.instant is None and not self.kinds:
            raise Malformed("instant: missing, and kinds: empty, expected one of them to know what to abort")

    def to_json(self) -> str:
        """One line that fits into one argument of a process."""
        text = one_line({"version": SCHEMA_VERSION, **asdict(self)})
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
        )
        given.require_no_more()
        return request


def _require_conf(conf: Mapping[str, str]) -> None:
    for key, value in conf.items():
        require_name("a key of conf", key, MAX_NAME)
        require_text(f"conf[{key!r}]", value)
