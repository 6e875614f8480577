"""Attempts at a plan: whoever runs it writes down that it does, once and for all, before anything else.

A paused runner cannot know that it was declared dead. So each takes a number that is one higher than all before, under
the lock, by a file that is created and never changed; and asks again, under the lock, right before what takes effect,
whether its number is still the highest. Files that it writes carry an instant of its own, so that nothing of an
earlier attempt can be mistaken for a later one's.

Numbers and instants are given once, whatever becomes of the plan: its records go when it is over, what was given is
remembered. So a runner that wakes up long after owns what has its instant in its name, and nothing else.
"""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from hudi_engine.action.metadata_instants import SOLO
from hudi_engine.action.site import Transaction
from hudi_engine.concurrency.owner import Owner
from hudi_engine.errors import AlreadyExists, CorruptFile, Superseded
from hudi_engine.format.instant_names import Action, Instant, State
from hudi_engine.format.names import parse_log_file
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.config import ATTEMPTS

FOLDER = ATTEMPTS
_FILE = re.compile(r"([0-9]{4,})\.json", re.ASCII)
_RESERVED = ".reserved"
_GIVEN = re.compile(r"given-([0-9]{6,})\.json", re.ASCII)
_REMEMBERED = 400
"""Of each kind of instants so many, the last: fewer than there are for bases, so that there is always a free one."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a plan. `base_instant` is the metadata instant at which its base files are committed, if ever."""

    plan: str
    indexes: tuple[str, ...]
    number: int
    owner: Owner
    started_ms: int
    base_instant: str


@dataclass(frozen=True, slots=True)
class Given:
    """What attempts at any plan have got until now: the highest number, and the last metadata instants, in order."""

    number: int = 0
    instants: tuple[str, ...] = ()
    revision: int = 0


def attempts_of(storage: Storage, plan: str) -> tuple[Attempt, ...]:
    """All attempts at a plan, the oldest first."""
    files = [file.path for file in storage.list(f"{FOLDER}/{plan}") if _FILE.fullmatch(file.name)]
    return tuple(sorted((_parse(path, storage.read(path)) for path in files), key=lambda attempt: attempt.number))


def reserved_by(storage: Storage, plan: str) -> frozenset[str]:
    """The metadata instants at which runners of this plan commit, or began to: nobody else uses them."""
    files = storage.list(f"{FOLDER}/{plan}")
    written = (file.name.removesuffix(_RESERVED) for file in files if file.name.endswith(_RESERVED))
    return frozenset((*written, *(attempt.base_instant for attempt in attempts_of(storage, plan))))


def all_reserved(storage: Storage) -> tuple[str, ...]:
    """The metadata instants that runners of any plan got, also of those that are over: the last of each kind last."""
    pending = sorted(instant for plan in _plans(storage) for instant in reserved_by(storage, plan))
    return (*pending, *given(storage).instants)


def given(storage: Storage) -> Given:
    """What nobody gets again."""
    revisions = _revisions(storage)
    if not revisions:
        return Given()
    revision = max(revisions)
    path = revisions[revision]
    try:
        found: Any = json.loads(storage.read(path))
        return Given(int(found["number"]), tuple(map(str, found["instants"])), revision)
    except (ValueError, TypeError, KeyError) as wrong:
        raise CorruptFile(f"no record of what attempts got: {wrong}. Remove it if no engine runs", 0, path) from wrong


def reserve(storage: Storage, plan: str, instant: str) -> None:
    """Write down that this metadata instant is the plan's, before anything of it is. Under the lock.

    It is the proof by which what a crash leaves of it may be removed, and keeps it from being used a second time.
    """
    with suppress(AlreadyExists):
        storage.create(f"{FOLDER}/{plan}/{instant}{_RESERVED}", b"")


