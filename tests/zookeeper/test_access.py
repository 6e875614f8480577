"""Getting in: TLS, SASL and access control lists, on servers that insist."""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from kazoo.client import KazooClient

from hudi_engine.clock import SystemClock
from hudi_engine.concurrency.lock import Lock, lock_of
from hudi_engine.errors import AccessDenied, Contradiction, LockUnreachable
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.table.config import parse_config
from hudi_engine.table.table import Table
from tests.kit.zookeeper_server import ZooKeeperServer, free_port
from tests.zookeeper.locks import owner

OURS = "hudi.engine.zookeeper."
PASSWORD = "store-secret"
SASL = {f"{OURS}sasl.mechanism": "DIGEST-MD5", f"{OURS}sasl.username": "engine", f"{OURS}sasl.password": "right"}


def lock(url: str, conf: Mapping[str, str], wait: str = "15000") -> Lock:
    config = parse_config({"hoodie.table.name": "trips", "hoodie.table.version": "6"})
    clock = SystemClock()
    table = Table(MemoryStorage(clock), config, clock, ZoneInfo("UTC"))
    settings = {
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider",
        "hoodie.write.lock.zookeeper.url": url,
        "hoodie.write.lock.zookeeper.base_path": "/access",
        "hoodie.write.lock.zookeeper.session_timeout_ms": "30000",
        "hoodie.write.lock.zookeeper.connection_timeout_ms": wait,
    }
    return lock_of({**settings, **conf}, table, owner("1"))


def require_usable(lock: Lock) -> None:
    lock.acquire(60)
    lock.require_held()
    lock.release()


