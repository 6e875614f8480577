"""Legal edits without end and at random come to rest at what was wished last."""

import json
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cluster.manifests import INDEX, SERVICE, TABLE, index, service, table
from tests.cluster.user import User
from tests.faults.remains import require_ready_and_nothing_left
from tests.kit.wait import wait_until

_EDITS: Final = 200
_SEED: Final = 6
_LONGEST_SECONDS: Final = 180.0
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
def test_two_hundred_legal_edits_at_random_come_to_rest_at_the_last(
    user: User, quiet: Path, say: Callable[[str], None]
) -> None:
    chance = random.Random(_SEED)
    user.apply(table(quiet), index(), service(schedule="0 3 * * *"))

    began = time.monotonic()
    for _ in range(_EDITS):
        what = chance.choice(sorted(_WISHES))
        field = chance.choice(sorted(_WISHES[what]))
        user.edit(what, **{field: chance.choice(_WISHES[what][field])})
    edited = time.monotonic()
    for what, last in _AT_THE_END.items():
        user.edit(what, **last)

    try:
        wait_until(lambda: all(_is_at_rest(user.get(what)) for what in _WISHES), _LONGEST_SECONDS)
    except AssertionError:
        raise AssertionError(json.dumps([user.get(what) for what in _WISHES], indent=1)) from None
    say(f"{_EDITS} edits in {edited - began:.0f} s, at rest {time.monotonic() - edited:.1f} s later (seed {_SEED})")
    require_ready_and_nothing_left(quiet)


def _is_at_rest(resource: Mapping[str, Any]) -> bool:
    """Nothing is to be done about it, and what it was told last is what it did."""
    spec, status = resource["spec"], resource.get("status", {})
    known = {each["type"]: each["status"] for each in status.get("conditions", [])}
    return (
        status.get("observedGeneration") == resource["metadata"]["generation"]
        and (known["Ready"], known["Reconciling"], known["Stalled"]) == ("True", "False", "False")
        and status.get("rebuildTokenHandled") == spec.get("rebuildToken")
        and status.get("runTokenHandled") == spec.get("runToken")
        and not status.get("activeRun")
    )
