"""The gate: every part of `make test`, in turn, whether an earlier one failed or not.

    python -m tests.gate                  all parts
    python -m tests.gate faults cluster   these parts, as `make test ONLY="faults cluster"`

`tests/gate/budgets.toml` says what a part runs and how long it may take. Output of the parts is kept in `.gate`. Tests
that failed because the harness did not start (a JVM, a server) run once more, and both outcomes are reported; no other
test ever runs twice. The last line is `N passed, N failed`, and the exit code is 1 if anything failed.
"""

import argparse
import os
import signal
import sys
from datetime import UTC, datetime
from typing import Final

from tests.gate.downloads import downloads
from tests.gate.parts import ROOT, Gate, GateError, Part, read_gate, require_paths_are_there
from tests.gate.run import run_part
from tests.gate.summary import summary
from tests.kit.soak import SEED, SOAK
from tests.soak.ledger import ages, read_ledger
from tests.soak.parts import read_soak

_LOGS: Final = ROOT / ".gate"
# With this set, each of the thousands of processes that tests start would compile all that it imports.
_UNSET: Final = ("PYTHONDONTWRITEBYTECODE", SOAK, SEED)


def main() -> int:
    try:
        gate = read_gate()
        parts = gate.chosen(_arguments(gate).parts)
        require_paths_are_there(gate)
    except GateError as wrong:
        print(wrong, file=sys.stderr)
        return 2
    # Parts and downloads end with the gate, however that ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    return _run(gate, parts)


def _run(gate: Gate, parts: tuple[Part, ...]) -> int:
    _LOGS.mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name not in _UNSET}
    # Instant times of tables on a LOCAL timeline are in their writers' zone. Ours, and the tests' JVMs, are in UTC.
    environment["TZ"] = "UTC"
    needed = {name: gate.downloads[name] for name in gate.downloads if any(name in part.needs for part in parts)}
    with downloads(needed, _LOGS, environment) as running:
        rows = [run_part(part, gate, running, _LOGS, environment) for part in parts]
    print(summary(rows, _soak_ages() if parts == gate.parts else ()), flush=True)
    return 1 if any(row.failed for row in rows) else 0


def _soak_ages() -> list[str]:
    """The gate does not fail by age: soak parts are run by people, when they have the time."""
    parts = [part.name for part in read_soak().parts]
    return ["", "soak parts:", *ages(read_ledger(), parts, datetime.now(UTC)), ""]


def _arguments(gate: Gate) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.gate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ", ".join(part.name for part in gate.parts)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of: {names}; all of them if none is given")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
