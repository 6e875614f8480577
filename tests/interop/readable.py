"""Which release reads tables of which version: the pairs to prove what we write on."""

from typing import Any

import pytest
from tools.parts import HUDI_VERSIONS

TABLE_VERSIONS = {"0.15.0": (6,), "1.0.2": (6, 8), "1.1.1": (6, 8, 9), "1.2.0": (6, 8, 9)}
assert tuple(TABLE_VERSIONS) == HUDI_VERSIONS


def every_release_and_table_version(least: int = 6) -> Any:
    """Gives a test `real_hudi` and `table_version`, from the least on."""
    pairs = [(hudi, version) for hudi, versions in TABLE_VERSIONS.items() for version in versions if version >= least]
    return pytest.mark.parametrize(("real_hudi", "table_version"), pairs, indirect=["real_hudi"])
