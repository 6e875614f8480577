"""Credentials for the API server: a fixed header, a token in a file, or the answer of a program."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

import aiohttp
from kubernetes.aio.config.config_exception import ConfigException
from kubernetes.aio.config.exec_provider import ExecProvider
from kubernetes.aio.config.kube_config import ConfigNode

_RENEWED_BEFORE = timedelta(minutes=1)
_PROGRAM_SECONDS = 60.0


class NoCredentials(aiohttp.ClientError):
    """A request was not sent, for we cannot say who we are; to those who ask it is a connection that failed."""


class Credentials(Protocol):
    async def authorization(self) -> str | None:
        """The header's value for a request that is sent now."""

    def refused(self) -> None:
        """The server did not accept the last one: nothing that was kept is used again."""


@dataclass(frozen=True, slots=True)
class Fixed:
    header: str | None = None

    async def authorization(self) -> str | None:
        return self.header

    def refused(self) -> None:
        pass


NOBODY: Final = Fixed()


@dataclass(frozen=True, slots=True)
class TokenFile:
    """The file is read for every request: Kubernetes replaces the token each hour."""

    path: Path

    async def authorization(self) -> str | None:
        return f"Bearer {(await asyncio.to_thread(self.path.read_text)).strip()}"

    def refused(self) -> None:
        pass


@dataclass(slots=True)
class Program:
    """A credential plugin of a kubeconfig (`exec`), as clouds ship them: it prints a token and until when to use it.

    A program that fails is `NoCredentials`. The loader of the `kubernetes` package would go on as nobody.
    """

    settings: Mapping[str, object]
    _header: str | None = None
    _until: datetime | None = None
    _running: asyncio.Task[None] | None = None

    async def authorization(self) -> str | None:
        if self._header is None or (self._until is not None and datetime.now(UTC) >= self._until):
            if self._running is None or self._running.done():
                self._running = asyncio.create_task(self._run())
            # All requests wait for one run of the program, and one that is given up does not end it.
            await asyncio.shield(self._running)
        return self._header

    def refused(self) -> None:
        self._header = None

    async def _run(self) -> None:
        command = self.settings.get("command")
        try:
            async with asyncio.timeout(_PROGRAM_SECONDS):
                status = await ExecProvider(ConfigNode("exec", dict(self.settings))).run()
        except (ConfigException, OSError) as failed:
            raise NoCredentials(f"kubeconfig: the credential program {command} failed: {failed}") from failed
        except TimeoutError as late:
            raise NoCredentials(
                f"kubeconfig: the credential program {command} did not answer within {_PROGRAM_SECONDS:g} s"
            ) from late
        token = status.get("token")
        if not isinstance(token, str):
            raise NoCredentials(
                f"kubeconfig: the credential program {command} gave no token: client certificates of programs are not "
                "supported, use a program that gives a token"
            )
        self._header, self._until = f"Bearer {token}", _until(command, status.get("expirationTimestamp"))


def _until(command: object, stated: object) -> datetime | None:
    if stated is None:
        return None
    try:
        return datetime.fromisoformat(str(stated)) - _RENEWED_BEFORE
    except ValueError as wrong:
        raise NoCredentials(
            f"kubeconfig: the credential program {command} gave the expirationTimestamp {stated!r}, "
            "expected a time like 2026-05-01T12:00:00Z"
        ) from wrong
