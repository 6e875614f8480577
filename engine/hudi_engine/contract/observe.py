"""What an observer is asked and what it answers: a line each."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from hudi_engine.contract.fields import (
    MAX_LOCATION,
    MAX_NAME,
    SCHEMA_VERSION,
    Fields,
    Malformed,
    a_claim,
    a_text,
    a_whole,
    list_of,
    mapping_of,
    one_line,
    or_none,
    require_conf,
    require_count,
    require_length,
    require_locations,
    require_name,
)
from hudi_engine.contract.grant import Grant, a_grant, without_grant_of_none
from hudi_engine.contract.seen import TableSeen, TableUnseen

MAX_QUESTION_BYTES = 1 << 20
MAX_ANSWER_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class ObserveRequest:
    """A look at one table. `conf` and `conf_from` are as in a `JobRequest`.

    `grant` is what may be opened; without one there is no limit, and the environment stands in for what `conf` lacks.
    `known` is the fingerprint of what the asker has seen; if the table is still that, the answer says no more than so.
    """

    id: int
    table: str
    conf: Mapping[str, str] = field(default_factory=dict)
    conf_from: tuple[str, ...] = ()
    known: str | None = None
    grant: Grant | None = None

    def __post_init__(self) -> None:
        require_count("id", self.id)
        require_name("table", self.table, MAX_LOCATION)
        require_conf(self.conf)
        require_locations("conf_from", self.conf_from)
        if self.known is not None:
            require_name("known", self.known, MAX_NAME)

    def to_json(self) -> str:
        """One line without its end."""
        text = one_line({"version": SCHEMA_VERSION, **without_grant_of_none(asdict(self))})
        require_length("the question", len(text.encode()), MAX_QUESTION_BYTES)
        return text

    @staticmethod
    def from_json(text: str | bytes) -> "ObserveRequest":
        """The request that the text describes, or `Malformed`."""
        given = Fields.parsed(text, "the question", MAX_QUESTION_BYTES)
        request = ObserveRequest(
            id=given.take("id", a_whole),
            table=given.take("table", a_text),
            conf=given.take_or("conf", mapping_of(a_text), {}),
            conf_from=tuple(given.take_or("conf_from", list_of(a_text), [])),
            known=given.take_or("known", or_none(a_text), None),
            grant=given.take_or("grant", or_none(a_grant), None),
        )
        given.require_no_more()
        return request


@dataclass(frozen=True, slots=True)
class ObserveAnswer:
    """What was found; None if the table is as the asker knows it. `id` is the question's, None if that had none."""

    id: int | None
    found: TableSeen | TableUnseen | None

    def __post_init__(self) -> None:
        if self.id is not None:
            require_count("id", self.id)

    def to_json(self) -> str:
        """One line without its end."""
        match self.found:
            case TableSeen():
                told: dict[str, object] = {"seen": asdict(self.found)}
            case TableUnseen():
                told = {"unseen": asdict(self.found)}
            case None:
                told = {"unchanged": True}
        return one_line({"version": SCHEMA_VERSION, "id": self.id, **told})

    @staticmethod
    def from_json(text: str | bytes) -> "ObserveAnswer":
        """The answer that the text describes, or `Malformed`."""
        given = Fields.parsed(text, "the answer", MAX_ANSWER_BYTES)
        id_ = given.take("id", or_none(a_whole))
        seen = given.take_or("seen", _seen, None)
        unseen = given.take_or("unseen", _unseen, None)
        is_unchanged = given.take_or("unchanged", a_claim, False)
        given.require_no_more()
        if sum((seen is not None, unseen is not None, is_unchanged)) != 1:
            raise Malformed("the answer: expected one of seen, unseen and unchanged, and that it says something")
        return ObserveAnswer(id_, seen or unseen)


def _seen(tree: object, what: str) -> TableSeen | None:
    return TableSeen.of_tree(tree, what)


def _unseen(tree: object, what: str) -> TableUnseen | None:
    return TableUnseen.of_tree(tree, what)
