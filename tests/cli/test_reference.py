"""docs/cli.md says what the code does."""

import re
from inspect import signature
from pathlib import Path

from hudi_engine.cli.failures import INTERNAL_ERROR
from hudi_engine.cli.main import app
from hudi_engine.errors import EngineError

REFERENCE = (Path(__file__).parents[2] / "docs/cli.md").read_text()


def test_every_error_class_is_documented_with_its_exit_code() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|.*\|([^|]*)\|$", REFERENCE, re.MULTILINE)

    documented = {name: (int(code), bool(retry.strip())) for code, name, retry in rows}

    assert documented == {kind.__name__: (kind.exit_code, kind.retry) for kind in EngineError.__subclasses__()}


def test_no_two_classes_share_an_exit_code() -> None:
    codes = [kind.exit_code for kind in EngineError.__subclasses__()]

    assert sorted(codes) == list(range(10, 10 + len(codes)))
    assert f"| {INTERNAL_ERROR} |" in REFERENCE


def test_every_command_is_documented() -> None:
    for command in app.registered_commands:
        assert command.callback is not None
        assert f"**`{command.callback.__name__}" in REFERENCE


def test_every_option_before_the_command_is_documented() -> None:
    assert app.registered_callback is not None
    assert app.registered_callback.callback is not None

    options = [f"`--{name}`" for name in signature(app.registered_callback.callback).parameters]

    assert options == ["`--debug`", "`--version`"]
    assert [option for option in options if option not in REFERENCE] == []


def test_every_command_of_a_group_is_documented() -> None:
    groups = {group.name: group.typer_instance for group in app.registered_groups}

    assert groups.keys() == {"index", "metadata"}
    for name, group in groups.items():
        assert group is not None
        for command in group.registered_commands:
            assert command.callback is not None
            assert re.search(rf"\*\*`{name} ([a-z]+\|)*{command.callback.__name__}\b", REFERENCE)
