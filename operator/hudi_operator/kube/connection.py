"""Where the API server is, and by what we are known there."""

import asyncio
import base64
import os
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from hudi_operator.resources.refusals import InvalidResource
from hudi_operator.resources.tree import Tree

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class NoConnection(Exception):
    """Nothing says how to reach an API server; the message says what was looked at."""


@dataclass(frozen=True, slots=True)
class Connection:
    """`namespace` is our own: of the pod, or of the kubeconfig's context."""

    server: str
    tls: ssl.SSLContext | None = None
    token: str | None = None
    token_file: Path | None = None
    basic: tuple[str, str] | None = None
    namespace: str | None = None

    async def authorization(self) -> str | None:
        """The header's value. A token in a file is read every time: Kubernetes replaces it each hour."""
        if self.token_file is not None:
            return f"Bearer {(await asyncio.to_thread(self.token_file.read_text)).strip()}"
        if self.token is not None:
            return f"Bearer {self.token}"
        if self.basic is not None:
            return f"Basic {base64.b64encode(':'.join(self.basic).encode()).decode()}"
        return None


def find_connection(kubeconfig: Path | None, environment: Mapping[str, str]) -> Connection:
    """By the file given, else by `KUBECONFIG`, else by the service account of this pod, else by `~/.kube/config`."""
    if kubeconfig is not None:
        return by_kubeconfig([kubeconfig])
    named = [Path(path) for path in environment.get("KUBECONFIG", "").split(os.pathsep) if path]
    if named:
        return by_kubeconfig(named)
    if "KUBERNETES_SERVICE_HOST" in environment and (_ACCOUNT / "token").exists():
        return by_service_account(environment, _ACCOUNT)
    default = Path("~/.kube/config").expanduser()
    if default.exists():
        return by_kubeconfig([default])
    raise NoConnection(
        f"no cluster: --kubeconfig and KUBECONFIG are not given, this is no pod, and {default} does not exist"
    )


def by_service_account(environment: Mapping[str, str], folder: Path) -> Connection:
    host, port = environment["KUBERNETES_SERVICE_HOST"], environment.get("KUBERNETES_SERVICE_PORT", "443")
    return Connection(
        server=f"https://{f'[{host}]' if ':' in host else host}:{port}",
        tls=ssl.create_default_context(cafile=folder / "ca.crt"),
        token_file=folder / "token",
        namespace=(folder / "namespace").read_text().strip(),
    )


def by_kubeconfig(files: Sequence[Path]) -> Connection:
    """As kubectl reads it: of several files the first that has a name wins."""
    try:
        configs = [(Tree(yaml.safe_load(file.read_text()) or {}), file.parent) for file in files if file.exists()]
        if not configs:
            raise NoConnection(f"kubeconfig: none of {', '.join(map(str, files))} exists")
        current = next((name for config, _ in configs if (name := config.text_or("current-context", ""))), "")
        context = _entry(configs, "contexts", current)[0].within("context")
        cluster, cluster_folder = _entry(configs, "clusters", context.text("cluster"))
        user, user_folder = _entry(configs, "users", context.text("user"))
        return _connection(
            _Files(cluster.within("cluster"), cluster_folder),
            _Files(user.within("user"), user_folder),
            context.text_or_none("namespace"),
        )
    except (InvalidResource, yaml.YAMLError, OSError, ssl.SSLError) as wrong:
        raise NoConnection(f"kubeconfig {', '.join(map(str, files))}: {wrong}") from wrong


@dataclass(frozen=True, slots=True)
class _Files:
    """An entry of a kubeconfig, which may name files beside it."""

    tree: Tree
    folder: Path

    def path(self, name: str) -> Path | None:
        given = self.tree.text_or_none(name)
        return None if given is None else self.folder / given

    def content(self, name: str) -> bytes | None:
        """Of the file named, or what stands here as base64 under the same name with `-data`."""
        data, path = self.tree.text_or_none(f"{name}-data"), self.path(name)
        if data is not None:
            return base64.b64decode(data)
        return None if path is None else path.read_bytes()


def _entry(configs: Sequence[tuple[Tree, Path]], section: str, name: str) -> tuple[Tree, Path]:
    for config, folder in configs:
        for entry in config.trees(section):
            if entry.text_or_none("name") == name:
                return entry, folder
    raise NoConnection(f"kubeconfig: {section} has no {name!r}")


def _connection(cluster: _Files, user: _Files, namespace: str | None) -> Connection:
    if user.tree.has("exec") or user.tree.has("auth-provider"):
        raise NoConnection(
            "kubeconfig: the user's credentials are made by a program (exec or auth-provider), which is not supported: "
            "use a token or a client certificate"
        )
    server, name = cluster.tree.text("server"), user.tree.text_or_none("username")
    return Connection(
        server=server.rstrip("/"),
        tls=_tls(cluster, user) if server.startswith("https:") else None,
        token=user.tree.text_or_none("token"),
        token_file=user.path("tokenFile"),
        basic=None if name is None else (name, user.tree.text("password")),
        namespace=namespace,
    )


def _tls(cluster: _Files, user: _Files) -> ssl.SSLContext:
    authority = cluster.content("certificate-authority")
    tls = ssl.create_default_context(cadata=None if authority is None else authority.decode())
    if cluster.tree.claim("insecure-skip-tls-verify"):
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    certificate, key = user.content("client-certificate"), user.content("client-key")
    if certificate is not None and key is not None:
        # The library takes them from a file alone; it is gone again before anybody else runs.
        with tempfile.NamedTemporaryFile() as both:
            both.write(certificate + b"\n" + key)
            both.flush()
            tls.load_cert_chain(both.name)
    return tls
