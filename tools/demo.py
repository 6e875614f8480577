"""`make demo`: a small table made by real Hudi (Java), and what the engine sees of it without a JVM."""

import subprocess
import sys
import tempfile
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
        _show("inspect", table)
        _show("timeline", table)
        _show("files", table, "region=plain")
        columns = "_hoodie_commit_time,_hoodie_record_key,seen,note,price,tags"
        _show("read", table, "--columns", columns, "--limit", "8")
        _show("read", table, "--columns", columns, "--limit", "3", "--as-of", instants[0])
        _show("read", table, "--limit", "1", "--json")
    _say("A table of real Hudi, read without a JVM. On one of yours: .venv/bin/hudi-engine inspect TABLE")


def _show(*command: str) -> None:
    _say("hudi-engine " + " ".join(command))
    subprocess.run([str(_ENGINE), *command], check=True)


def _say(line: str) -> None:
    print(f"\n\033[1m▸ {line}\033[0m" if sys.stdout.isatty() else f"\n> {line}", flush=True)


if __name__ == "__main__":
    main()
