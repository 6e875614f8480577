"""Where the API server is, and by what we are known there."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hudi_operator.kube.credentials import NOBODY, Credentials, TokenFile
from hudi_operator.kube.proxies import proxy_of
from hudi_operator.kube.tls import Tls, TlsFiles, tls_of

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class NoConnection(Exception):
    """Nothing says how to reach an API server; the message says what was looked at."""


@dataclass(frozen=True, slots=True)
class Connection:
    """`namespace` is our own: of the pod, or of the kubeconfig's context. `impersonation` are headers."""

    server: str
    tls: Tls | None = None
    credentials: Credentials = NOBODY
    impersonation: tuple[tuple[str, str], ...] = ()
    proxy: str | None = None
    namespace: str | None = None

    @property
    def context(self) -> ssl.SSLContext | bool:
        """The context in the form that aiohttp takes; True means the default of aiohttp."""
        return True if self.tls is None else self.tls.context

    async def headers(self) -> list[tuple[str, str]]:
        """The headers that say who we are, for a request that is sent now."""
        if self.tls is not None:
            await asyncio.to_thread(self.tls.follow)
        header = await self.credentials.authorization()
        return [*(() if header is None else (("Authorization", header),)), *self.impersonation]


def by_service_account(environment: Mapping[str, str], folder: Path = _ACCOUNT) -> Connection | None:
    """As a pod; None if this is none."""
    if "KUBERNETES_SERVICE_HOST" not in environment or not (folder / "token").exists():
        return None
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
    return Connection(
        server=server,
        tls=tls_of(TlsFiles(authority=folder / "ca.crt")),
        credentials=TokenFile(folder / "token"),
        proxy=proxy_of(server, environment),
        namespace=(folder / "namespace").read_text().strip(),
    )
