"""A Kubernetes of this test session's own: etcd, the API server and the controller manager; no node."""

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from hudi_operator.words import Kind
from tests.cluster.api import Api, path_of
from tests.cluster.namespaces import Inside, Namespaces, Seen
from tests.cluster.operator_process import OperatorProcess
from tests.cluster.parts import kubernetes
from tests.kit import evidence
from tools.harness import HarnessError

HOME: Final = "hudi-operator"  # the namespace that the operator lives in, and the name of its account there
_ROOT: Final = Path(__file__).parents[2]
_RIGHTS: Final = Path(__file__).with_name("rights.yaml")
_ETCD: Final = "http://127.0.0.1:2379"
_PEER: Final = "http://127.0.0.1:2380"
_PORT: Final = 6443
_ADMIN_TOKEN: Final = "admin-of-the-tests"
_LEASE: Final = path_of(HOME, f"lease/{HOME}")
_SECONDS_TO_BE_READY: Final = 120.0


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """The address at which pods reach the API server, and the controllers that run."""

    address: str
    controllers: tuple[str, ...]


WITHOUT_NODES: Final = ControlPlane(
    "127.0.0.1",
    (
        "namespace-controller",
        "garbage-collector-controller",
        "serviceaccount-controller",
        "root-ca-certificate-publisher-controller",
        "job-controller",
        "ttl-after-finished-controller",
    ),
)