def begin_attempt(storage: Storage, attempt: Attempt) -> None:
    """Write the attempt down, first that its number and instant are given. Under the lock only."""
    _remember(storage, attempt.number, (attempt.base_instant,))
    text = json.dumps(asdict(attempt), indent=2)
    storage.create(f"{FOLDER}/{attempt.plan}/{attempt.number:04d}.json", text.encode())


def forget_over(transaction: Transaction) -> None:
    """Remove the records and the heartbeats of plans that are over, whatever came of them, but for what they got."""
    storage = transaction.site.storage
    pending = {instant.requested_at for instant in transaction.data_timeline.pending()}
    for plan in [plan for plan in _plans(storage) if plan not in pending]:
        transaction.require_held()
        remove_pending_commits(transaction, plan)
        _remember(storage, 0, sorted(reserved_by(storage, plan)))
        transaction.site.heartbeats.remove(plan)
        # Attempts last: by them an abort that is repeated after a crash knows that something is left of the plan.
        for file in sorted(storage.list(f"{FOLDER}/{plan}"), key=lambda file: _FILE.fullmatch(file.name) is not None):
            storage.delete(file.path)


def _remember(storage: Storage, number: int, instants: Sequence[str]) -> None:
    """A new file, then the older ones gone: a crash in between leaves both, of which the newer counts."""
    before = given(storage)
    new = [instant for instant in instants if instant not in before.instants]
    if not new and number <= before.number:
        return
    revision = before.revision + 1
    after = {"number": max(number, before.number), "instants": _last((*before.instants, *new))}
    storage.create(f"{FOLDER}/given-{revision:06d}.json", json.dumps(after).encode())
    for older in [path for each, path in _revisions(storage).items() if each < revision]:
        storage.delete(older)


def _revisions(storage: Storage) -> dict[int, str]:
    named = ((_GIVEN.fullmatch(file.name), file.path) for file in storage.list(FOLDER))
    return {int(match[1]): path for match, path in named if match}


def _last(instants: Sequence[str]) -> list[str]:
    solo = [instant for instant in instants if instant.startswith(SOLO)]
    others = [instant for instant in instants if not instant.startswith(SOLO)]
    return [*solo[-_REMEMBERED:], *others[-_REMEMBERED:]]


def remove_pending_commits(transaction: Transaction, plan: str) -> None:
    """Take what runners of this plan began to commit to the metadata table, and did not, off its timeline."""
    metadata, reserved = transaction.metadata, reserved_by(transaction.site.storage, plan)
    for instant in metadata.timeline.of(Action.DELTA_COMMIT):
        if not instant.is_completed and instant.requested_at in reserved:
            _delete_logs(transaction, plan, instant)
            for state in (State.INFLIGHT, State.REQUESTED):
                transaction.require_held()
                metadata.table.storage.delete(metadata.table.path_of(instant.in_state(state)))


def _delete_logs(transaction: Transaction, plan: str, instant: Instant) -> None:
    """Its logs in indexes that are complete, which stay. What is in flight is deleted with all that is in it."""
    attempts, complete = attempts_of(transaction.site.storage, plan), transaction.table.config.readable_indexes
    storage = transaction.metadata.table.storage
    for name in {name for attempt in attempts for name in attempt.indexes if name in complete}:
        for file in storage.list(name):
            log = parse_log_file(file.name)
            if log is not None and log.instant == instant.requested_at:
                transaction.require_held()
                storage.delete(file.path)


def require_newest(transaction: Transaction, attempt: Attempt) -> None:
    """Refuse to go on once the plan is over, or another has taken it over."""
    newest = max(attempts_of(transaction.site.storage, attempt.plan), key=lambda each: each.number, default=None)
    if newest is None or all(attempt.plan != each.requested_at for each in transaction.data_timeline.pending()):
        raise Superseded(
            f"the plan {attempt.plan} is over: somebody finished, aborted or dropped it while attempt "
            f"{attempt.number} ran. Nothing of this attempt is in effect; `index status` shows what is."
        )
    if newest != attempt:
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
