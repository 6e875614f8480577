"""The operator as a process in the cluster's namespaces."""

import signal
import sys
from pathlib import Path
from typing import Final

from tests.cluster.namespaces import Inside

OPEN_POLICY: Final = Path(__file__).with_name("open-policy.yaml")
_LONGEST_SECONDS: Final = 120.0


class OperatorProcess:
    def __init__(self, inside: Inside, log: Path, state: Path) -> None:
        self._inside = inside
        self._log = log
        self.state = state

    @staticmethod
    def command(state: Path, *arguments: str | Path, pauses: Path | None = None) -> list[str | Path]:
        program: list[str | Path] = [Path(sys.executable).with_name("hudi-operator")]
        if pauses is not None:
            program = [sys.executable, "-m", "tests.kit.paused_operator", pauses]
        ports = ("--metrics-port", "0", "--health-port", "0")
        return [*program, "run", "--launcher", "process", "--policy", OPEN_POLICY, "--state", state, *ports, *arguments]

    @property
    def pid(self) -> int:
        """Its number on this machine."""
        return self._inside.pid

    @property
    def is_alive(self) -> bool:
        return self._inside.is_alive

    @property
    def said(self) -> str:
        """All that it has logged."""
        return self._log.read_text()

    def kill(self) -> None:
        """As by `kill -9`."""
        self._inside.kill()

    def stop(self) -> int:
        """Asks it to end, and waits for its exit code."""
        self._inside.send(signal.SIGTERM)
        return self._inside.wait(_LONGEST_SECONDS)