class Cluster:
    """Enter it, and it is ready, with our custom resources unless it is `bare`; all of it ends with the block.
    One that has nodes has nothing of ours at all: the chart brings it.

    It is in namespaces of its own, so that any number of clusters get along on one machine; what is to reach its API
    runs in there, too: `run`, `start`, `kubectl`, `operator`.
    """

    api_url: Final = f"https://127.0.0.1:{_PORT}"

    def __init__(self, folder: Path, plane: ControlPlane = WITHOUT_NODES, *, bare: bool = False) -> None:
        self._plane = plane
        self._is_bare = bare
        self.folder = folder
        self.logs = folder / "logs"
        self.kubeconfig = folder / "admin.json"
        self.operator_kubeconfig = folder / "operator.json"
        self._program = kubernetes()
        self._certificate = folder / "api.crt"
        self._key = folder / "api.key"
        self._namespaces = Namespaces()
        self.run = self._namespaces.run
        self.in_network = self._namespaces.in_network
        self.api = Api(lambda: self._namespaces.connect(_PORT), self._certificate, _ADMIN_TOKEN)
        self._operators = 0

    def __enter__(self) -> Self:
        self.logs.mkdir(parents=True)
        evidence.watch("cluster", self.logs)
        self._namespaces.__enter__()
        try:
            self._begin()
        except BaseException:
            self._namespaces.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.api.close()
        self._namespaces.__exit__(kind, error, trace)

    def kubectl(self, *arguments: str | Path, given: str = "") -> str:
        """What it prints as a user with all rights sees it; Refused, with what kubectl says, if it fails."""
        return self.run([self._program, "kubectl", f"--kubeconfig={self.kubeconfig}", *arguments], given)

    def apply(self, manifests: str, *arguments: str) -> str:
        return self.kubectl("apply", *arguments, "-f", "-", given=manifests)

    def start(self, name: str, *command: str | Path, environment: Mapping[str, str] | None = None) -> Inside:
        """A process in there that goes on; what it says is in `logs/NAME.log`."""
        with (self.logs / f"{name}.log").open("ab") as log:
            return self._namespaces.start(command, log, environment)

    def processes(self) -> list[Seen]:
        """Of whatever was started in there, and by these; the cluster's own are left out."""
        return [seen for seen in self._namespaces.processes() if str(self._program) not in seen.arguments]

    def make_namespace(self, name: str) -> None:
        self.api.create("/api/v1/namespaces", {"metadata": {"name": name}})

    def empty_namespace(self, name: str) -> None:
        """None of our resources is left in there, whether their finalizers are heeded or not."""
        for each in (path_of(name, kind) for kind in Kind):
            for found in self.api.listed(each):
                path = f"{each}/{found['metadata']['name']}"
                self.api.delete(path)
                if self.api.find(path):
                    self.api.patch(path, {"metadata": {"finalizers": None}})

    def expire_lease(self) -> None:
        """The Lease of an operator that was killed runs out now: whoever waits for it waits no longer."""
        self.api.patch(_LEASE, {"spec": {"leaseDurationSeconds": 1}})

    @contextmanager
    def operator(
        self, *arguments: str | Path, folder: Path | None = None, pauses: Path | None = None
    ) -> Iterator[OperatorProcess]:
        """`hudi-operator run`, which may do what its account may; stopped at the end of the block if it lives then.

        `folder` is what it keeps its runs in, a new one unless given. With `pauses` its engines are paused ones.
        """
        self._operators += 1
        name = f"operator-{self._operators}"
        state = folder or self.folder / f"{name}-state"
        command = OperatorProcess.command(state, *arguments, pauses=pauses)
        # The engines' working folder is their run's; the paused ones are a module of the tests.
        environment = {"KUBECONFIG": str(self.operator_kubeconfig), **({"PYTHONPATH": str(_ROOT)} if pauses else {})}
        inside = self.start(name, *command, environment=environment)
        running = OperatorProcess(inside, self.logs / f"{name}.log", state)
        try:
            yield running
            # Killed it would keep the Lease, and the next one waiting.
            running.stop()
        finally:
            inside.kill()

    def kill_api(self) -> None:
        """As by `kill -9`; etcd lives on."""
        self._server.kill()
        self.api.close()

    def restart_api(self) -> None:
        """Begins it again, and waits until it is ready."""
        self.kill_api()
        self._start_api()
        self._await_api()

    def _begin(self) -> None:
        self.run([self._program, "certificate", self._certificate, self._key])
        (self.folder / "tokens.csv").write_text(f'{_ADMIN_TOKEN},admin,admin,"system:masters"\n')
        self._write_kubeconfig(self.kubeconfig, _ADMIN_TOKEN)
        self._start_etcd()
        self._start_api()
        self._await_api()
        self._start_controllers()
        if self._plane is WITHOUT_NODES:
            self._install()

    def _install(self) -> None:
        if not self._is_bare:
            self.kubectl("apply", "--server-side", "-f", _ROOT / "crds")
            self.kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all")
        self.kubectl("apply", "-f", _RIGHTS)
        token = self.kubectl("create", "token", HOME, f"--namespace={HOME}", "--duration=12h").strip()
        self._write_kubeconfig(self.operator_kubeconfig, token)

    def _start_etcd(self) -> None:
        self._etcd = self.start(
            *("etcd", self._program, "etcd", f"--data-dir={self.folder / 'etcd'}", "--unsafe-no-fsync"),
            *(f"--listen-client-urls={_ETCD}", f"--advertise-client-urls={_ETCD}"),
            *(f"--listen-peer-urls={_PEER}", f"--initial-advertise-peer-urls={_PEER}"),
            f"--initial-cluster=default={_PEER}",
        )

    def _start_api(self) -> None:
        self._server = self.start(
            *("kube-apiserver", self._program, "kube-apiserver", f"--etcd-servers={_ETCD}"),
            *(f"--advertise-address={self._plane.address}", f"--secure-port={_PORT}"),
            *self._announced(),
            *(f"--tls-cert-file={self._certificate}", f"--tls-private-key-file={self._key}"),
            *(f"--token-auth-file={self.folder / 'tokens.csv'}", "--authorization-mode=RBAC"),
            "--service-account-issuer=https://kubernetes.default.svc",
            *(f"--service-account-key-file={self._key}", f"--service-account-signing-key-file={self._key}"),
            "--service-cluster-ip-range=10.96.0.0/16",
        )

    def _announced(self) -> tuple[str, ...]:
        if self._plane is WITHOUT_NODES:
            # The server would not announce an address of the loopback.
            return "--bind-address=127.0.0.1", "--endpoint-reconciler-type=none"
        return "--bind-address=0.0.0.0", "--kubelet-preferred-address-types=InternalIP"

    def _start_controllers(self) -> None:
        self.start(
            *("kube-controller-manager", self._program, "kube-controller-manager"),
            *(f"--kubeconfig={self.kubeconfig}", f"--service-account-private-key-file={self._key}"),
            *(f"--root-ca-file={self._certificate}", "--leader-elect=false", "--bind-address=127.0.0.1"),
            f"--controllers={','.join(self._plane.controllers)}",
        )

    def _await_api(self) -> None:
        end = time.monotonic() + _SECONDS_TO_BE_READY
        while not self.api.is_ready():
            if time.monotonic() > end or not self._server.is_alive or not self._etcd.is_alive:
                said = (self.logs / "kube-apiserver.log").read_text()[-3000:]
                raise HarnessError(f"the API server is not ready; its log ends with: {said}")
            time.sleep(0.1)

    def _write_kubeconfig(self, file: Path, token: str) -> None:
        authority = base64.b64encode(self._certificate.read_bytes()).decode()
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "tests",
            "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
            "clusters": [
                {"name": "tests", "cluster": {"server": self.api_url, "certificate-authority-data": authority}}
            ],
            "users": [{"name": "tests", "user": {"token": token}}],
        }
        file.write_text(json.dumps(config))
