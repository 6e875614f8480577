"""Names of timeline files, both ways and for both layouts (`hudi-format` 2.1)."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import NewType

from hudi_engine.errors import Unsupported

InstantTime = NewType("InstantTime", str)


class Action(StrEnum):
    COMMIT = "commit"
    DELTA_COMMIT = "deltacommit"
    COMPACTION = "compaction"
    LOG_COMPACTION = "logcompaction"
    CLEAN = "clean"
    ROLLBACK = "rollback"
    RESTORE = "restore"
    SAVEPOINT = "savepoint"
    REPLACE_COMMIT = "replacecommit"
    CLUSTERING = "clustering"
    INDEXING = "indexing"


class State(StrEnum):
    REQUESTED = "requested"
    INFLIGHT = "inflight"
    COMPLETED = "completed"


# A pending service and its completed commit are one instant under two action names.
COMPLETED_ACTION = {
    Action.COMPACTION: Action.COMMIT,
    Action.LOG_COMPACTION: Action.DELTA_COMMIT,
    Action.CLUSTERING: Action.REPLACE_COMMIT,
}
_NAME = re.compile(r"([0-9]+)(?:_([0-9]+))?\.([A-Za-z]\w*)(?:\.([A-Za-z]+))?(\..+)?", re.ASCII)
# Java writes `<name>.<uuid>` and renames; a crash leaves such a file behind and it says nothing.
_LEFTOVER = re.compile(r"(?:\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\.tmp|\.crc)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Instant:
    """One action at one time, in the state that its file names.

    `completed_at` is None in layout 1, where only the file's modification time tells.
    """

    requested_at: InstantTime
    action: Action
    state: State
    completed_at: InstantTime | None = None

    @property
    def is_completed(self) -> bool:
        return self.state is State.COMPLETED

    @property
    def identity(self) -> tuple[str, Action]:
        """What the files of one instant have in common, whatever state and action name they carry."""
        return (self.requested_at, COMPLETED_ACTION.get(self.action, self.action))

    def in_state(self, state: State) -> "Instant":
        """This instant as an earlier file names it; only a completed file carries a completion time."""
        return replace(self, state=state, completed_at=None)


@lru_cache(maxsize=1 << 14)  # a timeline is listed again and again, and keeps most of its names
def parse_instant(name: str) -> Instant | None:
    """The instant that a timeline file's name says; None for names that are no instant's.

    A name that has an instant's shape and an action or state that is not known is refused, as is one that Hudi
    would have spelled otherwise (a completed `compaction`): it may change what the other files mean.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    requested_at, completed_at, first, second, rest = match.groups()
    if rest is not None or (second is not None and _LEFTOVER.fullmatch("." + second)):
        if rest is None or _LEFTOVER.fullmatch(rest):
            return None
        raise _unknown(name)
    if first == "inflight" and second is None and completed_at is None:
        return Instant(InstantTime(requested_at), Action.COMMIT, State.INFLIGHT)
    try:
        action, state = Action(first), State(second or "completed")
    except ValueError:
        raise _unknown(name) from None
    instant = Instant(
        InstantTime(requested_at), action, state, None if completed_at is None else InstantTime(completed_at)
    )
    if instant_file(instant) != name:
        raise _unknown(name)
    return instant


def instant_file(instant: Instant) -> str:
    """The file name of an instant in its state; a completed one with a completion time is layout 2's."""
    if instant.state is not State.COMPLETED:
        middle = "" if instant.action is Action.COMMIT and instant.state is State.INFLIGHT else f".{instant.action}"
        return f"{instant.requested_at}{middle}.{instant.state}"
    action = COMPLETED_ACTION.get(instant.action, instant.action)
    completed = "" if instant.completed_at is None else f"_{instant.completed_at}"
    return f"{instant.requested_at}{completed}.{action}"


def _unknown(name: str) -> Unsupported:
    return Unsupported(
        f"timeline file {name}: unknown action or state; known actions: {', '.join(Action)}. "
        "It may come from a newer Hudi: use a newer engine for this table."
    )
