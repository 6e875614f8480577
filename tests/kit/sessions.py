"""Sessions of ZooKeeper that end when a test wants them to."""

from dataclasses import dataclass

from kazoo.client import KazooClient


@dataclass(frozen=True, slots=True)
class Session:
    """What a client shows to a server to go on with its session over another connection."""

    number: int
    password: bytes


def expire(address: str, session: Session) -> None:
    """Ends another client's session, as the server does when it runs out: by a second client that closes it."""
    client = KazooClient(address, client_id=(session.number, session.password))
    client.start()
    client.stop()
    client.close()
