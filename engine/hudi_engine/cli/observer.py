"""Looks at tables again and again: what stays open, what is remembered, and what an error is called."""

import hashlib
import os
import sys
import traceback
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hudi_engine.cli.failures import DEBUG
from hudi_engine.cli.fingerprint import Glance, Leases, glance, leases_of
from hudi_engine.cli.mounted import Signature, read_mounted, signature_of
from hudi_engine.cli.observed import Moment, look_at, shortened
from hudi_engine.cli.veil import NOTHING_HIDDEN, Veil, veil_over
from hudi_engine.clock import Clock
from hudi_engine.contract import (
    Malformed,
    ObserveAnswer,
    ObserveRequest,
    TableSeen,
    TableUnseen,
    UnseenReason,
)
from hudi_engine.errors import (
    AccessDenied,
    Contradiction,
    CorruptFile,
    EngineError,
    NotAllowed,
    NotATable,
    NotFound,
    StorageUnavailable,
    TimedOut,
    UnsafePath,
    Unsupported,
)
from hudi_engine.storage.granted import granted
from hudi_engine.storage.open import is_sent_unsigned, open_storage, store_of
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.table import open_table

MOST_TABLES = 256
_LOOKS = 3
_REASONS: Mapping[type[EngineError], UnseenReason] = {
    NotFound: UnseenReason.NOT_FOUND,
    NotATable: UnseenReason.NOT_A_TABLE,
    AccessDenied: UnseenReason.ACCESS_DENIED,
    NotAllowed: UnseenReason.NOT_ALLOWED,
    StorageUnavailable: UnseenReason.STORAGE_UNAVAILABLE,
    CorruptFile: UnseenReason.CORRUPT,
    Unsupported: UnseenReason.UNSUPPORTED,
    UnsafePath: UnseenReason.UNSUPPORTED,
    Contradiction: UnseenReason.CONTRADICTION,
    TimedOut: UnseenReason.TIMED_OUT,
}


@dataclass(frozen=True, slots=True)
class _Subject:
    """A location and all properties of a look at it: one location is another table in another store."""

    location: str
    conf: Mapping[str, str]

    @property
    def properties(self) -> str:
        text = repr(sorted(self.conf.items()))
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()

    @property
    def key(self) -> tuple[str, str]:
        return self.location, self.properties


def _why_refused(refused: EngineError, subject: _Subject) -> str:
    """What a refusal leaves out: the store cannot know that nobody signed the request on purpose."""
    if not isinstance(refused, AccessDenied) or not is_sent_unsigned(subject.location, subject.conf):
        return ""
    return (
        ". Requests were not signed: the table's Secret has no keys, and the operator's policy does not lend the "
        "operator's identity to this place (identity: Operator)"
    )


@dataclass(slots=True)
class _Open:
    """What is remembered of a subject. `timeline_folder` is that of the table's version."""

    storage: Storage
    leases: Leases
    store: str
    timeline_folder: str


@dataclass(frozen=True, slots=True)
class _Mounted:
    signature: Signature
    properties: Mapping[str, str]
    veil: Veil


@dataclass(slots=True)
class Observer:
    """Answers one request after the other. Of tables that were not asked for in a long time nothing is kept."""

    clock: Clock
    tables: OrderedDict[tuple[str, str], _Open] = field(default_factory=OrderedDict)
    mounted: OrderedDict[tuple[str, ...], _Mounted] = field(default_factory=OrderedDict)

    def answer(self, request: ObserveRequest) -> ObserveAnswer:
        """What is seen of the table, or why it is not; no error is raised, and no secret is told."""
        veil, subject = NOTHING_HIDDEN, _Subject(request.table, request.conf)
        try:
            mounted = self._mounted(request.conf_from)
            veil = mounted.veil
            conf: Mapping[str, str] = {**mounted.properties, **request.conf}
            if request.grant is not None:
                conf = granted(request.table, conf, request.grant)
            subject = _Subject(request.table, conf)
            return ObserveAnswer(request.id, self._look(subject, request.known))
        except EngineError as refused:
            self._forget(subject)
            reason = _REASONS.get(type(refused), UnseenReason.INTERNAL)
            told = veil.over(f"{refused}{_why_refused(refused, subject)}")
            return self._unseen(request, reason, told, is_worth_a_retry=refused.retry)
        except Malformed as odd:
            # A name or a number in the table that has no place in the contract.
            told = f"{request.table}: the table cannot be told of: {odd}"
            return self._unseen(request, UnseenReason.UNSUPPORTED, veil.over(told))
        except Exception as fault:  # noqa: BLE001 - one of many tables: the others are looked at all the same
            self._forget(subject)
            if os.environ.get(DEBUG):
                sys.stderr.write(veil.over(traceback.format_exc()))
            told = f"{request.table}: internal error: {type(fault).__name__}: {fault}"
            return self._unseen(request, UnseenReason.INTERNAL, veil.over(told))

    def _look(self, subject: _Subject, known: str | None) -> TableSeen | TableUnseen | None:
        for looks_left in reversed(range(_LOOKS)):
            opened, found = self._glance(subject)
            now_ms = self.clock.now_ms()
            fingerprint = found.fingerprint(subject.properties, opened.leases, now_ms)
            if fingerprint == known:
                return None
            table = open_table(opened.storage, self.clock, subject.conf)
            opened.timeline_folder = table.config.timeline_folder
            try:
                seen = look_at(table, Moment(now_ms, found.beats, opened.leases, fingerprint))
                return replace(seen, store=opened.store)
            except NotFound as vanished:
                # Files are named by what was read before: somebody archived or removed them meanwhile.
                if not looks_left:
                    raise StorageUnavailable(f"{vanished}; the table changes faster than it can be looked at") from None
        raise AssertionError("the last look answers or raises")

    def _glance(self, subject: _Subject) -> tuple[_Open, Glance]:
        """The table as it is listed; opened anew if nothing is there, which tells what became of it."""
        opened = self._opened(subject)
        found = glance(opened.storage, opened.timeline_folder)
        if not found.is_there:
            self._forget(subject)
            opened = self._opened(subject)
        return opened, found

    def _opened(self, subject: _Subject) -> _Open:
        opened = self.tables.get(subject.key)
        if opened is None:
            storage = open_storage(subject.location, subject.conf)
            folder = open_table(storage, self.clock, subject.conf).config.timeline_folder
            opened = self.tables[subject.key] = _Open(
                storage, leases_of(subject.conf), store_of(subject.location, subject.conf), folder
            )
        self.tables.move_to_end(subject.key)
        if len(self.tables) > MOST_TABLES:
            self.tables.popitem(last=False)
        return opened

    def _forget(self, subject: _Subject) -> None:
        self.tables.pop(subject.key, None)

    def _mounted(self, folders: tuple[str, ...]) -> _Mounted:
        """The properties in these folders; read anew if a file has changed."""
        signature = signature_of(folders)
        known = self.mounted.get(folders)
        if known is None or known.signature != signature:
            properties = read_mounted(folders)
            known = _Mounted(signature, properties, veil_over(properties))
            self.mounted[folders] = known
        self.mounted.move_to_end(folders)
        if len(self.mounted) > MOST_TABLES:
            self.mounted.popitem(last=False)
        return known

    def _unseen(
        self, request: ObserveRequest, reason: UnseenReason, told: str, *, is_worth_a_retry: bool = False
    ) -> ObserveAnswer:
        unseen = TableUnseen(reason, shortened(told), is_worth_a_retry, self.clock.now_ms())
        return ObserveAnswer(request.id, unseen)
