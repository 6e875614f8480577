"""The operator in a cluster, from its start to its end."""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import kopf

from hudi_operator.decision import Defaults
from hudi_operator.kube.client import Client
from hudi_operator.kube.connection import Connection
from hudi_operator.kube.errors import ApiError, Refused
from hudi_operator.kube.handlers import Watches, settings
from hudi_operator.kube.health import Health, serve_health
from hudi_operator.kube.home import KubernetesHome
from hudi_operator.kube.lease import Lease
from hudi_operator.kube.recorder import Recorder
from hudi_operator.kube.resources import SORTS, resource_of
from hudi_operator.kube.secrets import SecretFolders
from hudi_operator.kube.session import Traffic, new_session
from hudi_operator.launch.cluster import Address, Manifest
from hudi_operator.launch.job import JobLauncher
from hudi_operator.launch.process import ProcessLauncher
from hudi_operator.metrics import Counts, serve
from hudi_operator.observe import ObserverPair
from hudi_operator.reconcile import Loop, Reconciler, Store, Surroundings
from hudi_operator.resources.unreadable import Stored
from hudi_operator.words import Kind

log = logging.getLogger(__name__)

# Whatever watches missed is found so often.
_FULL_PASS_SECONDS = 300.0
_NOT_FOUND = 404
# Told to stop we end within 25 seconds: what is at work, and then the watches.
_WORK_ENDS_SECONDS, _WATCHES_END_SECONDS = 8.0, 8.0


@dataclass(frozen=True, slots=True)
class Options:
    """As `hudi-operator run` has them. Runs are processes in the `state` folder if there is one, else Jobs.

    No `namespaces` are all of them. Without a `lease_namespace` there is no leader.
    """

    namespaces: tuple[str, ...]
    state: Path | None
    defaults: Defaults
    lease_namespace: str | None
    identity: str
    metrics_port: int
    health_port: int


@dataclass(frozen=True, slots=True)
class _Parts:
    """All that is alive while the operator runs."""

    client: Client
    connection: Connection
    lease: Lease | None
    jobs: JobLauncher | None
    loop: Loop
    traffic: Traffic
    health: Health
    namespaces: tuple[str | None, ...]


class WatchesEnded(Exception):
    """Nobody told them to."""


async def operate(connection: Connection, options: Options, now: Callable[[], datetime]) -> None:
    """Until it is told to stop by SIGTERM or SIGINT. Runs go on without it; the next operator finds them.

    `LeaseLost` if another may lead, `WatchesEnded`, `ApiError` if the cluster does not have our kinds.
    """
    stop = asyncio.Event()
    _stop_by_signals(stop)
    # At its end kopf cancels all tasks that are younger than it, and so it ends last.
    async with _watches() as watching, _parts(connection, options, now) as parts:
        await _until(stop, _work(parts, watching, stop))
    log.info("stopped")


def _stop_by_signals(stop: asyncio.Event) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)


