"""`kubectl hudi` as a person runs it, on the state folder of a local operator."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hudi_operator.plugin.documents import Document
from tests.unit.operator.plugin.documents_of_tests import AWAITING, PLAN, condition, index, table

pytestmark = pytest.mark.thorough  # each is a process of its own

_PLUGIN = [sys.executable, "-m", "hudi_operator.plugin.main"]


def _run(*arguments: str | Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ if path is None else {**os.environ, "PATH": path}
    return subprocess.run(
        [*_PLUGIN, *arguments], capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL
    )


def _keep(state: Path, document: Document, **more: Any) -> None:
    place = state / "resources" / document.ref.kind.plural / document.ref.namespace
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{document.ref.name}.json").write_text(json.dumps({**document.tree.value, **more}))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    _keep(tmp_path, table())
    (tmp_path / "configmaps/lake/orders-writer").mkdir(parents=True)
    return tmp_path


def test_status_shows_what_a_local_operator_has_written(state: Path) -> None:
    shown = _run("status", "--state", state)

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("lake/orders   Ready")


def test_status_as_json_has_the_whole_resources(state: Path) -> None:
    _keep(state, index(plan=PLAN))

    (group,) = json.loads(_run("status", "--state", state, "--json").stdout)["tables"]

    assert (group["namespace"], group["name"]) == ("lake", "orders")
    assert group["table"]["spec"]["basePath"] == "s3a://lake/orders"
    assert group["indexes"][0]["status"]["plan"]["hash"] == "3f9a1c0b2d"


def test_a_table_that_is_not_there_is_an_error(state: Path) -> None:
    shown = _run("status", "customers", "--state", state)

    assert shown.returncode == 3
    assert "no HudiTable customers" in shown.stderr


def test_doctor_ends_with_0_where_nothing_is_wrong_and_with_1_else(state: Path) -> None:
    well = _run("doctor", "--state", state)
    _keep(state, index(conditions=[condition("Ready", "False", "DroppedByWriter")]))
    ill = _run("doctor", "--state", state)

    assert (well.returncode, well.stdout) == (0, "✓ nothing wrong in 1 tables\n")
    assert ill.returncode == 1
    assert "✗ MetadataIndex lake/orders-by-key: Ready=False, DroppedByWriter" in ill.stdout


def test_plan_shows_the_hash_to_approve(state: Path) -> None:
    _keep(state, index(plan=PLAN, conditions=AWAITING))

    document = json.loads(_run("plan", "orders-by-key", "--state", state, "--json").stdout)

    assert document["awaitingApproval"] is True
    assert document["plan"]["hash"] == "3f9a1c0b2d"


def test_a_plan_that_changed_is_not_approved(state: Path) -> None:
    _keep(state, index(plan=PLAN, conditions=AWAITING))

    refused = _run("approve", "orders-by-key", "--hash", "0000000000", "--state", state)

    assert refused.returncode == 1
    assert "the plan is 3f9a1c0b2d by now, not 0000000000" in refused.stderr


def test_an_index_that_waits_for_nothing_is_not_approved(state: Path) -> None:
    _keep(state, index())

    refused = _run("approve", "orders-by-key", "--hash", "3f9a1c0b2d", "--state", state)

    assert refused.returncode == 1
    assert "waits for no approval" in refused.stderr


def test_without_anybody_to_ask_the_hash_must_be_given(state: Path) -> None:
    _keep(state, index(plan=PLAN, conditions=AWAITING))

    refused = _run("approve", "orders-by-key", "--state", state)

    assert refused.returncode == 1
    assert "give --hash" in refused.stderr


def test_in_local_mode_the_user_is_told_which_file_to_write_the_approval_into(state: Path) -> None:
    _keep(state, index(plan=PLAN, conditions=AWAITING), given={"source": "/manifests/index.yaml"})

    refused = _run("approve", "orders-by-key", "--hash", "3f9a1c0b2d", "--state", state)

    assert refused.returncode == 1
    assert 'hudi-operator.dev/approve: "3f9a1c0b2d"\' below metadata.annotations in /manifests/index.yaml' in (
        refused.stderr
    )


def test_without_kubectl_the_error_says_what_to_do(tmp_path: Path) -> None:
    failed = _run("status", path=str(tmp_path))

    assert failed.returncode == 3
    assert "kubectl is not on the PATH: install it" in failed.stderr


def test_a_state_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    failed = _run("doctor", "--state", tmp_path / "none")

    assert failed.returncode == 3
    assert "no such folder" in failed.stderr


@pytest.mark.parametrize("command", ["status", "doctor", "plan", "approve"])
def test_no_control_character_of_a_status_reaches_the_terminal(command: str, state: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\r\nlake/fine   Ready\u202e\x9b31m"
    conditions = [condition("Ready", "False", f"Reason{evil}", f"told {evil}"), *AWAITING[1:]]
    _keep(state, index(state=f"Failed{evil}", conditions=conditions, plan={**PLAN, "hash": f"3f9a{evil}"}))
    arguments = [] if command in ("status", "doctor") else ["orders-by-key"]

    shown = _run(command, *arguments, "--state", state)

    said = shown.stdout + shown.stderr
    assert "owned" in said
    assert [character for character in said if not character.isprintable() and character != "\n"] == []
    assert [line for line in said.splitlines() if line.startswith("lake/fine")] == []


def test_an_error_that_quotes_what_somebody_wrote_moves_no_cursor(state: Path) -> None:
    shown = _run("status", "\x1b[2Jcustomers", "--state", state)

    assert "customers" in shown.stderr
    assert "\x1b" not in shown.stderr
