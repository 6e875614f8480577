"""Which release reads tables of which version: the pairs to prove what we write on."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.kit.soak import and_in_soak
from tools.parts import HUDI_VERSIONS

TABLE_VERSIONS = {"0.15.0": (6,), "1.0.2": (6, 8), "1.1.1": (6, 8, 9), "1.2.0": (6, 8, 9)}
HBASE_IS_IN = ("0.15.0", "1.0.2")
READERS_OF_HFILES = [*((hudi, "native") for hudi in HUDI_VERSIONS), *((hudi, "hbase") for hudi in HBASE_IS_IN)]
assert tuple(TABLE_VERSIONS) == HUDI_VERSIONS


Test = TypeVar("Test", bound=Callable[..., None])


def newest_table(
    version: str, folder: Path, table_type: str, schema: str, options: Mapping[str, str]
) -> dict[str, Any]:
    """What the harness's `commit` is told of a table in the newest version that the release writes."""
    return {
        "folder": str(folder),
        "table_version": TABLE_VERSIONS[version][-1],
        "table_type": table_type,
        "options": options,
        "schema": schema,
    }


def one_release(test: Test) -> Test:
    """Gives a test `real_hudi`: one release in the gate, each of them in soak."""
    marked: Test = pytest.mark.parametrize("real_hudi", and_in_soak(["1.2.0"], HUDI_VERSIONS[:-1]), indirect=True)(test)
    return marked


def every_release_and_table_version(test: Test) -> Test:
    """Gives a test `real_hudi` and `table_version`."""
    pairs = [(hudi, version) for hudi, versions in TABLE_VERSIONS.items() for version in versions]
    return _with_each("table_version", pairs, test)


def every_reader_of_hfiles(test: Test) -> Test:
    """Gives a test `real_hudi` and `reader`: Hudi's own in each release, HBase's where that is in the bundle."""
    return _with_each("reader", READERS_OF_HFILES, test)


def _with_each(name: str, pairs: Sequence[tuple[str, object]], test: Test) -> Test:
    marked: Test = pytest.mark.parametrize(("real_hudi", name), pairs, indirect=["real_hudi"])(test)
    return marked
