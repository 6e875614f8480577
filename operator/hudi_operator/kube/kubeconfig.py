"""A kubeconfig: chosen from as kubectl chooses, and loaded by the `kubernetes` package.

The package's loader takes the last current-context of several files where kubectl takes the first, sends no
impersonation, goes on as nobody if a credential program fails, and reads a token's file once. So the entries are chosen
here, the loader resolves certificates, tokens and proxies of the chosen ones, and `credentials` renews.
"""

import asyncio
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import yaml
from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.config.config_exception import ConfigException
from kubernetes.aio.config.kube_config import KubeConfigLoader

from hudi_operator.kube.connection import Connection, NoConnection
from hudi_operator.kube.credentials import Credentials, Fixed, Program, TokenFile
from hudi_operator.kube.proxies import proxy_of
from hudi_operator.kube.tls import Tls, TlsFiles, tls_of
from hudi_operator.resources.refusals import InvalidResource
from hudi_operator.resources.tree import Tree

_CLUSTER_FILES: Final = ("certificate-authority",)
_USER_FILES: Final = ("client-certificate", "client-key", "tokenFile")
_PROXIES: Final = ("http", "https")


def by_kubeconfig(files: Sequence[Path], environment: Mapping[str, str]) -> Connection:
    """NoConnection if no file exists, or if a file says what is not understood."""
    try:
        return _connection(_chosen(files), environment)
    except (InvalidResource, ConfigException, yaml.YAMLError, OSError, ValueError, ssl.SSLError) as wrong:
        raise NoConnection(f"kubeconfig {', '.join(map(str, files))}: {wrong}") from wrong


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The current context's entries, with absolute paths."""

    cluster: Tree
    user: Tree
    namespace: str | None


def _chosen(files: Sequence[Path]) -> _Chosen:
    """The entries; the first of several files that has a name wins."""
    configs = [(Tree(_mapping(file)), file.parent.absolute()) for file in files if file.exists()]
    if not configs:
        raise NoConnection(f"kubeconfig: none of {', '.join(map(str, files))} exists")
    current = next((name for config, _ in configs if (name := config.text_or("current-context", ""))), "")
    context = _entry(configs, "contexts", current)[0].within("context")
    cluster, cluster_folder = _entry(configs, "clusters", context.text("cluster"))
    user, user_folder = _entry(configs, "users", context.text("user"))
    return _Chosen(
        _with_paths(cluster.within("cluster"), _CLUSTER_FILES, cluster_folder),
        _with_paths(user.within("user"), _USER_FILES, user_folder),
        context.text_or_none("namespace"),
    )


def _mapping(file: Path) -> Mapping[str, Any]:
    found = yaml.safe_load(file.read_text()) or {}
    if not isinstance(found, Mapping):
        raise InvalidResource(str(file), f"must be a mapping, found {type(found).__name__}")
    return found


def _entry(configs: Sequence[tuple[Tree, Path]], section: str, name: str) -> tuple[Tree, Path]:
    for config, folder in configs:
        for entry in config.trees(section):
            if entry.text_or_none("name") == name:
                return entry, folder
    raise NoConnection(f"kubeconfig: {section} has no {name!r}")


def _with_paths(entry: Tree, names: Sequence[str], folder: Path) -> Tree:
    """Paths are relative to the file that has them; a path is not looked at where the data stand beside it."""
    paths = {name: str(folder / path) for name in names if (path := entry.text_or_none(name)) is not None}
    program = entry.within("exec")
    command = program.text_or_none("command")
    if command is not None and "/" in command:
        return Tree({**entry.tree, **paths, "exec": {**program.tree, "command": str(folder / command)}}, entry.path)
    return Tree({**entry.tree, **paths}, entry.path)


def _connection(chosen: _Chosen, environment: Mapping[str, str]) -> Connection:
    if chosen.user.has("auth-provider"):
        raise NoConnection(
            "kubeconfig: auth-provider is not supported, nor by kubectl since 1.26: use the provider's exec program"
        )
    server = chosen.cluster.text("server").rstrip("/")
    # Keys that stand in the kubeconfig itself are files for as long as it takes to load them.
    with tempfile.TemporaryDirectory() as scratch:
        loaded = asyncio.run(_loaded(chosen, scratch))
        tls = _tls(chosen, loaded) if server.startswith("https:") else None
    return Connection(
        server=server,
        tls=tls,
        credentials=_credentials(chosen.user, loaded),
        impersonation=_impersonation(chosen.user),
        proxy=_proxy(loaded.proxy) or proxy_of(server, environment),
        namespace=chosen.namespace,
    )


async def _loaded(chosen: _Chosen, scratch: str) -> Configuration:
    """By the package's loader; programs and files of tokens, which change, are left to `credentials`."""
    user = {name: value for name, value in chosen.user.tree.items() if name not in ("exec", "tokenFile")}
    config = {
        "current-context": "chosen",
        "contexts": [{"name": "chosen", "context": {"cluster": "chosen", "user": "chosen"}}],
        "clusters": [{"name": "chosen", "cluster": dict(chosen.cluster.tree)}],
        "users": [{"name": "chosen", "user": user}],
    }
    configuration = Configuration()
    await KubeConfigLoader(config, temp_file_path=scratch).load_and_set(configuration)
    return configuration


def _tls(chosen: _Chosen, loaded: Configuration) -> Tls:
    is_named = chosen.user.has("client-certificate") and not chosen.user.has("client-certificate-data")
    return tls_of(
        _files(loaded.ssl_ca_cert, loaded.cert_file, loaded.key_file),
        followed=_files(
            None if chosen.cluster.has("certificate-authority-data") else loaded.ssl_ca_cert,
            *((loaded.cert_file, loaded.key_file) if is_named else (None, None)),
        ),
        server_name=loaded.tls_server_name,
        is_verified=not chosen.cluster.claim("insecure-skip-tls-verify"),
    )


def _files(*paths: str | None) -> TlsFiles:
    return TlsFiles(*(None if path is None else Path(path) for path in paths))


def _credentials(user: Tree, loaded: Configuration) -> Credentials:
    if user.has("exec"):
        return Program(user.within("exec").tree)
    token, path = user.text_or_none("token"), user.text_or_none("tokenFile")
    if path is not None and not token:
        return TokenFile(Path(path))
    return Fixed(loaded.api_key.get("BearerToken"))


def _impersonation(user: Tree) -> tuple[tuple[str, str], ...]:
    """The headers; as kubectl has it, groups and extras say nothing without a user."""
    name = user.text_or_none("as")
    uid, groups, extra = user.text_or_none("as-uid"), user.entries("as-groups"), user.within("as-user-extra")
    if not name:
        if uid or groups or extra.tree:
            raise NoConnection("kubeconfig: as-uid, as-groups and as-user-extra need the user that they belong to: as")
        return ()
    return (
        ("Impersonate-User", name),
        *((("Impersonate-Uid", uid),) if uid else ()),
        *(("Impersonate-Group", str(group)) for group in groups),
        *(
            (f"Impersonate-Extra-{quote(key.lower(), safe='')}", str(value))
            for key in extra.tree
            for value in extra.entries(key)
        ),
    )


def _proxy(url: str | None) -> str | None:
    if url and urlsplit(url).scheme not in _PROXIES:
        raise NoConnection(f"kubeconfig: proxy-url {url}: expected an http or https proxy, others are not supported")
    return url or None
