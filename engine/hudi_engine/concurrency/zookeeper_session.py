"""One connection to ZooKeeper, opened once and closed once, of which every question has a time limit."""

import re
import socket
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Protocol, TypeVar

from kazoo.client import KazooClient
from kazoo.exceptions import (
    AuthFailedError,
    ConnectionClosedError,
    ConnectionLoss,
    KazooException,
    NoAuthError,
    NodeExistsError,
    NoNodeError,
    OperationTimeoutError,
    SessionClosedRequireSaslError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError, SequentialThreadingHandler
from kazoo.security import ACL, Id

from hudi_engine.concurrency.zookeeper_link import Linker
from hudi_engine.concurrency.zookeeper_settings import ZooKeeperSettings
from hudi_engine.errors import AccessDenied, Contradiction, LockUnreachable, Unsupported

_Answer_co = TypeVar("_Answer_co", covariant=True)

_REFUSED = (AuthFailedError, NoAuthError, SessionClosedRequireSaslError, ConnectionClosedError)
_PASSING = (ConnectionLoss, OperationTimeoutError, SessionExpiredError, KazooTimeoutError)
_FAREWELL_SECONDS = 2.0
_RECONNECT = {"max_tries": -1, "delay": 0.1, "max_delay": 1.0}


class Silence(Exception):
    """The server did not answer this time: the connection or the session broke, or it took too long."""


class _Pending(Protocol[_Answer_co]):
    """An answer to come."""

    def get(self, block: bool = ..., timeout: float | None = ...) -> _Answer_co: ...


class ZooKeeperSession:
    """A client that connects by itself, again and again, until `close`. Its ephemeral nodes end with it."""

    def __init__(self, settings: ZooKeeperSettings) -> None:
        self._settings = settings
        access = settings.access
        if access.sasl and find_spec("puresasl") is None:
            raise Unsupported("hudi.engine.zookeeper.sasl.… needs pure-sasl: install hudi-operator[sasl]")
        self._acl = [ACL(entry.bits, Id(entry.scheme, entry.identity)) for entry in access.acl] or None
        handler = SequentialThreadingHandler()
        handler.create_connection = Linker(access.tls, settings.connection_ms / 1000)
        self._client = KazooClient(
            settings.hosts,
            handler=handler,
            timeout=settings.session_ms / 1000,
            connection_retry=_RECONNECT,
            auth_data=[("digest", access.digest)] if access.digest else [],
            sasl_options=dict(access.sasl) or None,
        )
        self.answer_seconds = min(settings.connection_ms, settings.session_ms / 3) / 1000

    def open(self, wait_seconds: float) -> None:
        """Returns when the server has made a session; `LockUnreachable` if it does not in time."""
        if not self._client.start_async().wait(wait_seconds):
            raise LockUnreachable(
                f"{self._settings.shown}: no session within {wait_seconds:g} seconds; look whether the servers run, "
                "whether they are reached from here, and whether they and hudi.engine.zookeeper.tls.enabled agree "
                "on TLS"
            )

    def close(self) -> None:
        """Ends the session, and with it our nodes; of a connection that is broken only our end."""
        if not self._answers():
            # kazoo ends a connection politely, and waits for a server that is gone as long as a session lasts.
            self._hang_up()
        try:
            self._client.stop()
        finally:
            self._client.close()

    def children(self, path: str) -> list[str]:
        """The node's children as the leader knows them, or none if there is no such node."""
        try:
            self._ask(lambda client: client.sync_async(path))
            return self._ask(lambda client: client.get_children_async(path))
        except NoNodeError:
            return []

    def read(self, path: str, watch: Callable[[object], None] | None = None) -> tuple[bytes, int, int] | None:
        """A node's data, and when it was made and last written by the server's clock; None if it is gone.

        `watch` is called once, when that changes or the connection breaks.
        """
        try:
            data, stat = self._ask(lambda client: client.get_async(path, watch))
        except NoNodeError:
            return None
        return data, stat.ctime, stat.mtime

    def write(self, path: str, data: bytes) -> None:
        try:
            self._ask(lambda client: client.set_async(path, data))
        except NoNodeError as gone:
            raise Silence(f"{path} is gone") from gone

    def create_contender(self, path: str, data: bytes) -> None:
        """A node of that name and a number, which ends with our session; the nodes above it are made if need be."""
        try:
            self._create_contender(path, data)
        except NoNodeError:
            self._make_folders(path.rpartition("/")[0])
            self._create_contender(path, data)

    def _create_contender(self, path: str, data: bytes) -> None:
        self._ask(lambda client: client.create_async(path, data, self._acl, ephemeral=True, sequence=True))

    def _make_folders(self, path: str) -> None:
        for end in (match.start() for match in re.finditer("(?<=.)/|$", path)):
            self._make_folder(path[:end])

    def _make_folder(self, path: str) -> None:
        try:
            self._ask(lambda client: client.create_async(path, b"", self._acl))
        except NodeExistsError:
            return
        except NoNodeError:
            raise Contradiction(
                f"{self._settings.shown}: the path behind the servers in hoodie.write.lock.zookeeper.url is not "
                "there; Hudi's own writers do not make it either: make it, or leave it out"
            ) from None

    def _ask(self, question: Callable[[KazooClient], _Pending[_Answer_co]]) -> _Answer_co:
        try:
            return question(self._client).get(timeout=self.answer_seconds)
        except _REFUSED as refused:
            raise AccessDenied(
                f"{self._settings.shown}: the server refuses us ({type(refused).__name__}); look at "
                "hudi.engine.zookeeper.sasl.…, .digest and .acl, and at the access control list of that node"
            ) from refused
        except _PASSING as passing:
            raise Silence(f"{type(passing).__name__} {passing}".rstrip()) from passing
        except (NoNodeError, NodeExistsError):
            raise
        except KazooException as failure:
            raise LockUnreachable(f"{self._settings.shown}: {type(failure).__name__} {failure}") from failure

    def _answers(self) -> bool:
        try:
            return self._client.connected and bool(self._client.sync_async("/").get(timeout=_FAREWELL_SECONDS))
        except (KazooException, KazooTimeoutError):
            return False

    def _hang_up(self) -> None:
        link = self._client._connection._socket
        with suppress(OSError):
            if link is not None:
                link.shutdown(socket.SHUT_RDWR)
