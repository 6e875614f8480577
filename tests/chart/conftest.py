"""Helm and Lua are built, if they must be, before the first test, whose time limit they would not keep."""

from pathlib import Path

import pytest

from tools.go_programs import HELM, LUA


def pytest_collection_finish(session: pytest.Session) -> None:
    here = Path(__file__).parent
    if any(item.path.is_relative_to(here) for item in session.items):
        HELM.built()
        LUA.built()
