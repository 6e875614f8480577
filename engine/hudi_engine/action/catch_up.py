"""RFC-45, run, step 6: an index in flight gets what commits beside its build have left out of it.

Each commit that the base does not hold is proved, or what it lacks is derived and written to the metadata table at an
instant just below its own, if that lasts: later entries of Hudi's writers win over ours, and a restore keeps what it
should. Where an entry is about all that there is, ours must win over those of later commits that others were first to
complete.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from hudi_engine.action.attempts import all_reserved, require_newest, reserve, reserved_by
from hudi_engine.action.coverage import ATTEMPT, CAUGHT_UP, PLAN, Base, undone, unproven
from hudi_engine.action.derive import deleted, touched, written
from hudi_engine.action.evidence import Records
from hudi_engine.action.execute import Run
from hudi_engine.action.keeping import Correction, Overtaken, Question
from hudi_engine.action.keepings import keeping_of
from hudi_engine.action.metadata_commit import UPDATE, MetadataCommit, begin_metadata_commit, run_metadata_commit
from hudi_engine.action.metadata_instants import lasting_instant, log_times, overriding_instant
from hudi_engine.action.metadata_logs import LogOrder, write_init_logs, write_logs
from hudi_engine.action.pending import Vigil, awaited, sentence
from hudi_engine.action.reading import Reading, read
from hudi_engine.action.site import Transaction, look_again
from hudi_engine.action.strays import instant_of
from hudi_engine.concurrency.heartbeat import Heartbeats, writers_lease
from hudi_engine.concurrency.settings import whole_number
from hudi_engine.errors import Contradiction, NotFound, TimedOut
from hudi_engine.format.instant_names import Action, Instant, State
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.zone import at_time

TIMEOUT_KEY: Final = "hoodie.metadata.index.check.timeout.seconds"
_TIMEOUT_SECONDS: Final = 60
_KEYS_AT_ONCE: Final = 20_000  # in one critical section
_TRIES: Final = 5
_CLOCKS_APART_MS: Final = 5_000
_POLL_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """The index holds every commit up to `upto`; those after it are pending and log to it themselves."""

    upto: str


@dataclass(frozen=True, slots=True)
class Behind:
    """Commits whose records the index may lack, and those that others are still at work on."""

    lacking: tuple[Instant, ...]
    waited_for: tuple[Instant, ...]


Standing = CaughtUp | Overtaken | Behind


@dataclass(frozen=True, slots=True)
class _Look:
    """What one reading shows. `commits` are all that the base does not hold, `logged` those that wrote to the index."""

    reading: Reading
    standing: Standing
    commits: dict[Instant, CommitMetadata]
    logged: frozenset[str] = frozenset()


class CatchUp:
    """One index on its way from its base to the present. Make it once the index is flagged as in flight.

    Whatever began before that is waited for: it may leave the index out. Whatever begins later logs to it; should one
    not do so, no pending commit is trusted any more.
    """

    def __init__(self, run: Run, base: Base, *, may_wait: bool = True) -> None:
        site, index = run.site, run.plan.of(base.index)
        assert index is not None, f"{base.index} is not of the plan {run.plan.requested_at}"
        self._run = run
        self._base = base
        self._keeping = keeping_of(index, site.conf)
        self._records = Records(self._keeping.traits)
        self._vigil = Vigil(Heartbeats(site.storage, site.clock, writers_lease(site.conf)))
        self._complete: set[Instant] = set()  # looked at, and nothing was missing
        self._aware_from = at_time(site.clock.now_ms() + _CLOCKS_APART_MS, site.table().zone)
        self._timeout_ms = whole_number(site.conf, TIMEOUT_KEY, _TIMEOUT_SECONDS) * 1000 if may_wait else 0
        self._waiting_since: int | None = None
        self._least: int | None = None  # commits without entries
        self._behind_since: int | None = None
        self._unaware: Instant | None = None
        self._is_streamed = False
        self._last_waited_for: tuple[Instant, ...] = ()
        self._undone: set[str] = set()  # rollbacks and restores that we have seen

    def run(self) -> CaughtUp | Overtaken:
        """Catch up until nothing is missing, or raise `TimedOut` if others let us wait too long."""
        while True:
            self._run.liveness.require_alive()
            look = look_again(lambda: self._look(self._read(self._run.site.metadata())))
            match look.standing:
                case Behind(lacking, _) if lacking:
                    self._note_progress(lacking)
                    if (end := self._pass(look, lacking)) is not None:
                        return end
                case Behind(_, waited_for):
                    self._wait(waited_for)
                case CaughtUp() | Overtaken() as end:
                    return end

    def last_pass(self, transaction: Transaction) -> Standing:
        """Whether nothing is missing and nobody is waited for now, under the lock: then the index may be completed."""
        try:
            return self._look(self._read(transaction.metadata)).standing
        except NotFound:
            return look_again(lambda: self._look(self._read(transaction.site.metadata()))).standing

    def _read(self, metadata: MetadataTable) -> Reading:
        return read(
            metadata,
            self._base,
            self._keeping.definition(metadata),
            is_complete=self._keeping.traits.is_addition,
            archived=self._records.archived(metadata, self._base),
        )

    def _look(self, reading: Reading) -> _Look:
        metadata, base = reading.metadata, self._base
        targets = self._records.targets(reading) | self._records.archived_targets(metadata, base)
        if gone := undone(base, metadata.data_timeline, targets):
            named = ", ".join(gone[:3])
            why = f"the commit {named}, which {base.index} was built of, was rolled back or restored away since"
            return _Look(reading, Overtaken(why), {})
        evidence = self._records.evidence(reading)
        logged = frozenset(evidence.proofs)
        if not self._keeping.traits.is_proved_by_logs:
            evidence = replace(evidence, proofs={})
        self._forget_if_restored(reading)
        lacking = tuple(
            instant for instant in unproven(evidence, self._keeping.concerns) if instant not in self._complete
        )
        waited_for = self._waited_for(reading)
        if lacking or waited_for:
            return _Look(reading, Behind(lacking, waited_for), dict(evidence.commits), logged)
        last = metadata.data_timeline.last_without_holes()
        return _Look(reading, CaughtUp(base.upto if last is None else max(last.requested_at, base.upto)), {})

    def _forget_if_restored(self, reading: Reading) -> None:
        """With the commits that it undoes a restore takes what we wrote after them, for whichever commit."""
        undoing = reading.metadata.data_timeline.of(Action.ROLLBACK, Action.RESTORE)
        known = {instant.requested_at for instant in undoing if instant.is_completed}
        if not known <= self._undone:
            self._undone |= known
            self._complete.clear()
            self._least = None

    def _waited_for(self, reading: Reading) -> tuple[Instant, ...]:
        pending = awaited(reading.metadata.data, reading.metadata.data_timeline, self._keeping.traits)
        early = self._overridden(reading, pending)
        if not self._keeping.traits.is_logged_in_flight:
            return self._vigil.living(self._settled_early(reading, pending))
        if self._unaware is None:
            may_leave_out = self._may_leave_out(reading, pending)
            pending = tuple(
                i for i in pending if i.requested_at <= self._aware_from or i in may_leave_out or i in early
            )
        return self._vigil.living(pending)

    def _overridden(self, reading: Reading, pending: tuple[Instant, ...]) -> frozenset[Instant]:
        """Those that began before an instant at which we wrote: ours will win over what they log as they end."""
        if not self._keeping.traits.is_of_state:
            return frozenset()
        own = log_times(reading.metadata, self._base.index) & reserved_by(self._run.site.storage, self._base.plan)
        newest = max(own, default="")
        return frozenset(instant for instant in pending if instant.requested_at < newest)

    def _settled_early(self, reading: Reading, pending: tuple[Instant, ...]) -> tuple[Instant, ...]:
        """Those that will not see that an index is complete, if it becomes so while they write; or may not.

        Writers that stream into the metadata table settle as they begin which indexes they keep, and whether one
        streams shows once its write is in flight. All others settle it as they end, under the lock.
        """
        streamed = {i.requested_at for i in reading.metadata.timeline.pending() if i.action is Action.DELTA_COMMIT}
        return tuple(
            instant
            for instant in pending
            if instant.requested_at in streamed or instant.state is State.REQUESTED or instant.action is Action.RESTORE
        )

    def _may_leave_out(self, reading: Reading, pending: tuple[Instant, ...]) -> frozenset[Instant]:
        """Those of writers that stream into the metadata table, and have written nothing to this index yet.

        Such a writer settles as it begins which indexes it keeps, and nothing tells whether this is among them until
        it writes to it. All others do as they end, under the lock. Whether one streams shows as soon as it has begun
        in the metadata table as well.
        """
        metadata = reading.metadata
        streamed = {i.requested_at for i in metadata.timeline.pending() if i.action is Action.DELTA_COMMIT}
        self._is_streamed = self._is_streamed or any(instant.requested_at in streamed for instant in pending)
        if not self._is_streamed:
            return frozenset()
        kept = set(map(instant_of, metadata.table.storage.list(self._base.index)))
        return frozenset(
            instant
            for instant in pending
            if (instant.requested_at in streamed or instant.state is State.REQUESTED)
            and instant.requested_at not in kept
        )

    def _pass(self, look: _Look, lacking: tuple[Instant, ...]) -> Overtaken | None:
        """RFC-45, 6.a.iii, for each commit that is not proved, the oldest first."""
        self._run.site.watch.begin("catch-up", len(lacking))
        reading: Reading | None = look.reading
        for place, instant in enumerate(lacking):
            commits = [look.commits[each] for each in lacking[place:]]
            settled = self._settle(self._question(instant, commits), reading)
            if isinstance(settled, Overtaken):
                return settled
            rows, has_changed = settled
            if has_changed:
                reading = None  # of before the change
                if not (self._keeping.traits.is_of_state and instant.requested_at in look.logged):
                    self._note_unaware(instant)
            self._complete.add(instant)
            self._run.site.watch.advance(1, rows)
        return None

    def _question(self, instant: Instant, commits: Sequence[CommitMetadata]) -> Question:
        """About the first of these commits; of a partition's state only the last to touch it is asked."""
        commit, *others = commits
        groups, later = touched([commit]), touched(others)
        if self._keeping.traits.is_of_state:
            once_more = {partition for partition, _ in later}
            groups = frozenset(group for group in groups if group[0] not in once_more)
        return Question(instant.requested_at, groups, groups & later, written(commit), deleted(commit))

    def _settle(self, question: Question, reading: Reading | None) -> tuple[int, bool] | Overtaken:
        """Make the index right about one commit; how many rows were looked at, and whether anything was missing."""
        has_changed = False
        why = ""
        for _ in range(_TRIES):
            self._run.liveness.require_alive()
            reading = reading or self._read(self._run.site.metadata())
            try:
                changes = self._keeping.derive(reading, question)
            except NotFound as gone:
                reading, why = None, str(gone)  # cleaned or compacted away meanwhile: the next has other files
                continue
            if isinstance(changes, Overtaken):
                return changes
            if not changes.count:
                return changes.looked_at, has_changed
            has_changed = True
            reading, why = None, "others changed the data or the index before it was written"
            if self._apply(question.instant, changes):
                reading, why = self._read(self._run.site.metadata()), "entries of others override it"
                if changes.is_in_effect(reading):
                    return changes.looked_at, has_changed
        raise Contradiction(
            f"{self._run.site.storage.location}: what the index {self._base.index} lacks of the commit "
            f"{question.instant} was not put right in {_TRIES} tries; at the last, {why}. What was begun is undone; "
            "run the same request again when there is less going on."
        )

    def _apply(self, instant: str, changes: Correction) -> bool:
        """Write the changes, a part at a time; False as soon as they are not right any more."""
        parts = list(changes.parts(_KEYS_AT_ONCE))
        return all(self._apply_part(instant, part, is_last=part is parts[-1]) for part in parts)

    def _apply_part(self, instant: str, part: Correction, *, is_last: bool) -> bool:
        site = self._run.site
        with site.transaction() as transaction:
            require_newest(transaction, self._run.attempt)
            self._run.liveness.require_alive()
            reading = self._read(transaction.metadata)
            if not part.still_holds(reading):
                return False
            if names := part.lacks_shards(reading, site.conf):
                self._add_shards(transaction, instant, names)
                return False
            commit = self._commit(transaction, instant, is_last=is_last)
            order = LogOrder(self._base.index, commit.instant, self._run.attempt.number, site.clock.now_ms())
            transaction.require_held()
            begin_metadata_commit(transaction.metadata, commit)
            files = write_logs(transaction.metadata, order, part.shard_changes(reading))
            completed_at = transaction.next_time()
            transaction.require_held()
            run_metadata_commit(transaction.metadata, replace(commit, files=files), completed_at)
        return True

    def _add_shards(self, transaction: Transaction, instant: str, file_ids: tuple[str, ...]) -> None:
        """The shards of data partitions that came after the base, of an index that has some for each."""
        metadata, index = transaction.metadata, self._base.index
        commit = self._commit(transaction, instant, is_last=False)
        transaction.require_held()
        begin_metadata_commit(metadata, commit)
        files = write_init_logs(metadata, index, file_ids, commit.instant)
        completed_at = transaction.next_time()
        transaction.require_held()
        run_metadata_commit(metadata, replace(commit, files=files), completed_at)

    def _commit(self, transaction: Transaction, instant: str, *, is_last: bool) -> MetadataCommit:
        storage, plan = self._run.site.storage, self._base.plan
        free = overriding_instant if self._keeping.traits.is_of_state else lasting_instant
        at = free(transaction.metadata, self._base.index, instant, all_reserved(storage))
        reserve(storage, plan, at)
        extra = {PLAN: self._base.plan, ATTEMPT: str(self._base.attempt)}
        return MetadataCommit(at, UPDATE, extra=extra | ({CAUGHT_UP: instant} if is_last else {}))

    def _note_unaware(self, instant: Instant) -> None:
        """A clean does not tell: writers that log to an index in flight all the same leave it out as they clean."""
        if instant.action is Action.CLEAN:
            return
        if self._unaware is None and instant.requested_at > self._aware_from:
            self._unaware = instant
            self._run.site.watch.say(
                f"the commit {instant.requested_at} began after the index {self._base.index} was in flight and left it "
                "out: its writer does not maintain this index. Enable the index for it; until then all pending "
                "commits are waited for"
            )

    def _note_progress(self, lacking: tuple[Instant, ...]) -> None:
        """Say that we fall behind before it is too late, and end it when it is."""
        now_ms = self._run.site.clock.now_ms()
        if self._least is None or len(lacking) < self._least:
            self._least, self._behind_since = len(lacking), None
            return
        if self._behind_since is None:
            self._behind_since = now_ms
            self._run.site.watch.say(
                f"falling behind: {len(lacking)} commits without entries, and no fewer than before; commits without "
                "entries come as fast as they are caught up with"
            )
        if now_ms - self._behind_since > self._timeout_ms:
            named = ", ".join(instant.requested_at for instant in lacking[-3:])
            raise TimedOut(
                f"{self._run.site.storage.location}: the index {self._base.index} fell behind: commits that leave it "
                f"out come as fast as they are caught up with, the last {named}. Enable the index for their writers, "
                f"or pause these, or give more time by {TIMEOUT_KEY}; what was begun is undone."
            )

    def _wait(self, waited_for: tuple[Instant, ...]) -> None:
        clock = self._run.site.clock
        if self._waiting_since is None:
            self._waiting_since = clock.now_ms()
        said = sentence(self._vigil, waited_for)
        if waited_for != self._last_waited_for:
            self._run.site.watch.say(said)
            self._last_waited_for = waited_for
        late_ms = clock.now_ms() - self._waiting_since - self._timeout_ms
        patience_ms = self._vigil.heartbeats.lease.lasts_ms if all(map(self._vigil.is_undecided, waited_for)) else 0
        if late_ms > patience_ms:
            raise TimedOut(
                f"{self._run.site.storage.location}: after {self._timeout_ms // 1000} seconds ({TIMEOUT_KEY}) still "
                f"{said}. They began before the index {self._base.index} was in flight and may leave it out. Let them "
                "end or roll them back, then run the same request again; what was begun is undone."
            )
        clock.sleep(_POLL_SECONDS)
