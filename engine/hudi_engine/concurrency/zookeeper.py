"""The lock of Hudi's ZookeeperBasedLockProvider: Curator's recipe, so that Java and we exclude each other (7.2).

Whoever wants the lock makes an ephemeral node `_c_<unique>-lock-<number>` below the lock's node, the server numbering
them; the lowest number has the lock and each other one watches the node before its own. Curator goes by what follows
the last `lock-` in a name, and by the whole name where that is missing: kazoo's own lock, which names its nodes
otherwise, and Curator's do not exclude each other.

To hold the lock is evidence, not proof: while the connection is broken the server may end the session and give the
lock to the next. `require_held` therefore asks the leader, each time.
"""

import re
import secrets
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from hudi_engine.clock import Clock
from hudi_engine.concurrency.owner import Owner
from hudi_engine.concurrency.zookeeper_session import Silence, ZooKeeperSession
from hudi_engine.concurrency.zookeeper_settings import ZooKeeperSettings
from hudi_engine.errors import Contradiction, EngineError, LockLost, LockUnavailable, LockUnreachable

_NUMBER: Final = re.compile(r"[0-9]{10}$")
_LOOK_AGAIN_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 0.2
_FRESH_MS: Final = 1_000
"""An answer that took longer says whose the lock was, not whose it is."""


class ZooKeeperLock:
    """`Lock` by a node in ZooKeeper: first come, first served, among Java's writers and us.

    One connection per acquisition, made in `acquire` and closed in `release`.
    """

    def __init__(self, settings: ZooKeeperSettings, clock: Clock, owner: Owner) -> None:
        self._settings = settings
        self._clock = clock
        self._owner = owner
        self._session: ZooKeeperSession | None = None
        self._node = ""

    def acquire(self, wait_seconds: float) -> None:
        if self._session is not None:
            raise Contradiction(f"{self._settings.shown}: {self._owner} holds or awaits this lock already")
        until_ms = self._clock.now_ms() + round(wait_seconds * 1000)
        self._session = ZooKeeperSession(self._settings)
        try:
            self._session.open(min(self._settings.connection_ms / 1000, max(wait_seconds, 1.0)))
            self._node = self._await_turn(_Queue(self._session, self._settings.path), until_ms)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        session, self._session, self._node = self._session, None, ""
        if session is not None:
            session.close()

    def require_held(self) -> None:
        if self._session is None or not self._node:
            raise LockLost(f"{self._settings.shown}: {self._owner} does not hold this lock")
        until_ms = self._clock.now_ms() + round(self._session.answer_seconds * 1000)
        while doubt := self._doubt(self._session):
            if self._clock.now_ms() >= until_ms:
                raise self._lost(doubt)
            self._clock.sleep(_PAUSE_SECONDS)

    def _doubt(self, session: ZooKeeperSession) -> str:
        """Why it is not certain that the lock is ours now; empty if it is."""
        asked_ms = self._clock.now_ms()
        try:
            contenders = _in_order(session.children(self._settings.path))
        except Silence as silence:
            return f"the server does not answer: {silence}"
        except EngineError as failure:
            raise self._lost(f"this befell the connection: {failure}") from failure
        if contenders[:1] != [self._node]:
            raise self._lost("the server has ended our session")
        return "" if self._clock.now_ms() - asked_ms <= _FRESH_MS else "the server answers too late"

    def _await_turn(self, queue: "_Queue", until_ms: int) -> str:
        """The name of our node once it is the lowest."""
        began_ms = self._clock.now_ms()
        while True:
            now_ms = self._clock.now_ms()
            left_seconds = max(0, until_ms - now_ms) / 1000
            try:
                line = queue.line(self._words("waiting"))
                if len(line) == 1:
                    queue.rewrite(line[0], self._words("held"))
                    return line[0]
                if not left_seconds:
                    raise self._unavailable(queue.describe(line, waited_ms=now_ms - began_ms))
                queue.await_change_of(line[-2], min(left_seconds, _LOOK_AGAIN_SECONDS))
            except Silence as silence:
                if not left_seconds:
                    why = f"{self._settings.shown}: the server does not answer: {silence}; try again later"
                    raise LockUnreachable(why) from silence
                self._clock.sleep(min(left_seconds, _PAUSE_SECONDS))

    def _words(self, state: str) -> bytes:
        """What our node says, beginning as Java's nodes do."""
        since = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        owner = self._owner
        return f"application_id={owner.name}@{owner.host},attempt={owner.attempt},{state}_since={since}".encode()

    def _unavailable(self, why: str) -> LockUnavailable:
        return LockUnavailable(f"{self._settings.shown}: {self._owner} did not get it: {why}; try again later")

    def _lost(self, why: str) -> LockLost:
        return LockLost(
            f"{self._settings.shown}: {self._owner} held it, but {why}, so others may hold it now. Nothing was "
            "published since; run the same request again."
        )


class _Queue:
    """The contenders below a lock's node, and our place among them."""

    def __init__(self, session: ZooKeeperSession, path: str) -> None:
        self._session = session
        self._path = path
        # Unique, so that we know our node again when the answer to its creation was lost.
        self._prefix = f"_c_{secrets.token_hex(16)}-lock-"
        self._changed = threading.Event()

    def line(self, words: bytes) -> Sequence[str]:
        """Who is before us, the holder first, and we last; we join first if we are not there (yet, or any more)."""
        line = self._up_to_us()
        if not line:
            self._session.create_contender(f"{self._path}/{self._prefix}", words)
            line = self._up_to_us()
        if not line:
            raise Silence("our node went as soon as it was made")
        return line

    def rewrite(self, node: str, words: bytes) -> None:
        self._session.write(f"{self._path}/{node}", words)

    def await_change_of(self, node: str, seconds: float) -> None:
        """Returns when that node is gone or changed, or the connection broke, or the time is over."""
        self._changed.clear()
        if self._session.read(f"{self._path}/{node}", self._wake):
            self._changed.wait(seconds)

    def describe(self, line: Sequence[str], *, waited_ms: int) -> str:
        """Who holds the lock, since when by the server's clock, and who else waits."""
        holder, ours = (self._session.read(f"{self._path}/{node}") for node in (line[0], line[-1]))
        if holder is None or ours is None:
            raise Silence("its holder changes as we look")
        words, age_ms = holder[0].decode(errors="replace"), ours[1] + waited_ms - holder[2]
        others = f"; {len(line) - 2} others were before us" if len(line) > 2 else ""
        return (
            f"held for {max(0, age_ms) / 1000:.1f} seconds by {words!r}, after {waited_ms / 1000:.1f} seconds{others}"
        )

    def _up_to_us(self) -> list[str]:
        contenders = _in_order(self._session.children(self._path))
        ours = (place for place, name in enumerate(contenders, 1) if name.startswith(self._prefix))
        return contenders[: next(ours, 0)]

    def _wake(self, event: object) -> None:
        self._changed.set()


def _in_order(children: Sequence[str]) -> list[str]:
    """The contenders by their numbers; what has none is nobody's place in the queue."""
    numbers = {name: int(match.group()) for name in children if (match := _NUMBER.search(name))}
    return sorted(numbers, key=lambda name: numbers[name])
