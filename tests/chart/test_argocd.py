"""The health check for Argo CD, run by the interpreter that Argo CD runs it with."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hudi_operator.words import Condition, Reason
from tests.chart.helm import CHART
from tools.go_programs import LUA

_SCRIPT = (CHART / "argocd/health.lua").read_text()


def _status(*conditions: tuple[Condition, bool, Reason], generation: int = 2) -> dict[str, Any]:
    return {
        "observedGeneration": generation,
        "conditions": [
            {"type": kind.value, "status": str(holds), "reason": reason.value, "message": "why"}
            for kind, holds, reason in conditions
        ],
    }


_READY = (Condition.READY, True, Reason.INDEX_IN_SYNC)
_BUILDING = (Condition.READY, False, Reason.BUILDING)
_STALLED = (Condition.STALLED, True, Reason.RETRIES_EXHAUSTED)


@pytest.mark.parametrize(
    ("status", "health"),
    [
        (None, "Progressing: not looked at yet"),
        ({}, "Progressing: not looked at yet"),
        (_status(_READY, generation=1), "Progressing: not looked at yet"),
        (_status(_BUILDING), "Progressing: Building: why"),
        (_status(_READY, (Condition.STALLED, False, Reason.NOT_STALLED)), "Healthy: IndexInSync: why"),
        (
            _status((Condition.RECONCILING, True, Reason.BUILDING), _BUILDING, _STALLED),
            "Degraded: RetriesExhausted: why",
        ),
        (_status((Condition.READY, False, Reason.SUSPENDED)), "Suspended: Suspended: why"),
        (_status((Condition.READY, False, Reason.PAUSED)), "Suspended: Paused: why"),
        (_status((Condition.READY, False, Reason.AWAITING_APPROVAL)), "Suspended: AwaitingApproval: why"),
        (_status(_STALLED), "Degraded: RetriesExhausted: why"),
    ],
)
def test_argo_cd_sees_what_the_conditions_say(status: dict[str, Any] | None, health: str, tmp_path: Path) -> None:
    assert _health({"metadata": {"generation": 2}, "status": status}, tmp_path) == health


def test_what_is_being_deleted_is_in_progress_whatever_its_conditions(tmp_path: Path) -> None:
    metadata = {"generation": 2, "deletionTimestamp": "2026-11-20T00:00:00Z"}

    assert _health({"metadata": metadata, "status": _status(_READY)}, tmp_path) == "Progressing: is being deleted"


def _health(resource: dict[str, Any], folder: Path) -> str:
    """Argo CD gives the resource as the global `obj`, and takes what the script returns."""
    program = folder / "health.lua"
    shown = "local health = check(); print(health.status .. ': ' .. health.message)"
    program.write_text(f"obj = {_lua(resource)}\nlocal function check()\n{_SCRIPT}\nend\n{shown}\n")
    ran = subprocess.run([LUA.built(), program], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def _lua(value: object) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"[{json.dumps(name)}] = {_lua(inner)}" for name, inner in value.items()) + "}"
        case list():
            return "{" + ", ".join(map(_lua, value)) + "}"
        case None:
            return "nil"
    return json.dumps(value)
