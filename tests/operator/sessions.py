"""`hudi-operator local` as users start it, on tables that real Hudi wrote."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.golden.unpack import unpack

GOLDEN = "v9_cow_orders"
_PATIENCE_SECONDS = 240

TABLE = """
apiVersion: hudi-operator.dev/v1alpha1
kind: HudiTable
metadata: {{name: orders}}
spec:
  basePath: {path}
  concurrency: {{mode: SingleWriter}}
"""
INDEX = """
apiVersion: hudi-operator.dev/v1alpha1
kind: MetadataIndex
metadata: {name: orders-keys}
spec:
  tableRef: {name: orders}
  indexType: RecordIndex
"""
BLOOMS = INDEX.replace("orders-keys", "orders-blooms").replace("RecordIndex", "BloomFilters")
_SECONDARY = INDEX.replace("RecordIndex", "SecondaryIndex")
BY_NOTE = _SECONDARY.replace("orders-keys", "orders-by-note") + "  columns: [note]\n"
BY_NOWHERE = _SECONDARY.replace("orders-keys", "orders-by-nowhere") + "  columns: [nowhere]\n"
SERVICE = """
apiVersion: hudi-operator.dev/v1alpha1
kind: TableService
metadata: {name: orders-validate}
spec:
  tableRef: {name: orders}
  type: Validate
  runToken: first
"""


@dataclass(slots=True)
class Place:
    """A table, a folder of manifests, and what local mode keeps beside them."""

    folder: Path
    sessions: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @staticmethod
    def made(folder: Path) -> "Place":
        place = Place(folder)
        unpack(GOLDEN, folder)
        place.manifests.mkdir()
        place.write("table.yaml", TABLE.format(path=place.table))
        return place

    @property
    def table(self) -> Path:
        return self.folder / GOLDEN

    @property
    def manifests(self) -> Path:
        return self.folder / "manifests"

    @property
    def state(self) -> Path:
        return self.manifests / ".hudi-operator"

    def write(self, name: str, text: str) -> None:
        (self.manifests / name).write_text(text)

    def begin(self, *options: str) -> subprocess.Popen[bytes]:
        """A session; what it says is in the folder's `said`."""
        program = [sys.executable, "-m", "hudi_operator.main", "local", "-f", str(self.manifests), "--json", "-v"]
        with (self.folder / "said").open("ab") as out, (self.folder / "logs").open("ab") as err:
            paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            begun = subprocess.Popen([*program, *options], stdout=out, stderr=err, env={**os.environ, **paths})
        self.sessions.append(begun)
        return begun

    def ended(self, session: subprocess.Popen[bytes]) -> int:
        try:
            return session.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the session did not end: {self.said()[-3000:]}") from None

    def said(self) -> str:
        return "".join((self.folder / name).read_text() for name in ("said", "logs") if (self.folder / name).exists())

    def lines(self) -> list[Mapping[str, object]]:
        return [json.loads(line) for line in (self.folder / "said").read_text().splitlines()]

    def runs(self, action: str) -> list[Path]:
        """The records of the runs with that action, the oldest first."""
        orders = sorted(
            self.state.glob("runs/*/order.json"), key=lambda file: json.loads(file.read_text())["created_ms"]
        )
        wanted = f'"action": "{action}"'
        return [order.parent for order in orders if wanted in json.loads(order.read_text())["request"]]

    def kinds(self) -> list[list[str]]:
        """What the build runs were for, the oldest first."""
        orders = (json.loads((run / "order.json").read_text()) for run in self.runs("build"))
        return [json.loads(order["request"])["kinds"] for order in orders]

    def resource(self, kind: str, name: str) -> dict[str, object] | None:
        file = self.state / "resources" / kind / "default" / f"{name}.json"
        try:
            found: dict[str, object] = json.loads(file.read_text())
        except FileNotFoundError:
            return None
        return found

    def is_ready(self, kind: str, name: str) -> bool:
        found = self.resource(kind, name)
        status = {} if found is None else found["status"]
        assert isinstance(status, dict)
        return any(each["type"] == "Ready" and each["status"] == "True" for each in status.get("conditions", ()))

    def until(self, what: str, is_so: Callable[[], object]) -> None:
        ends = time.monotonic() + _PATIENCE_SECONDS
        while not is_so():
            assert time.monotonic() < ends, f"never so: {what}; {self.said()[-3000:]}"
            time.sleep(0.05)

    def index_state(self, name: str = "record_index") -> str:
        """As the engine's own command sees it."""
        command = [sys.executable, "-m", "hudi_engine.cli.main", "index", "status", str(self.table), "--json"]
        told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        return next((index["state"] for index in told["indexes"] if index["index"] == name), "absent")

    def close(self) -> None:
        """Nothing that was begun here is left."""
        for session in self.sessions:
            session.kill()
            session.wait()
        for file in [*self.state.glob("runs/*/keeper"), *self.state.glob("runs/*/engine")]:
            if not (file.parent / "exit").exists():
                try:
                    os.kill(int(file.read_text().split()[0]), signal.SIGKILL)
                except (FileNotFoundError, ProcessLookupError):
                    continue


def process_of(run: Path, name: str) -> int:
    """The number of the run's keeper or engine."""
    return int((run / name).read_text().split()[0])
