"""For pytest: writes the result of each test to a file, marks errors of the harness, limits the time of a test."""

import json
from collections.abc import Generator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TextIO

import pytest

from tests.gate.results import Result
from tests.kit.soak import is_soak
from tools.harness import HarnessError

_HARNESS_ERROR: Final = "harness error"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--gate-results", type=Path, help="the file for the result of each test, as tests.gate reads it")


def pytest_configure(config: pytest.Config) -> None:
    results = config.getoption("--gate-results")
    # The processes of xdist send their results to the one that has started them, and that one writes.
    if results is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Writer(results.open("w")), "gate-results")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.excinfo is not None and isinstance(call.excinfo.value, HarnessError):
        report.user_properties.append((_HARNESS_ERROR, str(call.excinfo.value)))
    return report


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test that asks for more time than a test of the gate may have gets what it may have."""
    longest = float(config.getoption("timeout") or config.getini("timeout"))
    if is_soak():
        return
    for item in items:
        marker = item.get_closest_marker("timeout")
        if marker is not None and _seconds(marker) > longest:
            item.add_marker(pytest.mark.timeout(longest), append=False)


def _seconds(marker: pytest.Mark) -> float:
    return float(marker.kwargs.get("timeout", marker.args[0] if marker.args else 0))


class _Writer:
    def __init__(self, file: TextIO) -> None:
        self._file = file

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write(Result(nodeid, "begin"))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        error = next((str(words) for name, words in report.user_properties if name == _HARNESS_ERROR), "")
        self._write(Result(report.nodeid, report.when, report.outcome, error if report.failed else ""))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._write(Result(report.nodeid, "collect", report.outcome))

    def pytest_unconfigure(self) -> None:
        self._file.close()

    def _write(self, result: Result) -> None:
        fields: dict[str, Any] = asdict(result)
        print(json.dumps(fields), file=self._file, flush=True)
