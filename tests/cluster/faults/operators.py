"""Operators behind proxies: begun anew, as Kubernetes does, whenever one ends."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.cluster.faults.admin import Admin
from tests.cluster.faults.proxy import Proxy
from tests.cluster.faults.trouble import Trouble
from tests.cluster.operator_process import OPEN_POLICY

_SECONDS_TO_STOP: Final = 120.0


@dataclass(slots=True)
class Operator:
    """One after the other, of which each has the proxy for its API server."""

    place: Path
    arguments: tuple[str, ...]
    admin: Admin
    is_alone: bool
    proxy: Proxy = field(init=False)
    starts: int = 0
    exit_codes: list[int] = field(default_factory=list)
    _process: asyncio.subprocess.Process | None = None
    _is_over: bool = False

    def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def keep(self, kubeconfig: Path) -> None:
        """Until cancelled, or told to stop."""
        while not self._is_over:
            self.starts += 1
            program = Path(sys.executable).with_name("hudi-operator")
            with (self.place / "operator.log").open("ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    program,
                    *("run", "--launcher", "process", "--policy", str(OPEN_POLICY), *self.arguments),
                    env={**os.environ, "KUBECONFIG": str(kubeconfig), "TZ": "UTC"},
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            self.exit_codes.append(await self._process.wait())
            if self.exit_codes[-1] == -signal.SIGKILL and not self._is_over:
                await (self.admin.forget_lease() if self.is_alone else self.admin.expire_lease())

    async def stop(self) -> int | None:
        """The exit code of the one that lives, 0 if none does; None if it did not end in time and was made to."""
        self._is_over = True
        if self._process is None or self._process.returncode is not None:
            return 0
        self._process.terminate()
        try:
            async with asyncio.timeout(_SECONDS_TO_STOP):
                return await self._process.wait()
        except TimeoutError:
            self._process.kill()
            return None

    @property
    def said(self) -> str:
        return (self.place / "operator.log").read_text()


@asynccontextmanager
async def operating(
    places: list[Path], arguments: tuple[str, ...], trouble: Trouble | None, admin: Admin
) -> AsyncIterator[list[Operator]]:
    """As many operators as places; each one's proxy makes the trouble."""
    operators = [Operator(place, arguments, admin, is_alone=len(places) == 1) for place in places]
    async with AsyncExitStack() as opened, asyncio.TaskGroup() as tasks:
        keeping = []
        for operator in operators:
            operator.proxy = Proxy(admin.api_url, trouble, operator.kill)
            address = await opened.enter_async_context(operator.proxy.serving())
            kubeconfig = _kubeconfig(operator.place, address)
            keeping.append(tasks.create_task(operator.keep(kubeconfig)))
        try:
            yield operators
        finally:
            for operator, task in zip(operators, keeping, strict=True):
                operator.kill()
                task.cancel()


def _kubeconfig(place: Path, address: str) -> Path:
    config = json.loads((place.parent / "operator.json").read_text())
    config["clusters"][0]["cluster"] = {"server": address}
    file = place / "kubeconfig.json"
    file.write_text(json.dumps(config))
    return file
