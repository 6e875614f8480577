"""`hudi-operator local` as users start it, on tables that real Hudi wrote."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.golden.unpack import unpack
from tests.kit.builds import Builds
from tests.kit.eventually import eventually

GOLDEN = "v9_cow_orders"
_ROOT = Path(__file__).parents[2]
_LONGEST_SECONDS = 120.0

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
    builds: Builds = field(init=False)

    def __post_init__(self) -> None:
        self.builds = Builds(self.folder / "pauses", lambda _: self._engines())

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
        program = [sys.executable, "-m", "tests.kit.paused_operator", str(self.builds.folder), "local"]
        options = ("-f", str(self.manifests), "--json", "-v", *options)
        with (self.folder / "said").open("ab") as out, (self.folder / "logs").open("ab") as err:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(_ROOT), *filter(None, sys.path)))}
            begun = subprocess.Popen([*program, *options], stdout=out, stderr=err, env=environment)
        self.sessions.append(begun)
        return begun

    def ended(self, session: subprocess.Popen[bytes]) -> int:
        try:
            return session.wait(_LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the session did not end in {_LONGEST_SECONDS:g} s: {self._last_words()}") from None

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

    def until(self, what: str, look: Callable[[], object]) -> None:
        eventually(what, look, seconds=_LONGEST_SECONDS, told=self._last_words)

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
        for process in (*self._engines(), *self._live("keeper")):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _engines(self) -> Iterator[int]:
        return self._live("engine")

    def _live(self, name: str) -> Iterator[int]:
        for file in self.state.glob(f"runs/*/{name}"):
            with suppress(FileNotFoundError):
                if not (file.parent / "exit").exists():
                    yield process_of(file.parent, name)

    def _last_words(self) -> str:
        return "\n".join(self.said().splitlines()[-30:])


def process_of(run: Path, name: str) -> int:
    """The number of the run's keeper or engine."""
    return int((run / name).read_text().split()[0])
