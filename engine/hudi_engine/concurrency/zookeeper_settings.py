"""Where a table's lock is in ZooKeeper and how to get in, from the configuration.

Hudi's own properties say where (`hoodie.write.lock.zookeeper.…`). For what Java takes from its system properties there
are ours:

    hudi.engine.zookeeper.tls.enabled             true: the port speaks TLS
    hudi.engine.zookeeper.tls.ca                  file of the authorities to trust besides the machine's own, PEM
    hudi.engine.zookeeper.tls.certificate         file of our certificate, PEM; with
    hudi.engine.zookeeper.tls.key                 its key, PEM, and
    hudi.engine.zookeeper.tls.key.password        that key's password, if it has one
    hudi.engine.zookeeper.tls.verify              false: take any certificate (default true)
    hudi.engine.zookeeper.tls.verify.hostname     false: take a trusted one made for another host (default true)
    hudi.engine.zookeeper.sasl.mechanism          DIGEST-MD5 or GSSAPI; needs the package's extra `sasl`
    hudi.engine.zookeeper.sasl.username           for DIGEST-MD5, with
    hudi.engine.zookeeper.sasl.password           its password
    hudi.engine.zookeeper.sasl.principal          for GSSAPI: ours, if the ticket cache has several
    hudi.engine.zookeeper.sasl.service            for GSSAPI: the server's (default zookeeper)
    hudi.engine.zookeeper.digest                  user:password of ZooKeeper's scheme `digest`
    hudi.engine.zookeeper.acl                     of the nodes we make, as zkCli writes it: scheme:id:cdrwa, by commas
                                                  (default world:anyone:cdrwa, which is Hudi's)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hudi_engine.concurrency.settings import is_set, whole_number
from hudi_engine.errors import Contradiction
from hudi_engine.format.name_hash import name_hash
from hudi_engine.table.table import Table

URL_KEY: Final = "hoodie.write.lock.zookeeper.url"
PORT_KEY: Final = "hoodie.write.lock.zookeeper.port"
BASE_PATH_KEY: Final = "hoodie.write.lock.zookeeper.base_path"
LOCK_KEY_KEY: Final = "hoodie.write.lock.zookeeper.lock_key"
SESSION_KEY: Final = "hoodie.write.lock.zookeeper.session_timeout_ms"
CONNECTION_KEY: Final = "hoodie.write.lock.zookeeper.connection_timeout_ms"
TABLE_PATH_KEY: Final = "hoodie.base.path"

TLS_KEY: Final = "hudi.engine.zookeeper.tls"

_OURS: Final = "hudi.engine.zookeeper."
_SASL: Final = ("mechanism", "username", "password", "principal", "service")
_DEFAULT_PORT: Final = "2181"
_PERMISSIONS: Final = {"r": 1, "w": 2, "c": 4, "d": 8, "a": 16}
_SERVER: Final = re.compile(r"(?:\[[^\]]+\]|[^:\[\]]+)(:[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Permission:
    """One entry of an access control list."""

    scheme: str
    identity: str
    bits: int


@dataclass(frozen=True, slots=True)
class Tls:
    """Whom to trust and who we are, as names of files; empty where there is none."""

    ca: str
    certificate: str
    key: str
    key_password: str = field(repr=False)
    verifies: bool
    verifies_hostname: bool


@dataclass(frozen=True, slots=True)
class Access:
    """How to get in. Nothing of it is ever shown."""

    tls: Tls | None = field(repr=False)
    sasl: Mapping[str, str] = field(repr=False)
    digest: str = field(repr=False)
    acl: tuple[Permission, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ZooKeeperSettings:
    """One lock: the servers that keep it and the node below which its contenders queue."""

    hosts: str
    path: str
    session_ms: int
    connection_ms: int
    access: Access

    @property
    def shown(self) -> str:
        return f"ZooKeeper {self.hosts}, lock {self.path}"


def explicit_settings(conf: Mapping[str, str], table: Table) -> ZooKeeperSettings:
    """The lock of ZookeeperBasedLockProvider: a node that the configuration names."""
    base = _required(conf, BASE_PATH_KEY, "the node that all writers use, as /hudi")
    lock_key = conf.get(LOCK_KEY_KEY, "").strip() or table.config.name
    return _settings(conf, f"{base}/{lock_key}")


def implicit_settings(conf: Mapping[str, str]) -> ZooKeeperSettings:
    """The lock of ZookeeperBasedImplicitBasePathLockProvider: a node named by the hash of the table's base path.

    What is hashed is the text that a writer was given: `/a`, `/a/` and `file:///a` are three locks, and nothing in the
    table says which of them its writers take. So the configuration has to.
    """
    spelt = "the table's base path, letter by letter as its writers are given it: this provider's lock is its hash"
    return _settings(conf, implicit_path(_required(conf, TABLE_PATH_KEY, spelt)))


def implicit_path(location: str) -> str:
    """The node of a base path's lock, as 1.0.2, 1.1.1 and 1.2.0 name it; 0.15.0 has no such provider."""
    spelt = re.sub(r"^s3a://", "s3://", location, flags=re.IGNORECASE)
    return f"/tmp/{name_hash(spelt):016X}/lock_key"


