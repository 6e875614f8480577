"""Attempts at a plan: whoever runs it writes down that it does, once and for all, before anything else.

A paused runner cannot know that it was declared dead. So each takes a number that is one higher than all before, under
the lock, by a file that is created and never changed; and asks again, under the lock, right before what takes effect,
whether its number is still the highest. Files that it writes carry an instant of its own, so that nothing of an
earlier attempt can be mistaken for a later one's.
"""

import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from hudi_engine.action.site import Transaction
from hudi_engine.concurrency.owner import Owner
from hudi_engine.errors import AlreadyExists, CorruptFile, Superseded
from hudi_engine.format.instant_names import Action, State
from hudi_engine.storage.protocol import Storage

FOLDER = ".hoodie/.index_attempts"
_FILE = re.compile(r"([0-9]{4,})\.json", re.ASCII)
_RESERVED = ".reserved"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a plan. `base_instant` is the metadata instant at which its base files are committed, if ever."""

    plan: str
    indexes: tuple[str, ...]
    number: int
    owner: Owner
    started_ms: int
    base_instant: str


def attempts_of(storage: Storage, plan: str) -> tuple[Attempt, ...]:
    """All attempts at a plan, the oldest first."""
    files = [file.path for file in storage.list(f"{FOLDER}/{plan}") if _FILE.fullmatch(file.name)]
    return tuple(sorted((_parse(path, storage.read(path)) for path in files), key=lambda attempt: attempt.number))


def reserved_by(storage: Storage, plan: str) -> frozenset[str]:
    """The metadata instants at which runners of this plan commit, or began to: nobody else uses them."""
    files = storage.list(f"{FOLDER}/{plan}")
    written = (file.name.removesuffix(_RESERVED) for file in files if file.name.endswith(_RESERVED))
    return frozenset((*written, *(attempt.base_instant for attempt in attempts_of(storage, plan))))


def all_reserved(storage: Storage) -> frozenset[str]:
    """The metadata instants that runners of any plan have reserved."""
    return frozenset(instant for plan in _plans(storage) for instant in reserved_by(storage, plan))


def reserve(storage: Storage, plan: str, instant: str) -> None:
    """Write down that this metadata instant is the plan's, before anything of it is. Under the lock.

    It is the proof by which what a crash leaves of it may be removed, and keeps it from being used a second time.
    """
    with suppress(AlreadyExists):
        storage.create(f"{FOLDER}/{plan}/{instant}{_RESERVED}", b"")


def begin_attempt(storage: Storage, attempt: Attempt) -> None:
    """Write the attempt down. Under the lock only."""
    text = json.dumps(asdict(attempt), indent=2)
    storage.create(f"{FOLDER}/{attempt.plan}/{attempt.number:04d}.json", text.encode())


def forget_over(transaction: Transaction) -> None:
    """Remove the records and the heartbeats of plans that are over, whatever came of them."""
    storage = transaction.site.storage
    pending = {instant.requested_at for instant in transaction.data_timeline.pending()}
    for plan in [plan for plan in _plans(storage) if plan not in pending]:
        remove_pending_commits(transaction, plan)
        transaction.site.heartbeats.remove(plan)
        for file in storage.list(f"{FOLDER}/{plan}"):
            storage.delete(file.path)


def remove_pending_commits(transaction: Transaction, plan: str) -> None:
    """Take what runners of this plan began to commit to the metadata table, and did not, off its timeline."""
    metadata, reserved = transaction.metadata, reserved_by(transaction.site.storage, plan)
    for instant in metadata.timeline.of(Action.DELTA_COMMIT):
        if not instant.is_completed and instant.requested_at in reserved:
            for state in (State.INFLIGHT, State.REQUESTED):
                transaction.require_held()
                metadata.table.storage.delete(metadata.table.path_of(instant.in_state(state)))


def require_newest(transaction: Transaction, attempt: Attempt) -> None:
    """Refuse to go on once the plan is over, or another has taken it over."""
    newest = max(attempts_of(transaction.site.storage, attempt.plan), key=lambda each: each.number, default=None)
    if newest is None or all(attempt.plan != each.requested_at for each in transaction.data_timeline.pending()):
        raise Superseded(
            f"the plan {attempt.plan} is over: somebody finished, aborted or dropped it while attempt "
            f"{attempt.number} ran. Nothing of this attempt is in effect; `index status` shows what is."
        )
    if newest.number != attempt.number:
        raise Superseded(
            f"attempt {attempt.number} at the plan {attempt.plan} was taken over by attempt {newest.number} of "
            f"{newest.owner}: its heartbeat had stopped. Nothing of it is in effect; leave the plan to the other."
        )


def _plans(storage: Storage) -> list[str]:
    return [folder.name for folder in storage.list(FOLDER) if folder.is_folder and folder.name.isdecimal()]


def _parse(path: str, data: bytes) -> Attempt:
    try:
        found: Any = json.loads(data)
        owner = Owner(**found.pop("owner"))
        attempt = Attempt(indexes=tuple(found.pop("indexes")), owner=owner, **found)
    except (ValueError, TypeError, KeyError, AttributeError) as wrong:
        raise CorruptFile(f"no record of an attempt: {wrong}. Remove it if no engine runs", 0, path) from wrong
    if not isinstance(attempt.number, int) or not isinstance(attempt.base_instant, str):
        raise CorruptFile("no record of an attempt: its number or instant is none", 0, path)
    return attempt
