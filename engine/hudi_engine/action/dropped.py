"""What was built and leaves no instant on the timeline, and what was dropped on purpose.

So that an index which a plan has built and nobody lists is told as lost if, and only if, a writer deleted it. Completed
plans stay on the timeline for good where they stay at all, and nothing on it tells of a drop.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from hudi_engine.action.attempts import FOLDER
from hudi_engine.action.plans import IndexPlan, read_plan
from hudi_engine.errors import CorruptFile, NotFound
from hudi_engine.format import json_text
from hudi_engine.format.instant_names import Action, Instant, InstantTime, State
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline

_BUILT: Final = f"{FOLDER}/built"
_ADDED: Final = f"{FOLDER}/added"
_Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CompletedPlans:
    """By plan the names of the indexes that it has built, and of those that it has added columns to."""

    built: Mapping[Instant, _Names]
    added: Mapping[Instant, _Names]


def completed_plans(table: Table, timeline: Timeline) -> CompletedPlans:
    """Of which the timeline or a note tells."""
    built, added = dict(_noted(table.storage, _BUILT)), dict(_noted(table.storage, _ADDED))
    for instant in timeline.of(Action.INDEXING):
        if instant.is_completed:
            with suppress(NotFound):  # its request was removed, which says nothing of any index
                indexes = read_plan(table, timeline, instant).indexes
                built[instant] = tuple(index.name for index in indexes if not index.is_addition)
                added[instant] = tuple(index.name for index in indexes if index.is_addition)
    return CompletedPlans(built, added)


def note_built(storage: Storage, plan: IndexPlan, completed_at: InstantTime, caught_up_to: Mapping[str, str]) -> None:
    """Remember of each of its indexes that this plan has built it, or added to it, up to which commit. Under the lock.

    What it is caught up to is for people (field failure 39), as in a completed instant: notes of before have it not.
    """
    for index in plan.indexes:
        note = {"plan": plan.requested_at, "completed_at": completed_at, "caught_up_to": caught_up_to[index.name]}
        text = json.dumps(note)
        storage.replace(f"{_ADDED if index.is_addition else _BUILT}/{index.name}.json", text.encode())
        # A plan that leaves no instant leaves its time to the next one.
        if plan.requested_at in (dropped := dropped_plans(storage, index.name)):
            _note_dropped(storage, index.name, dropped - {plan.requested_at})


def _noted(storage: Storage, folder: str) -> Iterator[tuple[Instant, _Names]]:
    for file in storage.list(folder):
        tree = json_text.parse(storage.read(file.path), "the note of an index that was built")
        if not isinstance(tree, dict) or not all(isinstance(tree.get(key), str) for key in ("plan", "completed_at")):
            raise CorruptFile("no note of an index that was built; remove it", 0, file.path)
        times = InstantTime(tree["plan"]), InstantTime(tree["completed_at"])
        yield Instant(times[0], Action.INDEXING, State.COMPLETED, times[1]), (file.name.removesuffix(".json"),)


def note_dropped(table: Table, timeline: Timeline, names: Iterable[str]) -> None:
    """Remember that what plans have built of these indexes until now, or added, is gone on purpose. Under the lock."""
    plans = completed_plans(table, timeline)
    for name in names:
        both = (*plans.built.items(), *plans.added.items())
        built = sorted(instant.requested_at for instant, indexes in both if name in indexes)
        if built:
            _note_dropped(table.storage, name, built)


def _note_dropped(storage: Storage, name: str, plans: Iterable[str]) -> None:
    storage.replace(_path(name), json.dumps({"plans": sorted(plans)}).encode())


def dropped_plans(storage: Storage, name: str) -> frozenset[str]:
    """The plans of which the index was dropped on purpose."""
    path = _path(name)
    try:
        tree = json_text.parse(storage.read(path), "the note of a dropped index")
    except NotFound:
        return frozenset()
    except CorruptFile as corrupt:
        raise corrupt.in_file(path) from corrupt
    plans = tree.get("plans") if isinstance(tree, dict) else None
    if not isinstance(plans, list) or not all(isinstance(plan, str) for plan in plans):
        raise CorruptFile("no note of a dropped index; remove it", 0, path)
    return frozenset(plans)


def _path(name: str) -> str:
    return f"{FOLDER}/dropped/{name}.json"
