"""RFC-45: an index built on a live table, from what a person asks for to what readers use."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from hudi_engine.action.add_columns import AddColumns
from hudi_engine.action.asked_again import refuse_other_plan
from hudi_engine.action.attempts import forget_over
from hudi_engine.action.base import build_base
from hudi_engine.action.catch_up import Behind, CatchUp
from hudi_engine.action.complete import complete_index, complete_instant
from hudi_engine.action.execute import Run, execute_plan
from hudi_engine.action.foreign import undo_foreign
from hudi_engine.action.keeping import STANDS_ON, Overtaken
from hudi_engine.action.metadata_files import ensure_files
from hudi_engine.action.plans import IndexPlan, PlannedIndex, pending_plans
from hudi_engine.action.publish import publish
from hudi_engine.action.published import published_base
from hudi_engine.action.schedule import IndexRequest, Skipped, refuse_mixed, refuse_unbuildable, schedule
from hudi_engine.action.site import Site, Transaction, look_again
from hudi_engine.action.strays import delete_strays
from hudi_engine.action.undo import delete_own_files, undo_run
from hudi_engine.errors import (
    Contradiction,
    EngineError,
    LockLost,
    LockUnavailable,
    LockUnreachable,
    NotFound,
    OutcomeUnknown,
    StorageUnavailable,
    Superseded,
    TimedOut,
)
from hudi_engine.index.kinds import IndexKind, kind_of

_ROUNDS = 3
_TRIES_TO_TIDY = 2
# After these the table may be out of our reach, or another's: what was begun stays as it is, for the next run of the
# same request to go on from.
_LEAVE_AS_IS = (LockLost, LockUnavailable, LockUnreachable, OutcomeUnknown, StorageUnavailable)


@dataclass(frozen=True, slots=True)
class End:
    """An index that is complete: it has every commit up to `caught_up_to`, and later ones from their own writers."""

    plan: str
    index: str
    upto: str
    caught_up_to: str


@dataclass(frozen=True, slots=True)
class Ready:
    """All indexes of a plan are complete, and those of the plan before it that they waited for."""

    plan: str
    ends: tuple[End, ...]


@dataclass(frozen=True, slots=True)
class Redo:
    """What was built was overtaken by others, and is undone."""

    why: str


def build(site: Site, request: IndexRequest) -> Ready | Skipped:
    """The indexes asked for, whatever an earlier request or another program left of them.

    The same request after a failure or a kill goes on where the other stopped, or undoes that and begins anew. An index
    that may not be flagged before another is complete has a plan of its own, after that one's.
    """
    later = tuple(name for name in request.names if kind_of(name) in STANDS_ON)
    has_files = IndexKind.FILES in site.table().config.readable_indexes
    if later or not has_files:
        look_again(lambda: refuse_unbuildable(site.table(), request, site.conf))
    if not has_files:
        look_again(lambda: refuse_mixed(site.table(), request))
        ensure_files(site)
    first = tuple(name for name in request.names if name not in later)
    outcomes = [_build(site, replace(request, names=names)) for names in (first, later) if names]
    ends = [end for outcome in outcomes if isinstance(outcome, Ready) for end in outcome.ends]
    plans = [outcome.plan for outcome in outcomes if isinstance(outcome, Ready)]
    if plans:
        return Ready(plans[-1], tuple(ends))
    skipped = (outcome for outcome in outcomes if isinstance(outcome, Skipped))
    return Skipped({name: why for each in skipped for name, why in each.reasons.items()})


def _build(site: Site, request: IndexRequest) -> Ready | Skipped:
    """By one plan or, where an earlier request for some of the indexes left another, by that first."""
    why, ready, overtaken = "", Ready("", ()), 0
    while overtaken < _ROUNDS:
        undo_foreign(site, request.names)
        left = _pending_of(site, request)
        if left is not None:
            refuse_other_plan(site.storage.location, left, request.indexes())
        plan = left or schedule(site, request)
        if isinstance(plan, Skipped):
            return ready if ready.ends else plan
        outcome = run(site, plan.requested_at)
        if isinstance(outcome, Redo):
            why = outcome.why
            overtaken += 1
            site.watch.say(f"{why}: built anew")
            continue
        if isinstance(outcome, Skipped):
            return outcome
        ready = Ready(outcome.plan, (*ready.ends, *outcome.ends))
        request = replace(request, names=tuple(name for name in request.names if not _has_built(plan, request, name)))
        if left is None or not request.names:
            return ready
    raise Contradiction(
        f"{site.storage.location}: given up after {_ROUNDS} builds that others overtook. The last time: {why}. "
        "Nothing is left of them; run the same request again once that is over."
    )


def _has_built(plan: IndexPlan, request: IndexRequest, name: str) -> bool:
    """Whether a plan, made for this request or for an earlier one, was for all that is asked for of this index."""
    index = plan.of(name)
    return index is not None and {*request.columns.get(name, ())} <= {*index.columns}


def run(site: Site, requested_at: str) -> Ready | Skipped | Redo:
    """RFC-45, "Run Indexing", of one plan. A failure undoes it, unless the table is out of reach by then."""
    try:
        outcome = execute_plan(site, requested_at, _run)
    except _LEAVE_AS_IS:
        raise
    except EngineError:
        _tidy(site)
        raise
    _tidy(site)
    return outcome


def _tidy(site: Site) -> None:
    """Remove what a plan that is over leaves. If the store fails the outcome stands, and the next plan does it."""
    for _ in range(_TRIES_TO_TIDY):
        with suppress(EngineError), site.transaction() as transaction:
            forget_over(transaction)
            return


def _run(run: Run) -> Ready | Skipped | Redo:
    try:
        outcome = run_index(run)
    except (Superseded, LockLost):
        with suppress(EngineError):  # the table may be out of reach, and what stays takes no effect
            delete_own_files(run)
        raise
    except _LEAVE_AS_IS:
        raise
    except EngineError:
        if not _is_all_in_use(run):
            undo_run(run)
        raise
    if not isinstance(outcome, Ready):
        undo_run(run)
    return outcome


def _is_all_in_use(run: Run) -> bool:
    """Whether readers have been told of every index (8.a): what fails after that is for the next run to complete."""
    metadata = run.site.metadata()
    listed = metadata.data.config.readable_indexes
    return all(
        index.name in listed and published_base(metadata, run.plan, index.name) is not None
        for index in run.plan.indexes
    )


def run_index(run: Run) -> Ready | Skipped | Redo:
    """Steps 1 to 9. What is neither `Ready` nor raised is the caller's to undo; indexes that are complete stay so."""
    delete_strays(run)
    config = run.site.table().config
    flagged = (*config.readable_indexes, *config.inflight_indexes)
    made = [index for index in run.plan.indexes if not index.is_addition]
    if missing := [index for index in made if index.name not in flagged]:
        try:
            publish(run, build_base(run, missing))  # 4
        except NotFound as gone:
            return Redo(f"a file vanished while it was read ({gone})")
    ends: dict[str, End] = {}
    late: TimedOut | None = None
    for index in run.plan.indexes:
        if not index.is_addition and index.name in run.site.table().config.readable_indexes:
            if (found := _end_of_complete(run, index)) is not None:
                ends[index.name] = found
            continue
        try:
            end = _caught_up(run, index, ends, late)
        except TimedOut as waited:
            late = late or waited
            continue
        if isinstance(end, Redo):
            return end
        ends[index.name] = end
        if late is None and index is run.plan.indexes[-1]:
            return Ready(run.plan.requested_at, tuple(ends.values()))
    if late is not None:
        raise late
    if not ends:
        built = "complete already: a writer has built it since it was asked for"
        return Skipped({index.name: built for index in run.plan.indexes})
    with run.site.transaction() as transaction:
        _complete(run, transaction, ends)
    return Ready(run.plan.requested_at, tuple(ends.values()))


