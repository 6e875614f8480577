"""Runs as processes of this machine, each with a folder as its record: for local mode, and for tests of all else."""

import asyncio
import contextlib
import errno
import logging
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from hudi_engine.contract import Grant, Malformed
from hudi_operator.launch import keeper
from hudi_operator.launch.keeper import LOCK
from hudi_operator.launch.protocol import NameConflict, NotStarted, SecretReader
from hudi_operator.launch.records import RunFolder, order_text, write_secrets
from hudi_operator.launch.sight import sight_of
from hudi_operator.policy import Policy, scrubbed
from hudi_operator.runs import RunKey, RunOrder, RunSeen

log = logging.getLogger(__name__)

ENGINE = (sys.executable, "-P", "-m", "hudi_engine.cli.main")
"""The engine's command line, of the Python that runs us: there is no other that is sure to have it."""
_DRAFTS_LIVE_SECONDS = 60.0
_TERMINATED = 128 + signal.SIGTERM


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a run may take, and from being asked to end until it is made to; where its order does not say."""

    deadline_seconds: int = 86_400
    grace_seconds: int = 60


@dataclass(slots=True)
class ProcessLauncher:
    """Never two living processes of one run, whoever is killed when, and however many launchers share the folder.

    The state folder is on a disk of this machine. A run's folder appears in one step with its order in it (it is made
    under another name and renamed), so whoever comes second finds the first's order. To start its process, a launcher
    takes the folder's lock without waiting, sees under it that no `keeper`, `exit` or `lost` is there, and hands the
    open lock file to the keeper, which hands it to the engine: the kernel frees such a lock when the last process that
    has it ends, no sooner and no later, so *held* is *alive or about to be* and needs no clock and no process number.

    * Two launchers at once: one gets the lock; the other goes away, for somebody is at it.
    * Killed before the folder appeared: nothing happened; leftovers under the other name are swept.
    * Killed between folder and process: the lock is free and `keeper` absent. Given again, the order starts; if nobody
      does so for ten seconds, `lost` is written under the lock. A launcher that had slept in between finds it, or
      holds the lock and cannot be given up on.
    * Killed after the keeper got the lock: the run goes on. The keeper writes `keeper` before it starts the engine, so
      an engine that ever lived leaves that file, and the order is never started again.
    * The keeper is killed: the engine still holds the lock; the run is live until the engine ends, too.
    * The machine goes down: no lock is held, `keeper` is there and `exit` is not: lost.

    A process is signalled only while its run's lock is held and it began when it says that it did.
    """

    state: Path
    secrets: SecretReader
    timing: Timing = Timing()
    command: tuple[str, ...] = (*ENGINE, "run")
    policy: Policy | None = None
    _children: list[int] = field(default_factory=list)
    _ended: dict[str, tuple[int, RunSeen]] = field(default_factory=dict)
    _unreadable: set[str] = field(default_factory=set)

    async def start(self, order: RunOrder) -> None:
        folder = self._folder(order.name)
        if await asyncio.to_thread(self._is_there, folder, order):
            return
        secrets = {name: await self.secrets(order.owner.namespace, name) for name in order.secrets}
        await asyncio.to_thread(self._start, folder, order, secrets)

    async def runs(self) -> Sequence[RunSeen]:
        return await asyncio.to_thread(self._runs)

    async def stop(self, run: RunKey) -> None:
        await asyncio.to_thread(self._stop, self._folder(run.name), run)

    async def forget(self, run: RunKey) -> None:
        await asyncio.to_thread(self._forget, self._folder(run.name), run)

    @property
    def _place(self) -> Path:
        return self.state / "runs"

    def _folder(self, name: str) -> RunFolder:
        if not name or name != os.path.basename(name) or name.startswith("."):
            raise ValueError(f"a run cannot be called {name!r}: it is the name of a folder")
        return RunFolder(self._place / name)

    def _is_there(self, folder: RunFolder, order: RunOrder) -> bool:
        """Whether the run is beyond being started; refused if it is not the owner's."""
        try:
            ordered = folder.ordered()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as refused:
            raise NotStarted(_told(refused, folder)) from refused
        except Malformed as foreign:
            raise NameConflict(f"{folder.path}: not a record of a run ({foreign}): look at it and remove it") from None
        if ordered.owner_uid != order.owner_uid:
            owner = ordered.owner
            raise NameConflict(
                f"the run {order.name} exists and is of {owner.kind} {owner.namespace}/{owner.name} "
                f"with uid {ordered.owner_uid}, not of uid {order.owner_uid}: remove {folder.path} if that is gone"
            )
        return not folder.is_unbegun

    def _start(self, folder: RunFolder, order: RunOrder, secrets: Mapping[str, Mapping[str, bytes]]) -> None:
        try:
            self._place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not folder.create(order_text(order, time.time_ns() // 1_000_000)) and self._is_there(folder, order):
                return
            with folder.held() as lock:
                if lock is not None and folder.is_unbegun:
                    self._spawn(folder, order, secrets, lock)
        except OSError as refused:
            raise NotStarted(_told(refused, folder)) from refused
        except (Malformed, ValueError) as refused:
            raise NotStarted(f"the run {order.name} cannot be started: {refused}") from refused

    def _spawn(self, folder: RunFolder, order: RunOrder, secrets: Mapping[str, Mapping[str, bytes]], lock: int) -> None:
        """The keeper, which has the lock from now on; if it cannot be started, nothing is left of the run."""
        try:
            folder.remove_secrets()
            grant = self._grant(order)
            request = replace(
                order.request,
                grant=grant,
                report_path=str(folder.path / "report.json"),
                progress_path=str(folder.path / "progress.json"),
                conf_from=write_secrets(folder.path / "secrets", secrets) if secrets else (),
            ).to_json()
            # A run of somebody else's table has nothing of ours by which it could be taken for us.
            environment = os.environ if grant is None or grant.has_identity else scrubbed(os.environ)
            command = [*self._keeper(folder, order), *self.command, request]
            keeping = _spawned(command, environment, folder, lock)
        except (OSError, ValueError):
            folder.remove()
            raise
        self._children.append(keeping)
        log.info("run started: name=%s process=%d", order.name, keeping)

    def _grant(self, order: RunOrder) -> Grant | None:
        """What the run may open; no limit without a policy."""
        if self.policy is None:
            return None
        namespace, base_path = order.owner.namespace, order.request.table
        grant = self.policy.grant(namespace, base_path)
        if grant is None:
            raise ValueError(self.policy.why_closed(namespace, base_path))
        return grant

    def _keeper(self, folder: RunFolder, order: RunOrder) -> list[str]:
        deadline = order.execution.active_deadline_seconds or self.timing.deadline_seconds
        grace = order.execution.termination_grace_period_seconds or self.timing.grace_seconds
        # Neither the user's settings nor site packages are of use to it, and they weigh.
        return [sys.executable, "-I", "-S", keeper.__file__, str(folder.path), str(deadline), str(grace)]

    def _runs(self) -> list[RunSeen]:
        for child in tuple(self._children):
            # Others may start and bury meanwhile: nothing is done to the list but to add one and to take one away.
            if _is_buried(child):
                with contextlib.suppress(ValueError):
                    self._children.remove(child)
        try:
            names = os.listdir(self._place)
        except FileNotFoundError:
            return []
        self._ended = {name: self._ended[name] for name in self._ended.keys() & names}
        self._sweep(name for name in names if name.startswith("."))
        seen = (self._seen(name) for name in sorted(names) if not name.startswith("."))
        return [run for run in seen if run is not None]

    def _seen(self, name: str) -> RunSeen | None:
        folder = RunFolder(self._place / name)
        try:
            made = (folder.path / "order.json").stat().st_mtime_ns
            known = self._ended.get(name)
            if known is not None and known[0] == made:
                return known[1]
            seen = sight_of(folder, datetime.now(UTC)).in_printable_words
        except (FileNotFoundError, NotADirectoryError, Malformed) as unreadable:
            # Forgotten just now, or none of ours: the other runs are seen all the same.
            if isinstance(unreadable, Malformed) and name not in self._unreadable:
                self._unreadable.add(name)
                log.warning("not the record of a run: folder=%s: %s", folder.path, unreadable)
            return None
        if not seen.is_live:
            self._ended[name] = (made, seen)
        elif seen.is_stopping:
            self._stop_orphan(folder)
        return seen

    def _sweep(self, drafts: Iterable[str]) -> None:
        """What was begun or removed by halves, once nobody can be at it any more."""
        for draft in drafts:
            path = self._place / draft
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _DRAFTS_LIVE_SECONDS:
                    shutil.rmtree(path)

    def _stop(self, folder: RunFolder, run: RunKey) -> None:
        if not _is_of(folder, run):
            return
        if not folder.has("stop"):
            # Before any process is looked for: a keeper that begins just now looks for this file.
            folder.write("stop", str(time.time()))
        if folder.is_unbegun:
            with folder.held() as lock:
                if lock is not None and folder.is_unbegun:
                    folder.write("exit", f"{_TERMINATED} {time.time()}")
        keeping = folder.process("keeper")
        if keeping is not None and keeping.is_itself and folder.is_held:
            log.info("run asked to end: name=%s process=%d", folder.path.name, keeping.number)
            keeping.signal(signal.SIGTERM)

    def _stop_orphan(self, folder: RunFolder) -> None:
        """An engine whose keeper was killed has nobody else who asks it to end, and later makes it."""
        keeping, engine, asked_at = folder.process("keeper"), folder.process("engine"), folder.changed_at("stop")
        if (keeping is not None and keeping.is_itself) or engine is None or not engine.is_itself or asked_at is None:
            return
        if not folder.has("orphan"):
            folder.write("orphan", "")
            engine.signal(signal.SIGTERM)
        elif (datetime.now(UTC) - asked_at).total_seconds() > self.timing.grace_seconds:
            engine.signal(signal.SIGKILL)

    def _forget(self, folder: RunFolder, run: RunKey) -> None:
        if not _is_of(folder, run):
            return
        with folder.held() as lock:
            # The keeper holds the lock for another moment after it wrote its last, `exit`.
            if folder.has("exit") or (lock is not None and not folder.is_unbegun):
                folder.remove()
                log.info("run forgotten: name=%s", folder.path.name)


def _spawned(command: list[str], environment: Mapping[str, str], folder: RunFolder, lock: int) -> int:
    """A process of its own session, which alone inherits the lock, as the file of that number, and nothing else."""
    spare = os.dup(lock) if lock == LOCK else lock
    created = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    try:
        return os.posix_spawn(
            command[0],
            command,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(folder.path / "out"), created, 0o600),
                (os.POSIX_SPAWN_OPEN, 2, str(folder.path / "err"), created, 0o600),
                (os.POSIX_SPAWN_DUP2, spare, LOCK),
            ],
            setsid=True,
        )
    finally:
        if spare != lock:
            os.close(spare)


def _is_of(folder: RunFolder, run: RunKey) -> bool:
    """Whether that run's record is there."""
    try:
        return folder.ordered().key == run
    except (FileNotFoundError, NotADirectoryError, Malformed):
        return False


def _is_buried(child: int) -> bool:
    """It has ended, and nothing is left of it in the system's table of processes."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _told(refused: OSError, folder: RunFolder) -> str:
    where = refused.filename or folder.path
    if refused.errno in (errno.ENOSPC, errno.EDQUOT):
        what = f"the disk of the state folder is full: {where}; make room there"
    else:
        what = f"the state folder cannot be used: {where}: {refused.strerror}; mend that or give another with --state"
    return f"the run {folder.path.name} was not started: {what}"
