"""kopf's watches: they tell of objects as they are now, and nothing hangs on any one of them."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import kopf

from hudi_operator.kube.connection import Connection
from hudi_operator.kube.resources import SORTS, resource_of
from hudi_operator.kube.session import Traffic, new_session
from hudi_operator.launch.cluster import JOBS, PODS, Manifest, Sort
from hudi_operator.launch.job import OURS, PODS_OF_OURS, JobLauncher
from hudi_operator.launch.job_sight import uid_of
from hudi_operator.reconcile import Loop
from hudi_operator.resources.model import Ref
from hudi_operator.resources.tree import Tree
from hudi_operator.words import GROUP, Kind

# The server ends a watch after so long, and it is begun anew.
WATCH_SECONDS = 240


@dataclass(frozen=True, slots=True)
class Watches:
    """`jobs` is None where runs are not Jobs."""

    loop: Loop
    jobs: JobLauncher | None
    traffic: Traffic

    def registry(self, connection: Connection) -> kopf.OperatorRegistry:
        registry = kopf.OperatorRegistry()

        async def login(**_: object) -> kopf.AiohttpSession:
            # A new one each time: kopf closes it at its end, and when the server no longer knows us by it.
            return kopf.AiohttpSession(server=connection.server, aiohttp_session=new_session(connection, self.traffic))

        kopf.on.login(registry=registry)(login)
        for kind in Kind:
            self._watch(registry, SORTS[kind], self._resource_handler(kind))
        if self.jobs is not None:
            self._watch(registry, JOBS, self.job)
            self._watch(registry, PODS, self.pod)
        return registry

    def _watch(self, registry: kopf.OperatorRegistry, sort: Sort, saw: Callable[[Manifest, bool], None]) -> None:
        group, _, version = sort.group_version.rpartition("/")
        self.traffic.expect(sort.plural)

        async def handler(event: kopf.RawEvent, **_: object) -> None:
            self.traffic.note_heard(sort.plural)
            saw(cast(Manifest, event["object"]), event["type"] == "DELETED")

        kopf.on.event(group=group, version=version, plural=sort.plural, id=sort.plural, registry=registry)(handler)

    def _resource_handler(self, kind: Kind) -> Callable[[Manifest, bool], None]:
        return lambda manifest, is_gone: self.resource(kind, manifest, is_gone)

    def resource(self, kind: Kind, manifest: Manifest, is_gone: bool) -> None:
        """An event that is older than what is known of the same object is passed by."""
        meta = Tree(manifest).within("metadata")
        ref = Ref(kind, meta.text("namespace"), meta.text("name"))
        known = self.loop.store.meta(ref)
        is_same = known is not None and known.uid == meta.text("uid")
        if is_gone:
            if is_same:
                self.loop.removed(ref)
            return
        if known is not None and is_same and _number(meta) < _as_number(known.resource_version):
            return
        self.loop.put(*resource_of(kind, manifest))

    def job(self, manifest: Manifest, is_gone: bool) -> None:
        if self.jobs is None:
            return
        if is_gone:
            self.jobs.lost(uid_of(manifest))
        else:
            self.jobs.saw(manifest)
        self.loop.runs_changed()

    def pod(self, manifest: Manifest, is_gone: bool) -> None:
        """A pod that is gone is told of as it was last, with the engine's report."""
        if self.jobs is not None and self.jobs.saw_pod(manifest):
            self.loop.runs_changed()


def settings() -> kopf.OperatorSettings:
    """No progress, no diffs and no finalizers of kopf's own: nothing of it is written into any object."""
    chosen = kopf.OperatorSettings()
    chosen.posting.enabled = False
    chosen.peering.standalone = True
    chosen.scanning.disabled = True
    chosen.watching.server_timeout = WATCH_SECONDS
    chosen.watching.client_timeout = WATCH_SECONDS + 60
    chosen.watching.connect_timeout = 10
    chosen.watching.chunk_size = 500
    chosen.watching.label_selectors["batch", "v1", "jobs"] = OURS
    chosen.watching.label_selectors["", "v1", "pods"] = PODS_OF_OURS
    chosen.networking.request_timeout = 30
    chosen.networking.error_backoffs = (1, 1, 2, 3, 5, 8, 13, 21)
    chosen.queueing.idle_timeout = 1.0
    chosen.process.ultimate_exiting_timeout = 25
    # None of ours: kopf takes its finalizer off every object for which it has no handler of deletions.
    chosen.persistence.finalizer = f"{GROUP}/kopf"
    return chosen


def quieten_kopf() -> None:
    """It tells of every event that it handled; we tell of what follows from them."""
    logging.getLogger("kopf").setLevel(logging.WARNING)


def _number(meta: Tree) -> int:
    return _as_number(meta.text_or("resourceVersion", ""))


def _as_number(version: str) -> int:
    return int(version) if version.isdecimal() else 0