def _end_of_complete(run: Run, index: PlannedIndex) -> End | None:
    """That of our own build, whose end a crash has cut off; None of one that a writer has built."""
    metadata = run.site.metadata()
    base = published_base(metadata, run.plan, index.name)
    if base is None:
        return None
    upto = metadata.data_timeline.last_without_holes()
    return End(run.plan.requested_at, index.name, index.upto, base.upto if upto is None else upto.requested_at)


def _catch_up(run: Run, index: PlannedIndex, *, may_wait: bool) -> CatchUp:
    if index.is_addition:
        return AddColumns(run, index, may_wait=may_wait)
    base = published_base(run.site.metadata(), run.plan, index.name)
    if base is None:
        raise Contradiction(
            f"{run.site.storage.location}: {index.name} is in flight, and not by the plan {run.plan.requested_at}: "
            "another program builds it, or a writer removed our base. What is ours is undone; run the request again."
        )
    return CatchUp(run, base, may_wait=may_wait)


def _caught_up(run: Run, index: PlannedIndex, others: Mapping[str, End], late: TimedOut | None) -> End | Redo:
    """Steps 5 to 9, on a base that is in effect; with the last index of a plan its instant is completed, too.

    Once one of the plan is `late` the others do not wait: they are complete at once, or undone with it.
    """
    catch_up = _catch_up(run, index, may_wait=late is None)
    while True:
        reached = catch_up.run()  # 5 and 6
        if isinstance(reached, Overtaken):
            return Redo(reached.why)
        with run.site.transaction() as transaction:  # 8, and 9 on leaving
            standing = catch_up.last_pass(transaction)
            if isinstance(standing, Overtaken):
                return Redo(standing.why)
            if not isinstance(standing, Behind):
                end = End(run.plan.requested_at, index.name, index.upto, standing.upto)
                complete_index(run, transaction, index, end.caught_up_to)  # 7 and 8.a
                if late is None and index is run.plan.indexes[-1]:
                    _complete(run, transaction, {**others, index.name: end})  # 8.b
                return end


def _complete(run: Run, transaction: Transaction, ends: Mapping[str, End]) -> None:
    """Of an index that a writer has built meanwhile the plan's own base instant is what is known."""
    uptos = {index.name: index.upto for index in run.plan.indexes}
    complete_instant(run, transaction, uptos | {name: end.caught_up_to for name, end in ends.items()})


def _pending_of(site: Site, request: IndexRequest) -> IndexPlan | None:
    """A plan for what is asked for that an earlier request left."""
    metadata = site.metadata()
    plans = pending_plans(metadata.data, metadata.data_timeline).values()
    return next((plan for plan in plans if any(index.name in request.names for index in plan.indexes)), None)
