"""What `make soak` runs."""

import re
from pathlib import Path

import pytest

from tests.gate.parts import ROOT
from tests.soak.parts import SoakError, read_soak

_SOAKS = re.compile(r"HUDI_SOAK|\b(is_soak|and_in_soak|new_seeds)\(|\bIS_SOAKING\b")
# The gate's own tests, of which none is any longer in a soak run.
_ABOUT_SOAK = ("tests/unit/gate", "tests/unit/soak")


def test_every_path_of_a_part_exists() -> None:
    assert [
        path for part in read_soak().parts for path in part.tests if not (ROOT / path.split("::")[0]).exists()
    ] == []


def test_every_test_file_that_has_more_cases_in_soak_is_in_a_part() -> None:
    paths = [path.split("::")[0] for part in read_soak().parts for path in part.tests]

    files = [file for file in (ROOT / "tests").rglob("test_*.py") if _SOAKS.search(file.read_text())]

    assert files
    assert [name for file in files if not _is_below(name := str(file.relative_to(ROOT)), [*paths, *_ABOUT_SOAK])] == []


def test_a_part_is_tests_or_a_command_and_not_both() -> None:
    assert [part.name for part in read_soak().parts if bool(part.tests) == bool(part.command)] == []


def test_an_unknown_part_is_refused_with_the_names_of_those_there_are() -> None:
    with pytest.raises(SoakError, match="no soak part is named chaoss; the parts are: chaos, fuzz"):
        read_soak().part("chaoss")


@pytest.mark.parametrize("minutes", [0, 46])
def test_a_run_of_no_minutes_or_of_more_than_the_longest_is_refused(minutes: float) -> None:
    with pytest.raises(SoakError, match=f"at most 45 minutes, not {minutes}"):
        read_soak().require_short(minutes)


def _is_below(file: str, paths: list[str]) -> bool:
    return any(Path(file).is_relative_to(path) for path in paths)
