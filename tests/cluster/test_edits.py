"""Many legal edits come to rest at what was wished last."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cluster.manifests import INDEX, SERVICE, TABLE, index, service, table
from tests.cluster.user import User
from tests.java.remains import require_ready_and_nothing_left
from tests.kit.eventually import eventually
from tests.kit.soak import is_soak, new_seeds

_EDITS: Final = 200 if is_soak() else 40
# Each edit may begin a run, and runs of the same table wait for each other.
_LONGEST_SECONDS: Final = 240.0
_TABLE, _INDEX, _SERVICE = f"huditable/{TABLE}", f"metadataindex/{INDEX}", f"tableservice/{SERVICE}"
# What may be wished of each, and which of it is taken back at the end: a resource at rest is one that may work.
_WISHES: Final[Mapping[str, Mapping[str, tuple[object, ...]]]] = {
    _TABLE: {
        "suspend": (True, False),
        "metadataGuard": ("Warn", "Rebuild", "Ignore"),
        "observe": tuple({"intervalSeconds": seconds} for seconds in (5, 6, 30)),
        "storage": ({"hadoopConf": {"fs.s3a.endpoint": "one"}}, {"hadoopConf": {"fs.s3a.endpoint": "other"}}),
        "execution": tuple({"retry": {"limit": limit}} for limit in (1, 5)),
    },
    _INDEX: {
        "suspend": (True, False),
        "approval": ("Manual", "Automatic"),
        "rebuildToken": tuple(f"token-{number}" for number in range(4)),
        "deletionPolicy": ("Retain", "Drop"),
        "catchUp": tuple({"timeoutSeconds": seconds} for seconds in (60, 300)),
    },
    _SERVICE: {
        "suspend": (True, False),
        "runToken": tuple(f"token-{number}" for number in range(4)),
        "concurrencyPolicy": ("Forbid", "Replace"),
        "successfulRunsHistoryLimit": (0, 1, 3),
        "schedule": ("0 3 * * *", "* * * * *"),
        "timeZone": ("Europe/Berlin", "UTC"),
        "validate": ({"sample": 1}, {"sample": 100}),
    },
}
_AT_THE_END: Final[Mapping[str, Mapping[str, object]]] = {
    _TABLE: {"suspend": False, "observe": {"intervalSeconds": 5}},
    _INDEX: {"suspend": False, "approval": "Automatic"},
    _SERVICE: {"suspend": False, "schedule": "0 3 * * *"},
}


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("seed", new_seeds(1) if is_soak() else [6])
def test_many_legal_edits_come_to_rest_at_the_last(user: User, quiet: Path, seed: int) -> None:
    chance = random.Random(seed)
    user.apply(table(quiet), index(), service(schedule="0 3 * * *"))

    for _ in range(_EDITS):
        what = chance.choice(sorted(_WISHES))
        field = chance.choice(sorted(_WISHES[what]))
        user.edit(what, **{field: chance.choice(_WISHES[what][field])})
    for what, last in _AT_THE_END.items():
        user.edit(what, **last)

    eventually(
        "all three to be at rest",
        lambda: [user.get(what) for what in _WISHES],
        lambda seen: all(map(_is_at_rest, seen)),
        seconds=_LONGEST_SECONDS,
        told=user.events,
    )
    require_ready_and_nothing_left(quiet)


def _is_at_rest(resource: Mapping[str, Any]) -> bool:
    """Nothing is to be done about it, and what it was told last is what it did."""
    spec, status = resource["spec"], resource.get("status", {})
    known = {each["type"]: each["status"] for each in status.get("conditions", [])}
    return (
        status.get("observedGeneration") == resource["metadata"]["generation"]
        and (known["Ready"], known["Reconciling"], known["Stalled"]) == ("True", "False", "False")
        and status.get("lastHandledRebuildToken") == spec.get("rebuildToken")
        and status.get("lastHandledRunToken") == spec.get("runToken")
        and not status.get("activeRuns")
    )