def _settings(conf: Mapping[str, str], path: str) -> ZooKeeperSettings:
    hosts = _required(conf, URL_KEY, "the servers, as host:2181,host:2181/chroot")
    _require_servers(conf, hosts)
    if not path.startswith("/") or "" in path[1:].split("/") or {".", ".."} & set(path.split("/")):
        raise Contradiction(
            f"{BASE_PATH_KEY} and {LOCK_KEY_KEY} make {path!r}, which ZooKeeper takes for no path: expected the first "
            "to begin with / and not to end with it, and neither to have empty parts. Hudi's own writers fail alike."
        )
    return ZooKeeperSettings(
        hosts=hosts,
        path=path,
        session_ms=whole_number(conf, SESSION_KEY, 60_000, least=1),
        connection_ms=whole_number(conf, CONNECTION_KEY, 15_000, least=1),
        access=_access(conf),
    )


def _required(conf: Mapping[str, str], key: str, what: str) -> str:
    value = conf.get(key, "").strip()
    if not value:
        raise Contradiction(f"{key} is not set, and the lock provider needs it: set it to {what}")
    return value


def _require_servers(conf: Mapping[str, str], hosts: str) -> None:
    """Java reads the port from the url only and else takes 2181: another one here would be another server's lock."""
    port = conf.get(PORT_KEY, "").strip()
    for name in hosts.partition("/")[0].split(","):
        server = _SERVER.fullmatch(name.strip())
        if server is None:
            raise Contradiction(f"{URL_KEY}={hosts}: {name!r} is no server; expected host:2181,host:2181/chroot")
        if port not in {"", _DEFAULT_PORT} and not server[1]:
            raise Contradiction(
                f"{PORT_KEY}={port}, but Hudi's own writers read the port from {URL_KEY} only and would use "
                f"{_DEFAULT_PORT}: write it there, as {name.strip()}:{port}, for all writers"
            )


def _access(conf: Mapping[str, str]) -> Access:
    ours = {key.removeprefix(_OURS): value.strip() for key, value in conf.items() if key.startswith(_OURS)}
    sasl = {name: ours[f"sasl.{name}"] for name in _SASL if ours.get(f"sasl.{name}")}
    if sasl.get("mechanism") not in {None, "DIGEST-MD5", "GSSAPI"} or (sasl and "mechanism" not in sasl):
        raise Contradiction(f"{_OURS}sasl.mechanism={sasl.get('mechanism', '')!r}: expected DIGEST-MD5 or GSSAPI")
    return Access(_tls(conf, ours), sasl, ours.get("digest", ""), _acl(ours.get("acl", "")))


def _tls(conf: Mapping[str, str], ours: Mapping[str, str]) -> Tls | None:
    if not is_set(conf, f"{TLS_KEY}.enabled"):
        return None
    is_verified = is_set(conf, f"{TLS_KEY}.verify", default=True)
    return Tls(
        ca=ours.get("tls.ca", ""),
        certificate=ours.get("tls.certificate", ""),
        key=ours.get("tls.key", ""),
        key_password=ours.get("tls.key.password", ""),
        verifies=is_verified,
        verifies_hostname=is_verified and is_set(conf, f"{TLS_KEY}.verify.hostname", default=True),
    )


def _acl(text: str) -> tuple[Permission, ...]:
    permissions = []
    for entry in filter(None, text.split(",")):
        identity, _, letters = entry.strip().rpartition(":")
        scheme, colon, name = identity.partition(":")
        if not colon or not letters or set(letters) - set(_PERMISSIONS):
            raise Contradiction(f"{_OURS}acl has {entry!r}: expected scheme:id:permissions, as sasl:hudi:cdrwa")
        permissions.append(Permission(scheme, name, sum(_PERMISSIONS[letter] for letter in set(letters))))
    return tuple(permissions)
