"""One session of local mode: the loop, the files it follows, and how it ends."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from hudi_operator.decision import Defaults
from hudi_operator.launch.process import ProcessLauncher
from hudi_operator.local.home import FolderHome, Told
from hudi_operator.local.manifests import Found
from hudi_operator.local.row import Row
from hudi_operator.local.screen import Screen
from hudi_operator.local.sources import Signature, Sources
from hudi_operator.metrics import Counts, serve
from hudi_operator.observe import Observer
from hudi_operator.reconcile import HomeError, Loop, Reconciler, Store, Surroundings
from hudi_operator.resources.model import HudiTable, Ref
from hudi_operator.resources.unreadable import Stored
from hudi_operator.words import Kind, Reason

POLL_SECONDS = 1.0
# Runs that are asked to end leave an index that the next session goes on with; a build needs a moment for that.
_ENDING_SECONDS = 25.0
STALLED = 1


class Refused(Exception):
    """The manifests cannot be worked on; the message has a line for each fault."""


@dataclass(frozen=True, slots=True)
class Settings:
    """`stay`: goes on when all is ready, and leaves runs to themselves at the end."""

    sources: Sources
    state: Path
    stay: bool
    metrics_port: int | None


@dataclass(slots=True)
class Session:
    settings: Settings
    screen: Screen
    now: Callable[[], datetime]
    home: FolderHome = field(init=False)
    loop: Loop = field(init=False)
    observer: Observer = field(init=False)
    _rows: dict[Ref, Row] = field(default_factory=dict)
    _is_running: bool = False
    _is_taking: bool = False
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _signals: list[signal.Signals] = field(default_factory=list)
    _signature: Signature | None = None

    def __post_init__(self) -> None:
        settings = self.settings
        self.home = FolderHome(settings.state, Told(self._changed, self._status, self.screen.event))
        self.observer = Observer()
        launcher = ProcessLauncher(settings.state.resolve(), self.home.secret)
        reconciler = Reconciler(Store(), Surroundings(self.home, launcher, self.now, Defaults()))
        self.loop = Loop(reconciler, self.observer, Counts(self.now()))

    async def run(self) -> int:
        """The exit code: 0 ready, 1 stalled, 128 and the signal's number."""
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self._signalled, number)
        try:
            await self._begin()
            if self.settings.metrics_port is None:
                return await self._work()
            async with serve(self.settings.metrics_port, self.loop.store, self.loop.counts) as port:
                self.screen.note(f"metrics: http://localhost:{port}/metrics")
                return await self._work()
        finally:
            await self.observer.close()
            self.home.close()
            self.screen.close()

    async def _begin(self) -> None:
        """All manifests are legal, or nothing is begun."""
        found = self.settings.sources.read()
        if found.faults:
            raise Refused("\n".join(found.faults))
        if not found.manifests:
            raise Refused("no HudiTable, MetadataIndex or TableService is in what -f names")
        for ignored in found.ignored:
            self.screen.note(f"left out: {ignored}")
        self.home.load(self.settings.sources)
        faults = await self._take(found)
        if faults:
            raise Refused("\n".join(faults))
        await self.loop.fill(self.home.all())
        self._is_running = True

    async def _take(self, found: Found) -> list[str]:
        """Faults of changes. Until this is over an index may be there without its table, which comes after it."""
        self._is_taking = True
        try:
            return await self.home.take(found, self.settings.sources, self.now())
        finally:
            self._is_taking = False

    async def _work(self) -> int:
        tasks = [asyncio.create_task(work) for work in (self.loop.run(), self._follow())]
        ending = asyncio.create_task(self._end())
        await asyncio.wait([*tasks, ending], return_when=asyncio.FIRST_COMPLETED)
        # Tasks go on until they are cancelled; one that does not has failed, and says so here.
        for task in tasks:
            if task.done():
                ending.cancel()
                task.result()
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        code = ending.result()
        await self._leave_runs()
        return code

    async def _end(self) -> int:
        is_told = False
        while True:
            self._news.clear()
            if self._signals:
                return 128 + self._signals[0]
            stalled = [
                ref for ref, row in sorted(self._rows.items()) if row.stalled == "True" or self._lacks_table(ref)
            ]
            if stalled and not self.settings.stay:
                self._tell_stalled(stalled)
                return STALLED
            if not is_told and self._is_ready():
                is_told = True
                self.screen.note(f"ready: {len(self._rows)} resources")
                if not self.settings.stay:
                    return 0
            await self._news.wait()

    def _is_ready(self) -> bool:
        """Every resource there is, by what this session decided and not an earlier one, and nothing at work."""
        rows = [self._rows.get(resource.meta.ref) for resource, _ in self.home.all()]
        return not self.loop.store.live_tables() and all(row is not None and row.is_ready for row in rows)

    def _lacks_table(self, ref: Ref) -> bool:
        """Whether it waits for a HudiTable that nobody will create: here there are no others than the files have."""
        held = self.home.held(ref)
        if held is None or isinstance(held[0], HudiTable) or self._is_taking:
            return False
        is_there = self.home.held(Ref(Kind.TABLE, ref.namespace, held[0].table)) is not None
        return self._rows[ref].reason == Reason.TABLE_MISSING and not is_there

    def _tell_stalled(self, stalled: list[Ref]) -> None:
        for ref in stalled:
            row = self._rows[ref]
            where = "; none of the files that -f names has it" if self._lacks_table(ref) else ""
            self.screen.note(f"stalled: {row.name}: {row.reason}: {row.message}{where}")
        runs = self.settings.state / "runs"
        self.screen.note(
            f"what runs said is in {runs}/*/err; after a change of the manifest the same command goes on; "
            "with --stay it does not end at this, and takes the change up by itself"
        )

    def _status(self, resource: Stored, status: Mapping[str, object]) -> None:
        self._rows[resource.meta.ref] = Row.of(resource, status)
        self.screen.status(resource, status)
        self._news.set()

    def _changed(self, ref: Ref) -> None:
        if not self._is_running:
            return
        held = self.home.held(ref)
        if held is not None:
            self.loop.put(*held)
        else:
            self.loop.removed(ref)
            self._rows.pop(ref, None)
            self.screen.gone(ref)
        self._news.set()

    def _signalled(self, number: signal.Signals) -> None:
        self._signals.append(number)
        self._news.set()

    async def _follow(self) -> None:
        """Files that changed are read again, once they have been the same for a moment: a file saved by halves, or
        taken away and put back, is no change."""
        taken = settled = await asyncio.to_thread(self.settings.sources.signature)
        while True:
            await asyncio.sleep(POLL_SECONDS)
            before, settled = settled, await asyncio.to_thread(self.settings.sources.signature)
            # What was decided without a change of status, as that a table's runs have ended.
            self._news.set()
            if settled is None or settled != before or settled == taken:
                continue
            found = await asyncio.to_thread(self.settings.sources.read)
            try:
                faults = await self._take(found)
            except HomeError as failed:
                self.screen.note(f"error: {failed}; tried again")
                continue
            taken = settled
            for fault in [*found.faults, *faults]:
                self.screen.note(f"error: {fault}; what it was stays in force")

    async def _leave_runs(self) -> None:
        """Live runs end cleanly, and their work is kept, unless they are to go on; a second signal does not wait."""
        launcher = self.loop.reconciler.around.launcher
        live = [run.key for run in await launcher.runs() if run.is_live]
        if not live:
            return
        names = ", ".join(run.name for run in live)
        if self.settings.stay:
            self.screen.note(f"these runs go on, and the next session finds them: {names}")
            return
        for run in live:
            await launcher.stop(run)
        self.screen.note(f"ending {names}; the next session goes on with what is done")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ENDING_SECONDS):
                while len(self._signals) < 2 and any(run.is_live for run in await launcher.runs()):
                    await asyncio.sleep(0.2)
