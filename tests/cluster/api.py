"""The API server as a user with a token sees it, over one connection: a request starts no process."""

import http.client
import json
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from hudi_operator.words import GROUP, VERSION
from tests.cluster.namespaces import Refused

Tree = dict[str, Any]

_OURS: Final = f"/apis/{GROUP}/{VERSION}"
_GROUPS: Final[Mapping[str, str]] = {
    "huditable": _OURS,
    "metadataindex": _OURS,
    "tableservice": _OURS,
    "job": "/apis/batch/v1",
    "lease": "/apis/coordination.k8s.io/v1",
}
_CORE: Final = "/api/v1"
_PLURALS: Final = {"metadataindex": "metadataindexes"}
_BODIES: Final = {
    "POST": "application/json",
    "PUT": "application/json",
    "PATCH": "application/merge-patch+json",
    "APPLY": "application/apply-patch+yaml",
}
_STRICT: Final = "fieldValidation=Strict"  # as kubectl asks: a field that the kind does not have is refused
_NOT_FOUND, _TOO_MANY, _ERRORS = 404, 429, 400
_LONGEST_SECONDS: Final = 60.0
# A server that has just begun asks for another try, until it has read what is stored.
_TRIES, _SECONDS_BETWEEN_TRIES = 100, 0.2
# The server closes a connection that was idle for 90 seconds.
_LONGEST_IDLE_SECONDS: Final = 30.0


def path_of(namespace: str, what: str) -> str:
    """Of `KIND` or `KIND/NAME`, the kind in small letters and the singular, as `kubectl` takes it."""
    kind, _, name = what.lower().partition("/")
    plural = _PLURALS.get(kind, f"{kind}s")
    return f"{_GROUPS.get(kind, _CORE)}/namespaces/{namespace}/{plural}{'/' if name else ''}{name}"


class Api:
    """`connect` makes a connection to the server. A request that the server refuses raises Refused in its words."""

    def __init__(self, connect: Callable[[], socket.socket], authority: Path, token: str) -> None:
        self._connection = _Connection(connect, authority)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._used_at = 0.0

    def get(self, path: str) -> Tree:
        return self._asked("GET", path)

    def find(self, path: str) -> Tree | None:
        """None if it is not there."""
        try:
            return self.get(path)
        except Refused as refused:
            if refused.code == _NOT_FOUND:
                return None
            raise

    def listed(self, path: str) -> list[Tree]:
        items: list[Tree] = self.get(path)["items"]
        return items

    def create(self, path: str, tree: Mapping[str, Any], query: str = "") -> Tree:
        """`path` is that of the kind; the object as the server has it, or would have it with `dryRun=All`."""
        return self._asked("POST", f"{path}?{_STRICT}&{query}", tree)

    def replace(self, path: str, tree: Mapping[str, Any], query: str = "") -> Tree:
        return self._asked("PUT", f"{path}?{_STRICT}&{query}", tree)

    def patch(self, path: str, changes: Mapping[str, Any]) -> Tree:
        """A merge."""
        return self._asked("PATCH", path, changes)

    def apply(self, path: str, tree: Mapping[str, Any], query: str = "", manager: str = "tests") -> Tree:
        """Server-side; fields of another manager are taken over."""
        return self._asked("APPLY", f"{path}?{_STRICT}&fieldManager={manager}&force=true&{query}", tree)

    def delete(self, path: str) -> None:
        """Its end is not waited for; fine if it is not there."""
        code, tree = self._answer("DELETE", path)
        if code != _NOT_FOUND and code >= _ERRORS:
            raise Refused(["DELETE", path], code, tree["message"])

    def is_ready(self) -> bool:
        try:
            code, _ = self._answer("GET", "/readyz")
        except (OSError, http.client.HTTPException):
            return False
        return code < _ERRORS

    def close(self) -> None:
        """The next request makes another connection."""
        self._connection.close()

    def _asked(self, how: str, path: str, tree: Mapping[str, Any] | None = None) -> Tree:
        code, answer = self._answer(how, path, tree)
        if code >= _ERRORS:
            raise Refused([how, path], code, answer["message"])
        return answer

    def _answer(self, how: str, path: str, tree: Mapping[str, Any] | None = None) -> tuple[int, Tree]:
        for _ in range(_TRIES):
            code, answer = self._once(how, path, tree)
            if code != _TOO_MANY:
                break
            time.sleep(_SECONDS_BETWEEN_TRIES)
        return code, answer

    def _once(self, how: str, path: str, tree: Mapping[str, Any] | None) -> tuple[int, Tree]:
        method = "PATCH" if how == "APPLY" else how
        headers = {**self._headers, **({"Content-Type": _BODIES[how]} if how in _BODIES else {})}
        if time.monotonic() - self._used_at > _LONGEST_IDLE_SECONDS:
            self.close()
        try:
            self._connection.request(method, path, None if tree is None else json.dumps(tree), headers)
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        self._used_at = time.monotonic()
        is_tree = answer.headers.get_content_type() == "application/json"
        return answer.status, json.loads(text) if is_tree else {"message": text.decode()}


class _Connection(http.client.HTTPConnection):
    """HTTPS over a socket that somebody else connects."""

    def __init__(self, reach: Callable[[], socket.socket], authority: Path) -> None:
        super().__init__("127.0.0.1")
        self._reach = reach
        self._authority = authority

    def connect(self) -> None:
        context = ssl.create_default_context(cafile=self._authority)
        plain = self._reach()
        plain.settimeout(_LONGEST_SECONDS)
        self.sock = context.wrap_socket(plain, server_hostname="127.0.0.1")
