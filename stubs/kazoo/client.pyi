from collections.abc import Callable, Mapping, Sequence
from socket import socket
from threading import Event
from typing import Generic, TypeVar

from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.security import ACL

_Answer_co = TypeVar("_Answer_co", covariant=True)

class AsyncResult(Generic[_Answer_co]):
    def get(self, block: bool = True, timeout: float | None = None) -> _Answer_co: ...

class ZnodeStat:
    ctime: int
    mtime: int

class _Connection:
    _socket: socket | None

class KazooClient:
    _connection: _Connection
    _session_id: int | None
    _session_passwd: bytes
    def __init__(
        self,
        hosts: str = ...,
        timeout: float = ...,
        *,
        client_id: tuple[int, bytes] | None = ...,
        connection_retry: Mapping[str, float] = ...,
        auth_data: Sequence[tuple[str, str]] = ...,
        sasl_options: Mapping[str, str] | None = ...,
        handler: SequentialThreadingHandler = ...,
    ) -> None: ...
    @property
    def connected(self) -> bool: ...
    @property
    def client_id(self) -> tuple[int, bytes] | None: ...
    def start(self, timeout: float = ...) -> None: ...
    def start_async(self) -> Event: ...
    def stop(self) -> None: ...
    def close(self) -> None: ...
    def exists(self, path: str) -> ZnodeStat | None: ...
    def get(self, path: str) -> tuple[bytes, ZnodeStat]: ...
    def get_children(self, path: str) -> list[str]: ...
    def ensure_path(self, path: str) -> bool: ...
    def create(
        self,
        path: str,
        value: bytes = ...,
        acl: Sequence[ACL] | None = ...,
        ephemeral: bool = ...,
        sequence: bool = ...,
        makepath: bool = ...,
    ) -> str: ...
    def delete(self, path: str) -> bool: ...
    def get_acls(self, path: str) -> tuple[list[ACL], ZnodeStat]: ...
    def sync_async(self, path: str) -> AsyncResult[str]: ...
    def get_async(
        self, path: str, watch: Callable[[object], None] | None = None
    ) -> AsyncResult[tuple[bytes, ZnodeStat]]: ...
    def get_children_async(self, path: str) -> AsyncResult[list[str]]: ...
    def set_async(self, path: str, value: bytes) -> AsyncResult[ZnodeStat]: ...
    def create_async(
        self,
        path: str,
        value: bytes = ...,
        acl: Sequence[ACL] | None = ...,
        ephemeral: bool = ...,
        sequence: bool = ...,
    ) -> AsyncResult[str]: ...