def _keytool(*words: str) -> None:
    subprocess.run(["keytool", *words], check=True, capture_output=True)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server's key that trusts itself, and one of the client that the server trusts."""
    folder = tmp_path_factory.mktemp("keys")
    for name, store in (("server", "server.p12"), ("client", "client.p12")):
        in_store = ("-keystore", str(folder / store), "-storepass", PASSWORD, "-alias", name)
        _keytool(
            "-genkeypair", *in_store, "-storetype", "PKCS12", "-keyalg", "EC", "-groupname", "secp256r1",
            "-dname", f"CN={name}", "-ext", "SAN=ip:127.0.0.1", "-validity", "2",
        )  # fmt: skip
        _keytool("-exportcert", *in_store, "-rfc", "-file", str(folder / f"{name}.pem"))
    _keytool(
        "-importcert", "-noprompt", "-keystore", str(folder / "trust.p12"), "-storetype", "PKCS12",
        "-storepass", PASSWORD, "-alias", "client", "-file", str(folder / "client.pem"),
    )  # fmt: skip
    subprocess.run(
        ["openssl", "pkcs12", "-in", folder / "client.p12", "-passin", f"pass:{PASSWORD}", "-nocerts",
         "-passout", "pass:key-secret", "-out", folder / "client.key"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def secure(keys: Path) -> Iterator[str]:
    """The address of a port that speaks TLS only, with clients whose certificates it trusts only."""
    port = free_port()
    options = {
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "ssl.keyStore.location": keys / "server.p12",
        "ssl.keyStore.password": PASSWORD,
        "ssl.trustStore.location": keys / "trust.p12",
        "ssl.trustStore.password": PASSWORD,
    }
    settings = {"secureClientPort": str(port), "secureClientPortAddress": "127.0.0.1"}
    java = tuple(f"-Dzookeeper.{name}={value}" for name, value in options.items())
    with ZooKeeperServer(settings=settings, java_options=java):
        yield f"127.0.0.1:{port}"


def tls(keys: Path) -> dict[str, str]:
    return {
        f"{OURS}tls.enabled": "true",
        f"{OURS}tls.ca": str(keys / "server.pem"),
        f"{OURS}tls.certificate": str(keys / "client.pem"),
        f"{OURS}tls.key": str(keys / "client.key"),
        f"{OURS}tls.key.password": "key-secret",
    }


def test_a_lock_is_had_over_tls_with_certificates_on_both_sides(secure: str, keys: Path) -> None:
    require_usable(lock(secure, tls(keys)))


def test_a_server_whose_certificate_is_for_another_host_is_talked_to_only_if_we_are_told_to(
    secure: str, keys: Path
) -> None:
    elsewhere = secure.replace("127.0.0.1", "localhost")

    with pytest.raises(LockUnreachable, match="agree on TLS"):
        lock(elsewhere, tls(keys), wait="1000").acquire(1)

    require_usable(lock(elsewhere, {**tls(keys), f"{OURS}tls.verify.hostname": "false"}))


@pytest.mark.parametrize("without", ["tls.enabled", "tls.ca", "tls.certificate"])
def test_without_one_of_the_words_there_is_no_session_over_tls(secure: str, keys: Path, without: str) -> None:
    conf = {key: value for key, value in tls(keys).items() if key != f"{OURS}{without}"}

    with pytest.raises(LockUnreachable, match="agree on TLS"):
        lock(secure, conf, wait="1000").acquire(1)


@pytest.fixture(scope="module")
def sasl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that serves nobody who has not proved who they are."""
    users = tmp_path_factory.mktemp("users") / "jaas"
    users.write_text('Server { org.apache.zookeeper.server.auth.DigestLoginModule required user_engine="right"; };')
    java = (
        f"-Djava.security.auth.login.config={users}",
        "-Dzookeeper.authProvider.1=org.apache.zookeeper.server.auth.SASLAuthenticationProvider",
        "-Dzookeeper.sessionRequireClientSASLAuth=true",
    )
    with ZooKeeperServer(java_options=java) as server:
        yield server.address


def test_a_lock_is_had_by_who_proves_by_sasl_who_they_are(sasl: str) -> None:
    require_usable(lock(sasl, SASL))


# kazoo ends its own thread with the server's refusal.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("conf", [{}, {**SASL, f"{OURS}sasl.password": "wrong"}])
def test_who_does_not_prove_who_they_are_is_refused(sasl: str, conf: dict[str, str]) -> None:
    with pytest.raises(AccessDenied, match=r"hudi\.engine\.zookeeper\.sasl") as refused:
        lock(sasl, conf).acquire(3)

    assert "wrong" not in str(refused.value)


def test_nodes_that_we_make_are_whose_the_list_says(server: ZooKeeperServer) -> None:
    acl = "digest:engine:RWvTt9WPL3jSb9f6GY9AM2XL+cs=:cdrwa"
    mine = {f"{OURS}digest": "engine:right", f"{OURS}acl": acl}
    require_usable(lock(server.address, {**mine, "hoodie.write.lock.zookeeper.base_path": "/acl"}))

    with pytest.raises(AccessDenied, match="NoAuthError"):
        lock(server.address, {"hoodie.write.lock.zookeeper.base_path": "/acl"}).acquire(1)

    client = KazooClient(server.address, auth_data=[("digest", "engine:right")])
    client.start()
    try:
        ((entry,), _) = client.get_acls("/acl/trips")
    finally:
        client.stop()
        client.close()
    assert "engine" in str(entry)


@pytest.mark.parametrize(
    "change", [{"tls.ca": "/nowhere/ca.pem"}, {"tls.key": ""}, {"tls.key.password": "wrong"}, {"tls.key.password": ""}]
)
def test_certificates_and_keys_that_cannot_be_used_are_named(keys: Path, change: dict[str, str]) -> None:
    conf = {**tls(keys), **{f"{OURS}{key}": value for key, value in change.items()}}

    with pytest.raises(Contradiction, match=r"hudi\.engine\.zookeeper\.tls\.ca=") as refused:
        lock("127.0.0.1:1", conf).acquire(1)

    assert "wrong" not in str(refused.value)
