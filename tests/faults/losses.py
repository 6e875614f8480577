"""Ways to lose the lock, and the places of a build where it is lost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tests.faults.killed_builds import BASE_IS_READ
from tests.java.live import Scene
from tests.java.remains import content
from tests.kit.engine import RECORD_INDEX, Ended, Engine, Pause
from tests.kit.zookeeper_proxy import Network
from tests.kit.zookeeper_server import ZooKeeperServer

FAULTS: Final = ("expired", "cut", "stopped")
_LOCK_LOST: Final = 23
_COMMIT: Final = r"^create \.hoodie/metadata/\S*/\d{17}_\d{17}\.deltacommit$"


def _inside(on: str, after: str = "", at: int = 1) -> Pause:
    return Pause("inside", f"^{on}$", at, "stop", after)


# Right after the lock was taken (`entered`), or right before the engine asks for the last time whether it is held.
_BUILD: Final = {
    ("schedule", "entered"): _inside("acquired"),
    ("schedule", "asked"): _inside("asked"),
    ("take over", "entered"): _inside("acquired", r"^create .*\.indexing\.requested$"),
    ("take over", "asked"): _inside("asked", r"^create .*\.indexing\.requested$"),
    ("publish", "entered"): _inside("acquired", r"^create .*\.log\.1_0-0-0$"),
    ("publish", "asked"): _inside("asked", r"\.hoodie_partition_metadata$"),
    ("flag", "asked"): _inside("asked", _COMMIT),
    ("catch up", "entered"): _inside("acquired", "^catch up$"),
    ("catch up", "asked"): _inside("asked", r"^create .*\.log\.1_0-[1-9]"),
    ("complete", "entered"): _inside("acquired", "^caught up$"),
    ("complete", "asked"): _inside("asked", "^caught up$"),
    ("complete the instant", "asked"): _inside("asked", "^caught up$", 3),
}
_REMOVAL: Final = {("remove", since): _inside(on) for since, on in (("entered", "acquired"), ("asked", "asked"))}
PLACES: Final = {**_BUILD, **_REMOVAL}


@dataclass(frozen=True, slots=True)
class Loss:
    """The lock is lost by a fault in a critical section, since the engine entered it or since it last asked."""

    section: str
    fault: str
    since: str

    def __str__(self) -> str:
        return f"{self.section}, {self.fault} since {self.since}"

    @property
    def pause(self) -> Pause:
        return PLACES[self.section, self.since]


class Servers:
    """One ZooKeeper for the writer, which the engine reaches through a network that breaks."""

    def __init__(self, server: ZooKeeperServer, network: Network) -> None:
        self._server = server
        self._network = network

    def engines_options(self, scene: Scene) -> dict[str, str]:
        host_and_port = self._network.address
        return {
            **scene.options,
            "hoodie.write.lock.zookeeper.url": host_and_port,
            "hoodie.write.lock.zookeeper.port": host_and_port.rpartition(":")[2],
        }

    def fail(self, fault: str, scene: Scene, engine: Engine) -> Callable[[], None]:
        """The engine, which sleeps, loses its lock or its way to it, now; the answer is how to mend that."""
        match fault:
            case "expired":
                scene.expire_session(engine)
                scene.commit()
                return lambda: None
            case "cut":
                self._network.cut()
                return self._network.heal
            case _:
                self._server.kill()
                return self._server.start


def require_nothing_changed_without_lock(
    scene: Scene, servers: Servers, loss: Loss, asked: Sequence[str] = RECORD_INDEX, verb: str = "build"
) -> None:
    """The engine loses its lock there, says so, and leaves everything as others have made it."""
    pauses = [BASE_IS_READ, loss.pause]
    with Engine(scene.folder, servers.engines_options(scene), pauses, asked=asked, verb=verb) as engine:
        while (name := engine.pauses_first("base", "inside")) == "base":
            scene.commit()
            engine.go_on("base")
        assert name == "inside", f"it ended before {loss}: {engine.end()}"
        mend = servers.fail(loss.fault, scene, engine)
        before = content(scene.folder)
        engine.go_on("inside")
        ended = engine.end()
        after = content(scene.folder)
        mend()
        scene.expire_session(engine)  # else the next one waits for the lock until the server does that
    _require_lock_lost(ended, loss)
    assert after == before


def _require_lock_lost(ended: Ended, loss: Loss) -> None:
    assert (ended.code, ended.report["retry"]) == (_LOCK_LOST, True), (loss, ended)
    assert "Nothing was published since" in ended.report["reason"]
