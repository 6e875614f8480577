"""One part of the soak tests, which search beyond what the gate tests, for at most 45 minutes.

    make soak                               the part that has not run for longest, or never
    make soak PART=chaos MINUTES=10         this part, for ten minutes
    make soak PART=chaos SEED=17            what a run with that seed did

A part with seeds draws a new one each time and prints it. A part without seeds begins where its last run ended. Every
run adds a line to tests/soak/ledger.json: commit it. A seed that fails becomes a conducted test of the gate before the
fault is mended.
"""

import argparse
import random
import signal
import subprocess
import sys
from datetime import UTC, datetime
from typing import Final

from tests.gate.parts import ROOT
from tests.soak.ledger import Run, add_to_ledger, ages, last_run, oldest_part, read_ledger
from tests.soak.parts import SoakError, read_soak
from tests.soak.run import Order, Outcome, run_order

_LOGS: Final = ROOT / ".gate"


def main() -> int:
    soak, runs, asked = read_soak(), read_ledger(), _arguments()
    names = [part.name for part in soak.parts]
    minutes = asked.minutes or soak.longest_minutes
    try:
        part = soak.part(asked.part or oldest_part(runs, names))
        soak.require_short(minutes)
    except SoakError as wrong:
        print(wrong, file=sys.stderr)
        return 2
    before = last_run(runs, part.name)
    seed = random.SystemRandom().randrange(10**9) if asked.seed is None else asked.seed
    order = Order(part, minutes, seed, before.next if before else "")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    print(_begins(order), flush=True)
    _LOGS.mkdir(exist_ok=True)
    return _report(order, run_order(order, _LOGS))


def _begins(order: Order) -> str:
    how = f"seed {order.seed}" if order.part.has_seeds else f"from {order.begin or 'the first test'}"
    return f"soak part {order.part.name}, {order.minutes:g} minutes, {how}"


def _report(order: Order, outcome: Outcome) -> int:
    # The tests that a part with seeds did not come to have other seeds the next time.
    left = () if order.part.has_seeds else outcome.left
    if not outcome.cases and not outcome.failed:
        print(f"no test of {order.part.name} ran in {order.minutes:g} minutes: give it more", file=sys.stderr)
        return 1
    run = Run(
        order.part.name,
        _commit(),
        datetime.now(UTC).isoformat(timespec="seconds"),
        order.seed,
        outcome.cases,
        len(left),
        round(outcome.minutes, 1),
        f"{len(outcome.failed)} failed" if outcome.failed else "passed",
        outcome.failed,
        left[0] if left else "",
    )
    add_to_ledger(run)
    print(*ages([run], [run.part], datetime.now(UTC)), sep="\n")
    print(f"{outcome.cases - len(outcome.failed)} passed, {len(outcome.failed)} failed")
    return 1 if outcome.failed else 0


def _commit() -> str:
    """Of the tree that was tested; `+` says that it had changes that were not committed, the ledger's own left out."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    changes = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!tests/soak/ledger.json")
    return git("rev-parse", "--short=12", "HEAD") + ("+" if changes else "")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ", ".join(part.name for part in read_soak().parts)
    parser.add_argument("part", nargs="?", metavar="PART", help=f"one of: {names}; the oldest if not given")
    parser.add_argument("--minutes", type=float, help="at most 45, which it is if not given")
    parser.add_argument("--seed", type=int, help="of an earlier run; drawn if not given")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
