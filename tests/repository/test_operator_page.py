"""docs/operator.md says what the code does."""

import re
from pathlib import Path

from hudi_operator.plugin.claims import remedy
from hudi_operator.plugin.documents import document_of
from hudi_operator.plugin.main import app
from hudi_operator.resources.schema.pod import VOLUME_KINDS
from hudi_operator.words import Condition, Kind, Reason, State

_PAGE = (Path(__file__).parents[2] / "docs/operator.md").read_text()


def test_what_to_do_about_each_reason_is_what_the_plugin_says() -> None:
    index = document_of(
        {"kind": "MetadataIndex", "metadata": {"name": "INDEX"}, "spec": {"tableRef": {"name": "TABLE"}}}
    )
    assert index is not None

    told = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", _PAGE.partition("## What to do when")[2], re.MULTILINE))

    expected = {reason.value: remedy(index, reason) for reason in Reason if remedy(index, reason)}
    assert {reason: told.get(reason) for reason in expected} == expected


def test_every_reason_condition_kind_and_state_is_on_the_page() -> None:
    words = {*Reason, *Condition, *Kind, *State} - {State.RUNNING, State.IDLE, State.PLANNING}

    assert {word for word in words if f"`{word}`" not in _PAGE} == set()


def test_every_command_of_the_plugin_is_on_the_page() -> None:
    commands = [command.callback.__name__ for command in app.registered_commands if command.callback]

    assert commands
    assert [name for name in commands if f"`kubectl hudi {name}" not in _PAGE] == []


def test_every_kind_of_volume_that_a_pod_template_may_have_is_on_the_page() -> None:
    told = re.search(r"`spec\.volumes` of the kinds (.+?) \|", _PAGE)

    assert told is not None
    assert re.findall(r"`(\w+)`", told.group(1)) == list(VOLUME_KINDS)
