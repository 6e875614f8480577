"""One real Java writer beside the engine, and the book of which keys must be in its table."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.java.jvm import Jvm
from tests.java.live_checks import require_found_by_java, require_rows
from tests.java.live_writers import COMPACTION, SERVICES, SEVERAL_WRITERS, Author, LiveTable, Writer
from tests.kit.engine import Engine
from tests.kit.heartbeats import back_date_heartbeats
from tests.kit.sessions import expire
from tests.kit.wait import wait_until

TABLE_VERSION: Final = 9
COPY_ON_WRITE: Final = "COPY_ON_WRITE"
MERGE_ON_READ: Final = "MERGE_ON_READ"
# What docs/writers.md recommends.
RECOMMENDED: Final = {
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.async": "true",
    "hoodie.metadata.streaming.write.enabled": "false",
}
# Hudi's default: longer than anything here takes. The heartbeat of who died is back-dated and not waited for.
USUAL_LEASE: Final = {
    "hoodie.client.heartbeat.interval_in_ms": "60000",
    "hoodie.client.heartbeat.tolerable.misses": "2",
}
# No shorter: a beat waits for the disk, which others keep busy for seconds.
LEASE_SECONDS: Final = 6
SHORT_LEASE: Final = {
    "hoodie.client.heartbeat.interval_in_ms": "1000",
    "hoodie.client.heartbeat.tolerable.misses": str(LEASE_SECONDS),
}
_KEYS_AT_FIRST: Final = 30


class Scene:
    """A table that this writer has begun. `options` are what the engine is told: the writer's, and `own` beside."""

    def __init__(
        self,
        jvm: Jvm,
        folder: Path,
        lock: Mapping[str, str],
        own: Mapping[str, str],
        writers: Mapping[str, str] = RECOMMENDED,
        table_type: str = COPY_ON_WRITE,
    ) -> None:
        table = LiveTable(folder, TABLE_VERSION, table_type, lock)
        services = {**SERVICES, **(COMPACTION if table_type == MERGE_ON_READ else {})}
        self.folder = folder
        self.writer = Writer(jvm, table, Author("a", 0), {**writers, **services})
        self.options = {**SEVERAL_WRITERS, **lock, **writers, **own}
        self._failures: list[BaseException] = []
        self.writer.commit(self.writer.author.first_step(_KEYS_AT_FIRST))
        self.commit()

    def commit(self) -> None:
        """Of everything that a writer can do, something."""
        self.writer.commit()

    def let_die(self, engine: Engine) -> None:
        """Kills an engine of this table. Its session ends and its lease runs out now, for which nobody waits."""
        engine.kill()
        self.expire_session(engine)
        back_date_heartbeats(self.folder)

    def expire_session(self, engine: Engine) -> None:
        """The server ends the engine's session, and with it the engine's place in the queue for the lock."""
        if (session := engine.session) is not None:
            expire(self.options["hoodie.write.lock.zookeeper.url"], session)

    @contextmanager
    def written_to(self) -> Iterator[None]:
        """The writer commits without a pause; what it failed with is raised at the end of the block."""
        halt, self._failures = threading.Event(), []

        def write() -> None:
            try:
                while not halt.is_set():
                    self.commit()
            except BaseException as failed:  # noqa: BLE001  the border of the thread: raised again where it ends
                self._failures.append(failed)

        thread = threading.Thread(target=write)
        thread.start()
        try:
            yield
        finally:
            halt.set()
            thread.join()
        self._raise_what_failed()

    def await_commits(self, more: int) -> None:
        """Until the writer, at work in another thread, has committed so many times more."""
        goal = self.writer.commits + more
        wait_until(lambda: self.writer.commits >= goal or bool(self._failures))
        self._raise_what_failed()

    def _raise_what_failed(self) -> None:
        for failure in self._failures:
            raise failure

    def rows(self) -> list[dict[str, Any]]:
        """What Java reads, which is what the book says."""
        return require_rows(self.writer.jvm, self.folder, self.writer.author.book)

    def require_found_by_java(self) -> None:
        """Java finds each key by our record index where it reads it."""
        require_found_by_java(self.writer.jvm, self.folder, self.rows())
