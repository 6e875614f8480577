"""Keys that Hudi 1.2.0's own indexer loses are found missing, each of them and no others."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.java.jvm import Jvm


def test_keys_lost_beside_a_concurrent_writer_are_reported_one_by_one(
    jvm: Callable[[str], Jvm], tmp_path: Path
) -> None:
    made = jvm("1.2.0").lose_keys_beside_a_writer(folder=str(tmp_path / "table"))

    assert _missing(tmp_path / "table") == sorted(made["lost"])
    assert 0 < len(made["lost"]) < made["rows"]


def test_an_index_that_the_next_one_wiped_out_misses_every_key(jvm: Callable[[str], Jvm], tmp_path: Path) -> None:
    made = jvm("1.2.0").lose_keys_to_the_next_index(folder=str(tmp_path / "table"))

    assert _missing(tmp_path / "table") == sorted(made["lost"])
    assert len(made["lost"]) == made["rows"]


def _missing(table: Path) -> list[str]:
    """The keys that `validate` calls missing, which must be all that it says of the record index."""
    command = [
        sys.executable,
        "-m",
        "hudi_engine.cli.main",
        "validate",
        str(table),
        "--index",
        "record_index",
        "--json",
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 1, ended.stderr
    document: dict[str, Any] = json.loads(ended.stdout)
    assert not document["ok"]
    assert {each["fault"] for each in document["discrepancies"]} == {"missing"}
    (check,) = document["checks"]
    assert check["discrepancies"] == len(document["discrepancies"])
    return sorted(each["key"] for each in document["discrepancies"])
