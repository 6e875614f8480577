"""A connection to one ZooKeeper server. kazoo's own way to make one keeps a socket open when TLS fails."""

import socket
import ssl

from hudi_engine.concurrency.zookeeper_settings import TLS_KEY, Tls
from hudi_engine.errors import Contradiction


class Linker:
    """Makes connections, in the place of kazoo's: over TLS if there is to be any, and none that takes too long."""

    def __init__(self, tls: Tls | None, wait_seconds: float) -> None:
        self._wait_seconds = wait_seconds
        self._context = None if tls is None else _context(tls)

    def __call__(self, address: tuple[str, int], *, hostname: str, **others: object) -> socket.socket:
        link = socket.create_connection(address, self._wait_seconds)
        try:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            return link if self._context is None else self._context.wrap_socket(link, server_hostname=hostname)
        except BaseException:
            link.close()
            raise


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = tls.verifies_hostname
    context.verify_mode = ssl.CERT_REQUIRED if tls.verifies else ssl.CERT_NONE
    try:
        if tls.ca:
            context.load_verify_locations(tls.ca)
        if tls.certificate:
            # Without the empty word OpenSSL would ask for one on the terminal.
            context.load_cert_chain(tls.certificate, tls.key or None, lambda: tls.key_password)
    except OSError as wrong:
        found = wrong.strerror or wrong
        raise Contradiction(
            f"{TLS_KEY}.ca={tls.ca}, .certificate={tls.certificate} and .key={tls.key}: {found}; expected files of "
            "certificates and a key, PEM, and the key's password if it has one"
        ) from wrong
    return context
