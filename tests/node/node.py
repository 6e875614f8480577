"""A node beside the API server of tests/cluster: its pods run."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.cluster.api import path_of
from tests.cluster.kubernetes import Cluster, ControlPlane
from tests.cluster.namespaces import Refused
from tests.kit.eventually import eventually
from tests.node import settings
from tests.node.cgroups import own_cgroup
from tests.node.parts import programs

_OWN: Final = Path(__file__).with_name("own.sh")
_PLANE: Final = ControlPlane(settings.ADDRESS, ("*",))


class Node:
    """Enter it with the images that its pods may have, and the node is ready; all of it ends with the block.

    `cluster` is its API server. What is to reach pods runs in there, too.
    """

    def __init__(self, folder: Path, images: Sequence[Path]) -> None:
        self.cluster = Cluster(folder / "cluster", _PLANE)
        self._folder = folder
        self._images = images

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            self._link_programs()
            # Entered first and so left last: the group is empty when all processes have ended.
            cgroup = undo.enter_context(own_cgroup())
            undo.enter_context(self.cluster)
            self.cluster.run(["sh", _OWN, self._folder, settings.ADDRESS])
            self._write_settings(cgroup)
            self._start_containers()
            self._start_node()
            self._undo = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.__exit__(kind, error, trace)

    def _link_programs(self) -> None:
        # They look for each other by these names.
        (self._folder / "bin").mkdir(parents=True)
        for name, program in programs().items():
            (self._folder / "bin" / name).symlink_to(program)

    def _write_settings(self, cgroup: str) -> None:
        kubeconfig = self.cluster.kubeconfig
        texts = {
            "containerd.toml": settings.containerd(self._folder),
            "cni/10-pods.conflist": settings.network(),
            "kubelet.json": settings.kubelet(self._folder, cgroup),
            "proxy.json": settings.proxy(kubeconfig),
            "Corefile": settings.dns(kubeconfig),
            "resolv.conf": "",
        }
        (self._folder / "cni").mkdir()
        for name, text in texts.items():
            (self._folder / name).write_text(text)

    def _start_containers(self) -> None:
        self._start("containerd", "--config", self._folder / "containerd.toml")
        control: list[str | Path] = [self._folder / "bin" / "ctr", "--address", settings.socket(self._folder)]
        eventually("containerd to answer", lambda: self._answers([*control, "version"]))
        for image in self._images:
            self.cluster.run([*control, "--namespace=k8s.io", "images", "import", image])

    def _answers(self, command: list[str | Path]) -> bool:
        try:
            self.cluster.run(command)
        except Refused:
            return False
        return True

    def _start_node(self) -> None:
        admin = f"--kubeconfig={self.cluster.kubeconfig}"
        self._start("node", "kube-scheduler", admin, "--leader-elect=false", "--bind-address=127.0.0.1")
        self._start(
            *("node", "kubelet", admin, f"--config={self._folder / 'kubelet.json'}"),
            *(f"--root-dir={self._folder / 'kubelet'}", f"--hostname-override={settings.NAME}"),
            f"--node-ip={settings.ADDRESS}",
        )
        self._start("node", "kube-proxy", f"--config={self._folder / 'proxy.json'}")
        self._start("coredns", "-conf", self._folder / "Corefile")
        eventually("the node to be ready", self._is_ready, told=self._kubelet_said)

    def _kubelet_said(self) -> str:
        return (self.cluster.logs / "kubelet.log").read_text()[-3000:]

    def _start(self, program: str, *arguments: str | Path) -> None:
        """Its log has the name of the component."""
        component = str(arguments[0]) if program == "node" else program
        path = f"{self._folder / 'bin'}:{os.environ['PATH']}"
        self.cluster.start(component, self._folder / "bin" / program, *arguments, environment={"PATH": path})

    def _is_ready(self) -> bool:
        """And a pod of the default namespace may have its account."""
        node = self.cluster.api.find(f"/api/v1/nodes/{settings.NAME}") or {}
        conditions = {each["type"]: each["status"] for each in node.get("status", {}).get("conditions", [])}
        is_tainted = bool(node.get("spec", {}).get("taints"))
        account = self.cluster.api.find(path_of("default", "serviceaccount/default"))
        return conditions.get("Ready") == "True" and not is_tainted and account is not None
