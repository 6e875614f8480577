"""What was dropped on purpose: so that an index which a plan has built and nobody lists is not taken for lost.

Completed plans stay on the timeline for good, and nothing on it tells of a drop.
"""

import json
from collections.abc import Iterable

from hudi_engine.action.attempts import FOLDER
from hudi_engine.action.plans import read_plan
from hudi_engine.errors import CorruptFile, NotFound
from hudi_engine.format import json_text
from hudi_engine.format.instant_names import Action, Instant
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.table import Table
from hudi_engine.table.timeline import Timeline


def completed_plans(table: Table, timeline: Timeline) -> dict[Instant, tuple[str, ...]]:
    """The names of the indexes that each completed plan has built, the oldest first."""
    found = {}
    for instant in timeline.of(Action.INDEXING):
        if instant.is_completed:
            try:
                found[instant] = tuple(index.name for index in read_plan(table, instant).indexes)
            except NotFound:
                continue  # its request was removed, which says nothing of any index
    return found


def note_dropped(table: Table, timeline: Timeline, names: Iterable[str]) -> None:
    """Remember that what plans have built of these indexes until now is gone on purpose. Under the lock."""
    plans = completed_plans(table, timeline)
    for name in names:
        built = sorted(instant.requested_at for instant, indexes in plans.items() if name in indexes)
        if built:
            table.storage.replace(_path(name), json.dumps({"plans": built}).encode())


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
