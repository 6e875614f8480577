"""A process in the root of an image, as a kubelet starts it in a `restricted` namespace."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.kit.base_image import done

# The root is read-only. /tmp is the one volume. A kubelet mounts hosts and resolv.conf, too.
_SCRIPT: Final = """
mount --bind "$ROOT" "$ROOT"
mount -o remount,bind,ro "$ROOT"
mount --bind "$VOLUME" "$ROOT/tmp"
mount --bind /etc/hosts "$ROOT/etc/hosts"
mount --bind /etc/resolv.conf "$ROOT/etc/resolv.conf"
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
exec chroot "$ROOT" "$@"
"""
_NO_RIGHTS: Final = ("--clear-groups", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all")
_LONGEST_SECONDS: Final = 240


@dataclass(frozen=True, slots=True)
class User:
    """`gid` is 0 for each of them, as OpenShift has it."""

    uid: int
    gid: int = 0


@dataclass(frozen=True, slots=True)
class Container:
    """An image, unpacked. `config` is what the image says of user, environment and entry point."""

    root: Path
    config: Mapping[str, Any]

    def run(self, user: User, volume: Path, *command: str) -> "subprocess.CompletedProcess[str]":
        """Run the image's entry point with this command. `volume` is its /tmp, which every user may write to."""
        return self.run_plain(user, volume, *self.config["Entrypoint"], *command)

    def run_plain(self, user: User, volume: Path, *command: str) -> "subprocess.CompletedProcess[str]":
        """Run this command without the entry point, as a pod with a `command` does."""
        words = ["env", "-i", *self.config["Env"], "SPARK_LOCAL_IP=127.0.0.1", *command]
        volume.chmod(0o1777)
        rights = ("setpriv", f"--reuid={user.uid}", f"--regid={user.gid}", *_NO_RIGHTS)
        return subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "sh", "-ec", _SCRIPT, "sh", *rights, *words],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "ROOT": str(self.root), "VOLUME": str(volume)},
            capture_output=True,
            text=True,
            timeout=_LONGEST_SECONDS,
            check=False,
        )


def unpack_image(name: str) -> Container:
    """The image of buildah's store, as a working container whose root this machine sees."""
    working = done("buildah", "from", "--pull-never", name).strip()
    root = Path(done("buildah", "mount", working).strip())
    return Container(root, json.loads(done("buildah", "inspect", "--type", "image", name))["OCIv1"]["config"])
