"""The list of promises is true: a test of the gate holds each, and a part of soak that exists searches beyond it."""

import ast
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PROMISES: Final[list[dict[str, Any]]] = tomllib.loads((ROOT / "tests/promises.toml").read_text())["promise"]
_OF_THE_GATE: Final = tomllib.loads((ROOT / "tests/gate/budgets.toml").read_text())["part"]
_OF_SOAK: Final = tomllib.loads((ROOT / "tests/soak/parts.toml").read_text())["part"]


@pytest.mark.parametrize("promise", PROMISES, ids=[promise["test"].partition("::")[2] for promise in PROMISES])
def test_a_promise_is_held_by_a_test_of_the_gate(promise: dict[str, Any]) -> None:
    file, _, name = promise["test"].partition("::")
    functions = [each.name for each in ast.parse((ROOT / file).read_text()).body if isinstance(each, ast.FunctionDef)]

    assert name in functions
    folders = [folder for part in _OF_THE_GATE for folder in part.get("tests", "").split()]
    assert any(Path(file).is_relative_to(folder) for folder in folders)


def test_a_promise_names_a_part_of_soak_that_there_is() -> None:
    assert {promise["soak"] for promise in PROMISES if "soak" in promise} <= {part["name"] for part in _OF_SOAK}


def test_no_promise_is_made_twice() -> None:
    assert len({promise["says"] for promise in PROMISES}) == len(PROMISES)
    assert len({promise["test"] for promise in PROMISES}) == len(PROMISES)


def test_every_live_test_holds_a_promise() -> None:
    """A live test is dear: one that holds no promise of its own is to go, or its promise is to be written down."""
    live = {f"tests/interop/{path.name}" for path in (ROOT / "tests/interop").glob("test_live_*.py")}

    assert live - {"tests/interop/test_live_cases.py"} <= {promise["test"].partition("::")[0] for promise in PROMISES}
