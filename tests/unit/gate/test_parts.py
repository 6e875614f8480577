"""The file of budgets, and what is asked of the gate."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.gate.parts import GateError, gate_of, pytest_command, read_gate, require_paths_are_there

_DOCUMENT = {
    "ceiling": 4,
    "least_ceiling_seconds": 600,
    "longest_test_seconds": 300,
    "downloads": {"jars": "python -m fetch"},
    "part": [
        {"name": "quick", "budget_seconds": 60, "tests": "tests/unit", "options": "-m 'not thorough'"},
        {"name": "java", "budget_seconds": 400, "tests": "tests/interop", "needs": ["jars"]},
    ],
}


def test_every_path_of_the_gates_parts_exists() -> None:
    require_paths_are_there(read_gate())


# To build images takes minutes and packages of Debian: `make test-images` and `make test-node`.
_BESIDE_THE_GATE = {"tests/images", "tests/node"}


def test_every_folder_of_tests_is_in_a_part() -> None:
    tests = Path(__file__).parents[2]
    folders = {f"tests/{path.relative_to(tests).parts[0]}" for path in tests.rglob("test_*.py")}

    assert folders - _BESIDE_THE_GATE == {path for part in read_gate().parts for path in part.tests}


def test_parts_run_in_the_order_of_the_file_whatever_the_order_of_their_names() -> None:
    assert [part.name for part in gate_of(_DOCUMENT).chosen(["java", "quick"])] == ["quick", "java"]


def test_no_name_means_all_parts() -> None:
    assert len(gate_of(_DOCUMENT).chosen([])) == 2


def test_an_unknown_part_is_refused_with_the_names_of_those_there_are() -> None:
    with pytest.raises(GateError, match="no part is named fault; the parts are: quick, java"):
        gate_of(_DOCUMENT).chosen(["java", "fault"])


def test_a_part_whose_folder_is_missing_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "tests/unit").mkdir(parents=True)

    with pytest.raises(GateError, match="part java runs tests/interop, which does not exist"):
        require_paths_are_there(replace(gate_of(_DOCUMENT), root=tmp_path))


def test_a_part_that_needs_an_unknown_download_is_refused() -> None:
    with pytest.raises(GateError, match="part java needs jars"):
        gate_of({**_DOCUMENT, "downloads": {}})


@pytest.mark.parametrize(("name", "seconds"), [("quick", 60), ("java", 300)])
def test_a_test_gets_the_budget_of_its_part_but_no_more_than_the_longest_test(name: str, seconds: int) -> None:
    gate = gate_of(_DOCUMENT)
    (part,) = gate.chosen([name])

    command = pytest_command(part, part.tests, Path("results"), gate.longest_test_seconds)

    assert f"--timeout={seconds}" in command


@pytest.mark.parametrize(("name", "seconds"), [("quick", 600), ("java", 1600)])
def test_a_part_may_take_several_times_its_budget_and_ten_minutes_before_it_is_ended(name: str, seconds: int) -> None:
    gate = gate_of(_DOCUMENT)

    assert [gate.ceiling_seconds(part) for part in gate.chosen([name])] == [seconds]


def test_the_default_limit_of_a_test_is_that_of_the_gate(pytestconfig: pytest.Config) -> None:
    assert float(pytestconfig.getini("timeout")) == read_gate().longest_test_seconds
