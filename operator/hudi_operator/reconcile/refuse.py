"""What is done about a resource that cannot be read: it is said, and whoever deletes it is not kept waiting."""

import logging
from dataclasses import replace
from datetime import datetime

from hudi_operator.decide import refused
from hudi_operator.decision import World
from hudi_operator.reconcile.home import Event, Gone, Home
from hudi_operator.reconcile.store import Store
from hudi_operator.reconcile.tellings import told_of_conditions
from hudi_operator.resources.model import Ref
from hudi_operator.status import status_of
from hudi_operator.words import Reason

log = logging.getLogger(__name__)

_LET_GO = "it cannot be read, so nothing is dropped with it, and its finalizer is removed: "


async def refuse(ref: Ref, store: Store, home: Home, now: datetime) -> float | None:
    """The seconds until another look; None if there is no such thing."""
    held = store.unreadable.get(ref)
    if held is None:
        return None
    found, before = held
    decision = refused(found)
    status = status_of(found, World(now, previous=before), decision)
    try:
        if status != before:
            log.error("unreadable resource=%s/%s/%s: %s", ref.kind, ref.namespace, ref.name, found.message)
            for event in told_of_conditions(before, status):
                await home.tell(found, event)
            await home.write_status(found, status)
        if decision.act is not None:
            await home.tell(found, Event("Warning", Reason.INVALID_SPEC, _LET_GO + found.message))
            await home.set_finalizer(found, is_wanted=False)
            found = replace(found, meta=replace(found.meta, finalizers=()))
    except Gone:
        if store.unreadable.get(ref) is held:
            store.remove(ref)
        return None
    # What came meanwhile is newer.
    if store.unreadable.get(ref) is held:
        store.put_unreadable(found, status)
    return decision.again_in_seconds