@dataclass(slots=True)
class _Watching:
    """kopf, from its start on; `stop` ends it."""

    stop: asyncio.Event
    task: asyncio.Task[None] | None = None

    async def start(self, parts: "_Parts") -> None:
        is_ready = asyncio.Event()
        named = tuple(name for name in parts.namespaces if name is not None)
        self.task = asyncio.create_task(
            kopf.operator(
                registry=Watches(parts.loop, parts.jobs, parts.traffic).registry(parts.connection),
                settings=settings(),
                namespaces=named,
                clusterwide=not named,
                standalone=True,
                ready_flag=is_ready,
                stop_flag=self.stop,
            )
        )
        waiting = asyncio.create_task(is_ready.wait())
        await asyncio.wait((self.task, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    async def ended(self) -> None:
        assert self.task is not None, "started"
        await asyncio.wait((self.task,))
        raise WatchesEnded(f"the watches ended: {self.task.exception() or 'nobody knows why'}")


@asynccontextmanager
async def _watches() -> AsyncIterator[_Watching]:
    watching = _Watching(asyncio.Event())
    try:
        yield watching
    finally:
        watching.stop.set()
        if watching.task is not None:
            await asyncio.wait((watching.task,), timeout=_WATCHES_END_SECONDS)


@asynccontextmanager
async def _parts(connection: Connection, options: Options, now: Callable[[], datetime]) -> AsyncIterator[_Parts]:
    counts, store = Counts(now()), Store()
    traffic = Traffic(counts, now)
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(new_session(connection, traffic))
        lease = None
        if options.lease_namespace is not None:
            lease = Lease(Client(session, connection.server), options.lease_namespace, options.identity, now)
            stack.push_async_callback(lease.release)
        client = Client(session, connection.server, may_write=(lambda: True) if lease is None else lease.is_held)
        secrets = SecretFolders(client)
        stack.push_async_callback(secrets.close)
        await secrets.sweep()
        observer = ObserverPair.of(os.environ)
        stack.push_async_callback(observer.close)
        namespaces = options.namespaces or (None,)
        jobs = JobLauncher(client, options.defaults, namespaces, now) if options.state is None else None
        launcher = jobs or ProcessLauncher(options.state or Path(), secrets.read, policy=options.defaults.policy)
        home = KubernetesHome(client, Recorder(client, now, options.identity), secrets)
        loop = Loop(Reconciler(store, Surroundings(home, launcher, now, options.defaults)), observer, counts)
        health = Health(traffic, loop, is_leading=client.may_write)
        await stack.enter_async_context(serve(options.metrics_port, store, counts))
        await stack.enter_async_context(serve_health(options.health_port, health))
        yield _Parts(client, connection, lease, jobs, loop, traffic, health, namespaces)


async def _work(parts: _Parts, watching: _Watching, stop: asyncio.Event) -> None:
    if parts.lease is not None:
        # A replica that waits for its turn does what it is there for.
        parts.health.is_ready = True
        parts.loop.counts.leads(is_leader=False)
        await parts.lease.acquire()
        parts.loop.counts.leads(is_leader=True)
        parts.health.is_ready = False
    async with asyncio.TaskGroup() as tasks:
        if parts.lease is not None:
            tasks.create_task(parts.lease.keep())
        await _list_jobs(parts)
        await parts.loop.fill([found async for found in _listed(parts)])
        parts.health.is_ready = True
        log.info("listed resources=%d runs=%d", len(parts.loop.store.resources), len(parts.loop.store.runs))
        await watching.start(parts)
        # kopf took the signals for itself.
        _stop_by_signals(stop)
        tasks.create_task(watching.ended())
        tasks.create_task(parts.loop.run())
        tasks.create_task(_pass_over_all(parts))


async def _pass_over_all(parts: _Parts) -> None:
    """Everything is looked at again, whatever events there were."""
    loop = parts.loop
    while True:
        await asyncio.sleep(_FULL_PASS_SECONDS)
        try:
            known = {*loop.store.resources, *loop.store.unreadable}
            listed = [found async for found in _listed(parts)]
            await _list_jobs(parts)
        except ApiError as failed:
            log.warning("full pass not made error=%s", failed)
            continue
        for resource, status in listed:
            loop.put(resource, status)
        for gone in known - {resource.meta.ref for resource, _ in listed}:
            loop.removed(gone)
        loop.runs_changed()


async def _list_jobs(parts: _Parts) -> None:
    if parts.jobs is not None:
        await parts.jobs.list_jobs()


async def _listed(parts: _Parts) -> AsyncIterator[tuple[Stored, Mapping[str, object]]]:
    for kind in Kind:
        for namespace in parts.namespaces:
            for manifest in await _manifests(parts.client, Address(SORTS[kind], namespace)):
                yield resource_of(kind, manifest)


async def _manifests(client: Client, address: Address) -> list[Manifest]:
    try:
        return await client.listed(address)
    except Refused as refused:
        if refused.code == _NOT_FOUND:
            raise Refused(f"the cluster has no {address.sort.plural}: apply the files in crds/ first") from refused
        raise


async def _until(stop: asyncio.Event, work: Awaitable[None]) -> None:
    """The work until it fails, or until it is told to stop and then for a while to end what it is at."""
    working = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    working.cancel()
    await asyncio.wait((working,), timeout=_WORK_ENDS_SECONDS)
    if not working.done() or working.cancelled():
        return
    failed = working.exception()
    if failed is not None and not stop.is_set():
        raise _first(failed)


def _first(failed: BaseException) -> BaseException:
    """What a group of tasks failed by."""
    return _first(failed.exceptions[0]) if isinstance(failed, BaseExceptionGroup) else failed
