"""`make demo`: tables made by real Hudi (Java), and what the engine sees of them and of their indexes without a JVM."""

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.interop.jvm import Jvm

_ENGINE = Path(sys.executable).with_name("hudi-engine")
_SCENARIO = "orders"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hudi-demo-") as folder:
        table = str(Path(folder, "orders"))
        _say("Hudi 1.2.0 on Spark writes a merge-on-read table: inserts, updates, late events, deletes, a new column …")
        with Jvm("1.2.0") as hudi:
            instants = hudi.run_scenario(scenario=_SCENARIO, folder=table, table_version=9, table_type="MERGE_ON_READ")
            _look_into(table, instants)
            _say("Hudi 1.2.0 builds a record index with its own asynchronous indexer while another writer commits …")
            indexed = str(Path(folder, "indexed"))
            hudi.lose_keys_beside_a_writer(folder=indexed)
        _ask_its_index(indexed)
    _say("Tables of real Hudi, read without a JVM. On one of yours: .venv/bin/hudi-engine validate TABLE")


def _look_into(table: str, instants: Sequence[str]) -> None:
    _show("inspect", table)
    _show("timeline", table)
    _show("files", table, "region=plain")
    columns = "_hoodie_commit_time,_hoodie_record_key,seen,note,price,tags"
    _show("read", table, "--columns", columns, "--limit", "8")
    _show("read", table, "--columns", columns, "--limit", "3", "--as-of", instants[0])
    _show("read", table, "--limit", "1", "--json")


def _ask_its_index(table: str) -> None:
    """Hudi calls the index complete; 200 of the 500 keys are not in it."""
    _show("lookup", table, "--key", "key-00007", "--verify")
    _show("lookup", table, "--key", "key-00499", expected=1)
    _show("validate", table, "--index", "files", "--index", "record_index", expected=1, lines=8)


def _show(*command: str, expected: int = 0, lines: int = 1000) -> None:
    """Runs a command and shows what it prints; of more lines than these, some of the first and of the last."""
    _say("hudi-engine " + " ".join(command))
    done = subprocess.run([str(_ENGINE), *command], stdout=subprocess.PIPE, text=True, check=False)
    printed = done.stdout.splitlines()
    if len(printed) > lines:
        printed = [*printed[:3], f"… {len(printed) - lines} lines more …", *printed[3 - lines :]]
    print("\n".join(printed), flush=True)
    if done.returncode != expected:
        sys.exit(f"it ended with {done.returncode}, expected {expected}")


def _say(line: str) -> None:
    print(f"\n\033[1m▸ {line}\033[0m" if sys.stdout.isatty() else f"\n> {line}", flush=True)


if __name__ == "__main__":
    main()
