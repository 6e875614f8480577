"""What a status says that anybody may have written: what is not as we write it is left out."""

from collections.abc import Mapping
from datetime import datetime

from hudi_operator.words import Condition, State

_PHASES = ("base", "catch-up")
_STATUSES = frozenset(("True", "False", "Unknown"))
_CONDITIONS, _STATES = frozenset(Condition), frozenset(State)


def phase(status: Mapping[str, object]) -> str | None:
    """Of a build under way, as far as a table shows it."""
    told = status.get("progress")
    word = told.get("phase") if isinstance(told, Mapping) else None
    return word if word in _PHASES else None


def state(status: Mapping[str, object]) -> State | None:
    word = status.get("state")
    return State(word) if isinstance(word, str) and word in _STATES else None


def conditions(status: Mapping[str, object]) -> dict[Condition, str]:
    """The status of each condition that there is."""
    listed = status.get("conditions")
    found = [entry for entry in listed if isinstance(entry, Mapping)] if isinstance(listed, list | tuple) else []
    pairs = ((str(entry.get("type")), str(entry.get("status"))) for entry in found)
    return {Condition(kind): holds for kind, holds in pairs if kind in _CONDITIONS and holds in _STATUSES}


def moment(status: Mapping[str, object], name: str) -> float | None:
    """The point in time of that name, in seconds since 1970."""
    text = status.get(name)
    if not isinstance(text, str):
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at.timestamp() if at.tzinfo is not None else None
