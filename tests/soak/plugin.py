"""For pytest: a part's tests from a given one on, or in an order of chance, until the time is over."""

import random
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.kit.soak import seed


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak-seconds", type=float, help="so long after the tests were collected no more begin")
    parser.addoption("--soak-from", default="", help="the test to begin with; empty for the first")
    parser.addoption("--soak-shuffle", action="store_true", help="in an order that HUDI_SOAK_SEED decides")
    parser.addoption("--soak-items", type=Path, help="the file for the names of the tests, in their order")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--soak-seconds") is not None:
        config.pluginmanager.register(_Soak(config), "soak")


@dataclass(slots=True)
class _Soak:
    config: pytest.Config
    until: float = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None]:
        """After all else that sorts them. Every process of xdist comes to the same order."""
        yield
        if self.config.getoption("--soak-shuffle"):
            random.Random(seed()).shuffle(items)
        names = [item.nodeid for item in items]
        begin = self.config.getoption("--soak-from")
        # A test that was renamed since the last run is not found: then the part begins anew.
        first = names.index(begin) if begin in names else 0
        self.config.hook.pytest_deselected(items=items[:first])
        del items[:first]
        if getattr(self.config, "workerinput", {}).get("workerid", "gw0") == "gw0":
            self.config.getoption("--soak-items").write_text("".join(f"{name}\n" for name in names[first:]))
        self.until = time.monotonic() + self.config.getoption("--soak-seconds")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        """True leaves the test out, without a result. The next run begins with it."""
        return True if time.monotonic() >= self.until else None
