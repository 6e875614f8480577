"""A real ZooKeeper, the one among PySpark's own jars, on a free port of the loopback.

    with ZooKeeperServer() as server:
        server.address  # "127.0.0.1:34567"

Stopped, killed, paused and restarted by its process id alone; what it stored survives a restart.
"""

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import pyspark

from tests.kit import evidence
from tools.harness import HarnessError

_JARS = Path(next(iter(pyspark.__path__)), "jars")
_NEEDED = (
    "zookeeper-3*", "zookeeper-jute-*", "slf4j-api-*", "log4j-slf4j2-impl-*", "log4j-api-*", "log4j-core-*",
    "netty-*", "metrics-core-*", "commons-cli-*", "snappy-java-*",
)  # fmt: skip
_JAVA = (
    "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.admin.enableServer=false",
    "-Dzookeeper.4lw.commands.whitelist=*", "-Dlog4j2.level=WARN", "-Djava.net.preferIPv4Stack=true",
)  # fmt: skip
_LONGEST_START_SECONDS = 60
_LONGEST_STOP_SECONDS = 20


class ZooKeeperServer:
    """One server alone. `tick_ms` bounds session timeouts: from two ticks to twenty."""

    def __init__(
        self, tick_ms: int = 200, settings: Mapping[str, str] | None = None, java_options: tuple[str, ...] = ()
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="zookeeper-")
        self.folder = Path(self._folder.name)
        self.port = free_port()
        self._log = self.folder / "log"
        evidence.watch("ZooKeeper", self._log)
        self._java_options = java_options
        lines = {
            "tickTime": tick_ms,
            "dataDir": self.folder / "data",
            "clientPort": self.port,
            "clientPortAddress": "127.0.0.1",
            "maxClientCnxns": 0,
            **(settings or {}),
        }
        (self.folder / "conf").write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        """Returns when it answers."""
        jars = [str(jar) for pattern in _NEEDED for jar in _JARS.glob(f"{pattern}.jar")]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                ["java", *_JAVA, *self._java_options, "-cp", os.pathsep.join(jars),
                 "org.apache.zookeeper.server.ZooKeeperServerMain", str(self.folder / "conf")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
            )  # fmt: skip
        until = time.monotonic() + _LONGEST_START_SECONDS
        while "Mode: standalone" not in self.ask("srvr"):
            if self._process.poll() is not None or time.monotonic() > until:
                self.stop()
                said = self._log.read_text(errors="replace")[-3000:]
                raise HarnessError(f"ZooKeeper did not start on port {self.port}; its log ends with: {said}")
            time.sleep(0.05)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """As a machine that fails: its clients hear nothing but a closed connection."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    def pause(self) -> None:
        """It keeps its connections and answers nothing until `resume`."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def ask(self, word: str) -> str:
        """The answer to a four-letter word; empty if there is none."""
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=2) as link:
            link.sendall(word.encode())
            return b"".join(iter(lambda: link.recv(4096), b"")).decode()
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._folder.cleanup()

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None, "not started"
        self._process.send_signal(number)

    def _end(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGCONT)
            self._process.send_signal(number)
        try:
            self._process.wait(timeout=_LONGEST_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
