"""A reverse proxy in front of the API server that numbers what passes between it and the operator, and troubles it."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import aiohttp
from aiohttp import web

from tests.cluster.faults.trouble import CODES, LATE_SECONDS, Sort, Trouble, What

_OF_ONE_HOP: Final = frozenset({"host", "connection", "transfer-encoding", "content-length", "content-encoding"})
_WRITES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(slots=True)
class Proxy:
    """`kill` ends the operator that it serves; `numbers` say how many of each sort passed, `hits` how often it hit."""

    api_url: str
    trouble: Trouble | None
    kill: Callable[[], None]
    numbers: Counter[Sort] = field(default_factory=Counter)
    hits: int = 0
    told: list[str] = field(default_factory=list)
    _session: aiohttp.ClientSession = field(init=False)
    _last: dict[str, bytes] = field(default_factory=dict)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Its address, while it is open."""
        application = web.Application(client_max_size=1 << 24)
        application.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(application, access_log=None)
        timeout = aiohttp.ClientTimeout(total=None)
        connector = aiohttp.TCPConnector(ssl=False, limit=0)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=True) as self._session:
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0, shutdown_timeout=0.1)
            await site.start()
            try:
                yield f"http://127.0.0.1:{runner.addresses[0][1]}"
            finally:
                await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch") in {"true", "1"}:
            return await self._watch(request)
        what = None if "/leases" in request.path else self._next(_sort_of(request), f"{request.method} {request.path}")
        match what:
            case What.DROP:
                return _dropped(request)
            case What.CONFLICT | What.GONE | What.INVALID | What.TOO_MANY | What.BROKEN:
                return _refusal(what)
        answer = await self._forwarded(request)
        match what:
            case What.KILL:
                self.kill()
                return _dropped(request)
            case What.LOSE:
                return _dropped(request)
        return answer

    def _next(self, sort: Sort, what: str) -> What | None:
        """What happens to the one that comes now."""
        self.numbers[sort] += 1
        happens = None if self.trouble is None else self.trouble.of(sort, self.numbers[sort], self.hits)
        self.told.append(f"{sort} {self.numbers[sort]}: {what}{f' -> {happens}' if happens else ''}")
        self.hits += happens is not None
        return happens

    async def _forwarded(self, request: web.Request) -> web.Response:
        body = await request.read()
        async with self._asked(request, body) as answer:
            headers = {name: value for name, value in answer.headers.items() if name.lower() not in _OF_ONE_HOP}
            return web.Response(status=answer.status, headers=headers, body=await answer.read())

    def _asked(self, request: web.Request, body: bytes | None) -> aiohttp.client._RequestContextManager:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OF_ONE_HOP}
        return self._session.request(
            request.method,
            f"{self.api_url}{request.path_qs}",
            headers=headers,
            data=body or None,
            allow_redirects=False,
        )

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        async with self._asked(request, None) as answer:
            if answer.status != 200:
                return web.Response(status=answer.status, body=await answer.read(), content_type="application/json")
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            await response.prepare(request)
            try:
                async for line in answer.content:
                    if not await self._pass_on(request, response, line):
                        break
            except (ConnectionError, aiohttp.ClientError):
                pass  # either side has gone away; the operator begins its watch anew, if it lives
            return response

    async def _pass_on(self, request: web.Request, response: web.StreamResponse, line: bytes) -> bool:
        """Whether the watch goes on."""
        event = json.loads(line)
        if event["type"] == "BOOKMARK":
            await response.write(line)
            return True
        metadata = event["object"].get("metadata", {})
        what = self._next(Sort.EVENT, f"{event['type']} {event['object'].get('kind')} {metadata.get('name')}")
        key = f"{event['object'].get('kind')}/{metadata.get('namespace')}/{metadata.get('name')}"
        before, self._last[key] = self._last.get(key), line
        match what:
            case What.DROP:
                _dropped(request)
                return False
            case What.GONE:
                await response.write(json.dumps({"type": "ERROR", "object": _status(What.GONE)}).encode() + b"\n")
                return False
            case What.LATE:
                await asyncio.sleep(LATE_SECONDS)
        await response.write(line)
        match what:
            case What.KILL:
                self.kill()
                return False
            case What.REPEAT:
                await response.write(line)
            case What.STALE if before is not None:
                await response.write(before)
        return True


def _sort_of(request: web.Request) -> Sort:
    return Sort.WRITE if request.method in _WRITES else Sort.READ


def _dropped(request: web.Request) -> web.Response:
    """Nothing of this reaches the operator: there is no connection any more."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=502)


def _refusal(what: What) -> web.Response:
    headers = {"Retry-After": "1"} if what is What.TOO_MANY else {}
    return web.json_response(_status(what), status=CODES[what][0], headers=headers)


def _status(what: What) -> dict[str, object]:
    code, reason = CODES[what]
    said = "made up by a test"
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": said}
