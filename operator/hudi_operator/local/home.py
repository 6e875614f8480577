"""A folder as the home of resources: what an API server keeps of them, in files."""

import asyncio
import logging
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from hudi_operator.launch.protocol import NotStarted
from hudi_operator.local.files import write_whole
from hudi_operator.local.kept import Kept, applied, deleted, faults_of_change, fulfilled
from hudi_operator.local.manifests import Found, SecretRef
from hudi_operator.local.sources import Sources
from hudi_operator.names import FINALIZER
from hudi_operator.reconcile import Event, Gone, HomeError
from hudi_operator.resources.model import HudiTable, Ref, Resource
from hudi_operator.resources.unreadable import Stored

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Told:
    """Who hears of what becomes of resources: of every change, of each status, and of each event."""

    changed: Callable[[Ref], None]
    status: Callable[[Stored, Mapping[str, object]], None]
    event: Callable[[Stored, Event], None]


@dataclass(slots=True)
class FolderHome:
    """STATE/resources/<kind>/<namespace>/<name>.json, STATE/configmaps/…, STATE/secrets/….

    Every change is on disk when a method returns. One process has the folder.
    """

    state: Path
    told: Told
    _kept: dict[Ref, Kept] = field(default_factory=dict)
    _secrets: dict[SecretRef, Mapping[str, bytes]] = field(default_factory=dict)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def load(self, sources: Sources) -> None:
        """What was kept of the resources in these sources; secrets that a crash left are removed. At the start only."""
        shutil.rmtree(self.state / "secrets", ignore_errors=True)
        for file in sorted((self.state / "resources").glob("*/*/*.json")):
            try:
                kept = Kept.from_text(file.read_text())
            except (ValueError, KeyError, TypeError) as odd:
                raise HomeError(f"{file}: not what this program writes ({odd}); put it aside, and start again") from odd
            if sources.covers(kept.manifest.source):
                # Without the state, the first status of this session differs from it, and is written and shown.
                status = {name: value for name, value in kept.status.items() if name != "state"}
                self._kept[kept.ref] = replace(kept, status=status)

    def all(self) -> Iterable[tuple[Resource, dict[str, object]]]:
        return [(kept.resource, dict(kept.status)) for kept in self._kept.values()]

    def held(self, ref: Ref) -> tuple[Resource, dict[str, object]] | None:
        kept = self._kept.get(ref)
        return None if kept is None else (kept.resource, dict(kept.status))

    async def take(self, found: Found, sources: Sources, now: datetime) -> list[str]:
        """The resources are as the files have them now; the faults of changes that may not be.

        What stood in a file that is faulty now stays as it was, and so does what other files hold than were given.
        """
        self._secrets = dict(found.secrets)
        faults = []
        for manifest in found.manifests.values():
            before = self._kept.get(manifest.ref)
            if changes := faults_of_change(manifest, before):
                place = f"{manifest.source}: {manifest.ref.kind} {manifest.ref.namespace}/{manifest.ref.name}"
                faults += [f"{place}: {fault}" for fault in changes]
                continue
            await self._keep(manifest.ref, before, applied(manifest, before, now))
        for ref, kept in list(self._kept.items()):
            source = kept.manifest.source
            if ref not in found.manifests and sources.covers(source) and source not in found.faulty:
                await self._keep(ref, kept, deleted(kept, now))
        return faults

    async def write_status(self, resource: Stored, status: Mapping[str, object]) -> None:
        kept = self._of(resource)
        if kept.status != status:
            await self._write(replace(kept, status=status, version=kept.version + 1))
            self.told.status(resource, status)

    async def set_finalizer(self, resource: Stored, is_wanted: bool) -> None:
        kept = self._of(resource)
        finalizers = (FINALIZER,) if is_wanted else ()
        if kept.finalizers == finalizers:
            return
        changed = replace(kept, finalizers=finalizers, version=kept.version + 1)
        is_over = kept.deleting_since is not None and not is_wanted
        await self._keep(kept.ref, kept, None if is_over else changed)

    async def remove_annotation(self, resource: Stored, name: str) -> None:
        kept = self._of(resource)
        await self._keep(kept.ref, kept, fulfilled(kept, name))

    async def tell(self, resource: Stored, event: Event) -> None:
        self.told.event(resource, event)

    async def write_writer_config(self, table: HudiTable, data: Mapping[str, str]) -> bool:
        """A folder of files, as Kubernetes mounts a ConfigMap."""
        place = self.state / "configmaps" / table.meta.ref.namespace / f"{table.meta.ref.name}-writer"
        for name, text in data.items():
            await self._do(write_whole, place / name, text.encode())
        return True

    async def secret_folder(self, namespace: str, names: Sequence[str]) -> tuple[Path, ...]:
        folders = []
        for name in names:
            entries = self._secrets.get((namespace, name))
            if entries is None:
                raise HomeError(_missing(namespace, name))
            folder = self.state / "secrets" / namespace / name
            await self._do(_write_folder, (folder.parent.parent, folder.parent, folder), entries)
            folders.append(folder)
        return tuple(folders)

    async def secret(self, namespace: str, name: str) -> Mapping[str, bytes]:
        """What a run needs; `NotStarted` if no file given holds it."""
        entries = self._secrets.get((namespace, name))
        if entries is None:
            raise NotStarted(_missing(namespace, name))
        return entries

    def close(self) -> None:
        """No secret is left in the folder."""
        shutil.rmtree(self.state / "secrets", ignore_errors=True)

    def _of(self, resource: Stored) -> Kept:
        kept = self._kept.get(resource.meta.ref)
        if kept is None or kept.uid != resource.meta.uid:
            ref = resource.meta.ref
            raise Gone(f"{ref.kind} {ref.namespace}/{ref.name} is gone")
        return kept

    async def _keep(self, ref: Ref, before: Kept | None, after: Kept | None) -> None:
        if after == before:
            return
        if after is not None:
            await self._write(after)
        else:
            self._kept.pop(ref, None)
            await self._do(self._file(ref).unlink, True)
        self.told.changed(ref)

    async def _write(self, kept: Kept) -> None:
        """In memory at once, so that nobody changes what was there before; taken back if the disk refuses it."""
        before = self._kept.get(kept.ref)
        self._kept[kept.ref] = kept
        try:
            await self._do(write_whole, self._file(kept.ref), kept.file_text().encode())
        except HomeError:
            if before is not None and self._kept.get(kept.ref) is kept:
                self._kept[kept.ref] = before
            raise

    def _file(self, ref: Ref) -> Path:
        return self.state / "resources" / ref.kind.plural / ref.namespace / f"{ref.name}.json"

    async def _do(self, write: Callable[..., object], *arguments: object) -> None:
        """One write after the other, in the order in which they were wanted, and none on the event loop."""
        async with self._writing:
            try:
                await asyncio.to_thread(write, *arguments)
            except OSError as refused:
                raise HomeError(f"the state folder cannot be written: {refused}") from refused


def _write_folder(path: Sequence[Path], entries: Mapping[str, bytes]) -> None:
    """The last folder of the path holds these files and no others; each of the path is private."""
    for each in path:
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = path[-1]
    for key, value in entries.items():
        write_whole(folder / key, value)
    for file in folder.iterdir():
        if file.name not in entries:
            file.unlink()


def _missing(namespace: str, name: str) -> str:
    return f"the Secret {namespace}/{name} is in none of the files given: add a manifest of kind Secret"
