"""How far a job is, while it runs."""

from dataclasses import asdict, dataclass

from hudi_engine.contract.fields import (
    MAX_NAME,
    SCHEMA_VERSION,
    Fields,
    a_number,
    a_sentence,
    a_text,
    a_whole,
    one_line,
    or_none,
    require_count,
    require_length,
    require_name,
)

MAX_PROGRESS_BYTES = 16_384
MAX_SAID = 1_000


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The phase that a job is in, as `plan`, `base` or `catch-up`, and what of it is done.

    `total` and `percent` are None where nobody knows how much there is. `said` is the last sentence for people.
    """

    phase: str
    done: int
    total: int | None
    rows: int
    said: str
    updated_ms: int
    percent: float | None = None

    def __post_init__(self) -> None:
        require_name("phase", self.phase, MAX_NAME)
        for name in ("done", "rows", "updated_ms"):
            require_count(name, getattr(self, name))
        if self.total is not None:
            require_count("total", self.total)
        if self.percent is not None:
            require_count("percent", self.percent, most=100)
        require_length("said", len(self.said), MAX_SAID, "characters")

    def to_json(self) -> str:
        return one_line({"version": SCHEMA_VERSION, **asdict(self)})

    @staticmethod
    def from_json(text: str | bytes) -> "RunProgress":
        """The progress that the text describes, or `Malformed`."""
        given = Fields.parsed(text, "the progress", MAX_PROGRESS_BYTES)
        progress = RunProgress(
            phase=given.take("phase", a_text),
            done=given.take("done", a_whole),
            total=given.take("total", or_none(a_whole)),
            rows=given.take("rows", a_whole),
            said=given.take("said", a_sentence),
            updated_ms=given.take("updated_ms", a_whole),
            percent=given.take_or("percent", or_none(a_number), None),
        )
        given.require_no_more()
        return progress
