"""The settings of a node's parts, as files."""

import json
from pathlib import Path
from typing import Any, Final

ADDRESS: Final = "10.66.0.2"
"""Of the node: what listens there can be reached by pods."""
NAME: Final = "node"
PAUSE: Final = "localhost/pause:1"
PODS: Final = "10.244.0.0/24"

_DOMAIN: Final = "cluster.local"


def containerd(folder: Path) -> str:
    """`folder` has the programs in `bin`.

    Version 1 of control groups without huge pages, and a root that may not raise limits, need the four settings of
    the runtime: otherwise no pod starts.
    """
    return f"""
version = 3
root = "{folder}/containerd/root"
state = "{folder}/containerd/state"
disabled_plugins = ["io.containerd.nri.v1.nri"]
[grpc]
  address = "{socket(folder)}"
[ttrpc]
  address = "{socket(folder)}.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/containerd/opt"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "{PAUSE}"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  disable_apparmor = true
  disable_hugetlb_controller = true
  tolerate_missing_hugetlb_controller = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["{folder}/bin"]
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.cri.v1.runtime".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
        BinaryName = "{folder}/bin/runc"
        SystemdCgroup = false
"""


def socket(folder: Path) -> Path:
    """Of containerd."""
    return folder / "c.sock"


def network() -> str:
    """Pods hang at one bridge, whose address is their way to the node."""
    bridge: dict[str, Any] = {
        "type": "bridge",
        "bridge": "pods",
        "isGateway": True,
        "hairpinMode": True,
        "ipam": {"type": "host-local", "ranges": [[{"subnet": PODS}]], "routes": [{"dst": "0.0.0.0/0"}]},
    }
    return json.dumps({"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge]})


def kubelet(folder: Path, cgroup: str) -> str:
    """Nobody but the tests reaches this kubelet: whoever does may do everything."""
    return json.dumps(
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "failCgroupV1": False,
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": cgroup,
            "oomScoreAdj": 0,
            "featureGates": {"KubeletInUserNamespace": True},
            "containerRuntimeEndpoint": f"unix://{socket(folder)}",
            "address": "0.0.0.0",
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
            "authorization": {"mode": "AlwaysAllow"},
            "clusterDomain": _DOMAIN,
            "clusterDNS": [ADDRESS],
            "resolvConf": str(folder / "resolv.conf"),
            "podLogsDir": str(folder / "pod-logs"),
            "failSwapOn": False,
            "nodeStatusReportFrequency": "30s",
            "imageGCHighThresholdPercent": 100,
            "imageGCLowThresholdPercent": 99,
            # The machine's disk may be nearly full of other things.
            "evictionHard": {"memory.available": "200Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        }
    )


def proxy(kubeconfig: Path) -> str:
    """It leaves the limits of the kernel's table of connections as they are: these are the machine's."""
    nothing = {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"}
    return json.dumps(
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "iptables",
            "hostnameOverride": NAME,
            "clusterCIDR": PODS,
            "clientConnection": {"kubeconfig": str(kubeconfig)},
            "conntrack": nothing,
        }
    )


def dns(kubeconfig: Path) -> str:
    return f"""
.:53 {{
    bind {ADDRESS}
    errors
    kubernetes {_DOMAIN} in-addr.arpa {{
        kubeconfig {kubeconfig} tests
        pods insecure
        ttl 5
    }}
    cache 5
}}
"""
