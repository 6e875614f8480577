"""Secrets as folders of files, as Kubernetes mounts them; for those of our processes that run outside of pods."""

import asyncio
import base64
import fcntl
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from hudi_operator.kube.client import Client
from hudi_operator.kube.resources import SECRETS
from hudi_operator.launch.cluster import Address
from hudi_operator.launch.protocol import NotStarted
from hudi_operator.reconcile.home import HomeError
from hudi_operator.resources.tree import Tree

# Who changes a credential waits so long at most until it is used for looks at the table.
_FRESH_SECONDS = 60.0
_PREFIX = "hudi-operator-secrets-"


@dataclass(slots=True)
class SecretFolders:
    """`close` removes them. Nothing of a secret's content is ever in a message.

    They are below a folder of this process in `place`, which it has locked for as long as it lives: `sweep` removes
    those of processes that were killed.
    """

    client: Client
    place: Path = field(default_factory=lambda: Path(gettempdir()))
    _root: Path | None = None
    _lock: int = -1
    _read_at: dict[Path, float] = field(default_factory=dict)

    async def read(self, namespace: str, name: str) -> Mapping[str, bytes]:
        """Its keys and values; `NotStarted` if there is none."""
        found = await self.client.find(Address(SECRETS, namespace, name))
        if found is None:
            raise NotStarted(f"the Secret {namespace}/{name} does not exist")
        return {key: base64.b64decode(value) for key, value in Tree(found).texts("data").items()}

    async def folders(self, namespace: str, names: Sequence[str]) -> tuple[Path, ...]:
        return tuple([await self._folder(namespace, name) for name in names])

    async def sweep(self) -> None:
        """Nothing is left of operators that live no more."""
        await asyncio.to_thread(_sweep, self.place)

    async def close(self) -> None:
        if self._root is not None:
            await asyncio.to_thread(shutil.rmtree, self._root, ignore_errors=True)
            os.close(self._lock)
            self._root = None

    async def _folder(self, namespace: str, name: str) -> Path:
        if self._root is None:
            # Nobody else comes in between: there is one such folder.
            self._root, self._lock = _claimed(self.place)
        folder = self._root / namespace / name
        now = asyncio.get_running_loop().time()
        if folder not in self._read_at or now - self._read_at[folder] > _FRESH_SECONDS:
            try:
                values = await self.read(namespace, name)
            except NotStarted as missing:
                raise HomeError(str(missing)) from missing
            await asyncio.to_thread(_write, folder, values)
            self._read_at[folder] = now
        return folder


def _claimed(place: Path) -> tuple[Path, int]:
    """A folder of our own, and the open file that keeps it locked; one that was swept before it was is none."""
    while True:
        root = Path(mkdtemp(prefix=_PREFIX, dir=place))
        lock = _locked(root)
        if lock is not None and root.exists():
            return root, lock


def _sweep(place: Path) -> None:
    for root in place.glob(f"{_PREFIX}*"):
        lock = _locked(root)
        if lock is not None:
            shutil.rmtree(root, ignore_errors=True)
            os.close(lock)


def _locked(root: Path) -> int | None:
    """None if somebody has it who lives, or if it is gone or another user's."""
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        return None
    return folder


def _write(folder: Path, values: Mapping[str, bytes]) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for gone in {file.name for file in folder.iterdir()} - values.keys():
        (folder / gone).unlink()
    for key, value in values.items():
        if (folder / key).exists() and (folder / key).read_bytes() == value:
            continue
        # Kubernetes lets no key begin with two dots.
        draft = folder / f"..{key}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(value)
        draft.rename(folder / key)
