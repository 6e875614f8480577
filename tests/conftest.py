"""What holds for all tests."""

from pathlib import Path

import pytest

# What helpers assert says what it found, too.
pytest.register_assert_rewrite(
    *(f"tests.{folder.name}" for folder in Path(__file__).parent.iterdir() if folder.is_dir())
)
pytest_plugins = ("tests.gate.plugin", "tests.gate.failure_block", "tests.soak.plugin")
