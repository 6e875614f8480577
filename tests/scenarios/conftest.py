"""`--rewrite` writes what the scenarios print now into them. Hand that in only if you can explain each changed line."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write the transcripts of scenarios anew")
