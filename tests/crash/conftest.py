"""How many crashes were survived is printed: a suite that shrinks unseen proves less than it says."""

import pytest

CASES = "crash cases"


class _Count:
    def __init__(self) -> None:
        self.cases = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:  # what a test records is in the report of its teardown as well
            self.cases += sum(int(str(value)) for name, value in report.user_properties if name == CASES)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.cases:
            terminalreporter.write_line(f"{self.cases} {CASES} survived")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Count(), CASES)
