"""RFC-79, executing a plan: of any number of runners of one plan at most one takes effect."""

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TypeVar

from hudi_engine.action.attempts import Attempt, all_reserved, attempts_of, begin_attempt, given, remove_pending_commits
from hudi_engine.action.metadata_instants import Archive, archive_of, base_instant
from hudi_engine.action.plans import IndexPlan, plan_path, read_plan
from hudi_engine.action.site import Site, Transaction
from hudi_engine.concurrency.heartbeat import Liveness
from hudi_engine.errors import AlreadyExists, Busy, NotFound
from hudi_engine.format.instant_names import Action, Instant, State, instant_file

_Outcome = TypeVar("_Outcome")
_SAME_BEAT_MS = 500  # no heart beats more often than once a second, and the clock goes on between two questions


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt at a plan, under way."""

    site: Site
    plan: IndexPlan
    attempt: Attempt
    liveness: Liveness


def execute_plan(site: Site, requested_at: str, run: Callable[[Run], _Outcome]) -> _Outcome:
    """What `run` makes of the plan; `Busy` if another runner of it lives, `NotFound` if it is over.

    A runner that died is taken over once its heartbeat has been silent for a lease; it may wake up again, but what it
    writes then takes no effect.
    """
    await_silence(site, requested_at)
    archive = archive_of(site.metadata())
    with ExitStack() as on_exit:
        with site.transaction() as transaction:  # 2, and 6 on leaving
            instant = _pending(transaction, requested_at)  # 4
            plan = read_plan(transaction.table, transaction.data_timeline, instant)  # 1
            _refuse_if_running(site, requested_at)  # 3
            remove_pending_commits(transaction, requested_at)
            attempt = _take_over(transaction, plan, archive)
            liveness = on_exit.enter_context(site.heartbeats.beating(requested_at))  # 5, and 8 on leaving
            _begin(transaction, instant)
        return run(Run(site, plan, attempt, liveness))  # 7


def await_silence(site: Site, requested_at: str) -> None:
    """Wait until the heartbeat of a runner that seems dead has expired; `Busy` as soon as it beats again."""
    first = _last_beat_ms(site, requested_at)
    if first is not None and site.heartbeats.is_live(requested_at):
        age_seconds = (site.clock.now_ms() - first) / 1000
        site.watch.say(f"{requested_at} has a heartbeat {age_seconds:.1f} s old: waiting for the next, or for none")
    while first is not None and site.heartbeats.is_live(requested_at):
        site.clock.sleep(1)
        last = _last_beat_ms(site, requested_at)
        if last is not None and last > first + _SAME_BEAT_MS:
            raise _busy(site, requested_at)


def _last_beat_ms(site: Site, requested_at: str) -> int | None:
    age_ms = site.heartbeats.age_ms(requested_at)
    return None if age_ms is None else site.clock.now_ms() - age_ms


def _refuse_if_running(site: Site, requested_at: str) -> None:
    if site.heartbeats.is_live(requested_at):
        raise _busy(site, requested_at)


def _busy(site: Site, requested_at: str) -> Busy:
    attempts = attempts_of(site.storage, requested_at)
    who = f"attempt {attempts[-1].number} of {attempts[-1].owner}" if attempts else "another runner"
    return Busy(
        f"{site.storage.location}: {who} works on the plan {requested_at} and is alive. Let it finish; "
        "`index status` shows how far it is, `index abort` ends it."
    )


def _pending(transaction: Transaction, requested_at: str) -> Instant:
    instant = transaction.data_timeline.find(requested_at)
    if instant is not None and instant.action is Action.INDEXING and not instant.is_completed:
        return instant
    is_over = instant is not None and instant.action is Action.INDEXING
    how = "is completed" if is_over else "is no index plan that is pending"
    raise NotFound(
        f"{transaction.table.storage.location}: {requested_at} {how}. `index status` shows what there is; "
        "`index build` makes a plan where one is wanted."
    )


def _take_over(transaction: Transaction, plan: IndexPlan, archive: Archive) -> Attempt:
    site = transaction.site
    earlier = attempts_of(site.storage, plan.requested_at)
    number = max(given(site.storage).number, earlier[-1].number if earlier else 0) + 1
    names = tuple(index.name for index in plan.indexes)
    reserved = base_instant(transaction.metadata, names[0], all_reserved(site.storage), archive)
    attempt = Attempt(plan.requested_at, names, number, site.owner, site.clock.now_ms(), reserved)
    transaction.require_held()
    begin_attempt(site.storage, attempt)
    if earlier:
        site.watch.say(f"attempt {number} at {plan.requested_at} takes over from {earlier[-1].owner}")
    return attempt


def _begin(transaction: Transaction, instant: Instant) -> None:
    folder = plan_path(transaction.table, transaction.data_timeline, instant).rpartition("/")[0]
    with suppress(AlreadyExists):  # an earlier attempt's
        transaction.site.storage.create(f"{folder}/{instant_file(instant.in_state(State.INFLIGHT))}", b"")
