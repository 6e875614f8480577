"""A thin client of the API: few connections, whole lists, errors by type, and each request counted."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import aiohttp

from hudi_operator.kube.errors import ApiError, Conflict, NotLeading, Refused, Unavailable
from hudi_operator.kube.resources import EVENTS
from hudi_operator.launch.cluster import Address, AlreadyThere, Forbidden, Manifest

FIELD_MANAGER = "hudi-operator"

AT_ONCE, PAGE = 16, 500
# What was asked for while the Lease was held for sure is done, or given up, before another may hold it.
WRITE_SECONDS = 5.0
_TRIES, _PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 5, 0.2, 10.0
_JSON = {"Content-Type": "application/json"}
_MERGE = {"Content-Type": "application/merge-patch+json"}
_APPLY = {"Content-Type": "application/apply-patch+yaml"}
_GOOD, _TOO_MANY, _NOT_FOUND, _FORBIDDEN, _CONFLICT, _EXPIRED = 300, 429, 404, 403, 409, 410


@dataclass(frozen=True, slots=True)
class _Call:
    """`is_repeatable`: done twice it is done once, so it may be asked again when no answer came."""

    method: str
    path: str
    body: object = None
    headers: Mapping[str, str] | None = None
    query: Mapping[str, str] | None = None
    is_repeatable: bool = True

    @property
    def is_writing(self) -> bool:
        return self.method != "GET"


@dataclass(frozen=True, slots=True)
class _Answer:
    code: int
    tree: Manifest
    retry_after: float | None

    @property
    def message(self) -> str:
        return str(self.tree.get("message") or f"HTTP {self.code}")

    @property
    def reason(self) -> str:
        return str(self.tree.get("reason") or "")

    @property
    def is_worth_another_try(self) -> bool:
        return self.code == _TOO_MANY or self.code >= 500


@dataclass(frozen=True, slots=True)
class Client:
    """`may_write` is asked right before each writing request; see `session.open_session` for the session."""

    session: aiohttp.ClientSession
    server: str
    may_write: Callable[[], bool] = lambda: True
    write_seconds: float = WRITE_SECONDS
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def find(self, address: Address) -> Manifest | None:
        answer = await self._answer(_Call("GET", address.path))
        return None if answer.code == _NOT_FOUND else self._good(answer, f"get {address.path}")

    async def listed(self, address: Address, labels: str = "") -> list[Manifest]:
        """All of them, page by page; from the start if the pages are of a state that the server no longer has."""
        selector = {"labelSelector": labels} if labels else {}
        items: list[Manifest] = []
        rest = ""
        while True:
            query = {"limit": str(PAGE), **selector, **({"continue": rest} if rest else {})}
            answer = await self._answer(_Call("GET", address.path, query=query))
            if answer.code == _EXPIRED and rest:
                items, rest = [], ""
                continue
            tree = self._good(answer, f"list {address.path}")
            items += cast(Sequence[Manifest], tree.get("items") or ())
            rest = str(cast(Manifest, tree["metadata"]).get("continue") or "")
            if not rest:
                return items

    async def events_about(self, namespace: str, uid: str) -> list[Manifest]:
        """The first page of the events of the object of that uid; none where we may not list events."""
        query = {"limit": str(PAGE), "fieldSelector": f"involvedObject.uid={uid}"}
        address = Address(EVENTS, namespace)
        answer = await self._answer(_Call("GET", address.path, query=query))
        if answer.code == _FORBIDDEN:
            return []
        return list(cast(Sequence[Manifest], self._good(answer, f"list {address.path}").get("items") or ()))

    async def create(self, address: Address, manifest: Manifest) -> Manifest:
        """The object as created, `AlreadyThere` or `Forbidden`. An answer that is lost is not asked for again."""
        path = Address(address.sort, address.namespace).path
        query = {"fieldManager": FIELD_MANAGER}
        answer = await self._answer(_Call("POST", path, manifest, _JSON, query, is_repeatable=False))
        if answer.code == _CONFLICT and answer.reason == "AlreadyExists":
            raise AlreadyThere(answer.message)
        if answer.code in (_FORBIDDEN, 400, 422):
            raise Forbidden(answer.message)
        return self._good(answer, f"create {address.path}")

    async def apply(self, address: Address, manifest: Manifest, subresource: str = "") -> Manifest | None:
        """Server-side apply: these fields are ours and as they are here. None if an object to have a status is gone."""
        query = {"fieldManager": FIELD_MANAGER, "force": "true"}
        path = f"{address.path}/{subresource}" if subresource else address.path
        answer = await self._answer(_Call("PATCH", path, manifest, _APPLY, query))
        return None if answer.code == _NOT_FOUND else self._good(answer, f"apply {path}")

    async def patch(self, address: Address, changes: Manifest) -> Manifest | None:
        """A merge; `Conflict` if the changes name a resourceVersion that the object no longer has."""
        call = _Call("PATCH", address.path, changes, _MERGE, {"fieldManager": FIELD_MANAGER}, is_repeatable=False)
        answer = await self._answer(call)
        return None if answer.code == _NOT_FOUND else self._good(answer, f"patch {address.path}")

    async def replace(self, address: Address, manifest: Manifest) -> Manifest:
        """The whole object, if it still has the manifest's resourceVersion; `Conflict` if it has not."""
        call = _Call("PUT", address.path, manifest, _JSON, {"fieldManager": FIELD_MANAGER}, is_repeatable=False)
        return self._good(await self._answer(call), f"replace {address.path}")

    async def delete(self, address: Address, uid: str) -> None:
        """The object of that uid with its dependents, which go first; another of the same name stays."""
        options = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Foreground",
            "preconditions": {"uid": uid},
        }
        answer = await self._answer(_Call("DELETE", address.path, options, _JSON))
        if answer.code not in (_NOT_FOUND, _CONFLICT):
            self._good(answer, f"delete {address.path}")

    def _good(self, answer: _Answer, asked: str) -> Manifest:
        if answer.code < _GOOD:
            return answer.tree
        raise _error(answer)(f"{asked}: {answer.message}", answer.code)

    async def _answer(self, call: _Call) -> _Answer:
        """Asked again, for as long as that may help, after an answer that says so, or none where that does no harm."""
        pause = _PAUSE_SECONDS
        for tries_left in range(_TRIES - 1, -1, -1):
            try:
                answer = await self._once(call)
            except (aiohttp.ClientError, TimeoutError, OSError) as lost:
                if not (call.is_repeatable and tries_left):
                    said = str(lost) or type(lost).__name__
                    raise Unavailable(f"{call.method} {call.path}: no answer: {said}") from lost
                wait = pause
            else:
                # That there are too many says that this one was not done.
                is_repeatable = call.is_repeatable or answer.code == _TOO_MANY
                if not (answer.is_worth_another_try and is_repeatable and tries_left):
                    return answer
                wait = max(pause, answer.retry_after or 0.0)
            await asyncio.sleep(min(wait, _LONGEST_PAUSE_SECONDS))
            pause *= 2
        raise AssertionError("the last try returns or raises")

    async def _once(self, call: _Call) -> _Answer:
        async with self._places:
            return await self._asked(call)

    async def _asked(self, call: _Call) -> _Answer:
        if call.is_writing and not self.may_write():
            raise NotLeading(f"{call.method} {call.path}: not asked, for the Lease is not held for sure")
        body = None if call.body is None else json.dumps(call.body)
        async with (
            asyncio.timeout(self.write_seconds if call.is_writing else None),
            self.session.request(
                call.method, self.server + call.path, params=call.query, data=body, headers=call.headers
            ) as response,
        ):
            text = await response.text()
            return _Answer(response.status, _tree(text), _seconds(response.headers.get("Retry-After")))


def _error(answer: _Answer) -> type[ApiError]:
    if answer.code == _CONFLICT:
        return Conflict
    return Unavailable if answer.is_worth_another_try else Refused


def _tree(text: str) -> Manifest:
    """What is between us and the server may answer, too, and not in JSON."""
    try:
        tree = json.loads(text)
    except ValueError:
        return {"message": text[:200]}
    return tree if isinstance(tree, dict) else {"message": text[:200]}


def _seconds(header: str | None) -> float | None:
    try:
        return None if header is None else float(header)
    except ValueError:
        return None
