"""Damage every format and see what the engine makes of it: `python -m tests.fuzz --help`."""

import argparse
import hashlib
import json
import random
import sys
from pathlib import Path

from tests.fuzz.cases import Case, Target
from tests.fuzz.run import Outcome, run, try_one
from tests.fuzz.targets import all_targets
from tests.fuzz.worker import Finding

_FINDINGS = Path(".fuzz")


def main() -> int:
    """0 if every target ran and nothing was found, else 1."""
    targets = {target.name: target for target in all_targets()}
    arguments = _arguments(sorted(targets))
    if arguments.replay is not None:
        return _replay(targets, arguments.replay)
    chosen = [targets[name] for name in arguments.target or targets]
    seed = random.SystemRandom().randrange(10**9) if arguments.seed is None else arguments.seed
    print(f"{len(chosen)} targets, {arguments.seconds:g} s, seed {seed}: repeat chance with --seed {seed}", flush=True)
    outcome = run(chosen, arguments.seconds, seed)
    print(_table(outcome))
    for finding in outcome.findings:
        print(_saved(finding), file=sys.stderr)
    unrun = [target.name for target in chosen if not outcome.tallies[target.name].cases]
    if unrun:
        print(f"no case ran of: {', '.join(unrun)}", file=sys.stderr)
    failed = len({(finding.target, finding.case.seed, finding.case.mutation) for finding in outcome.findings})
    cases = sum(tally.cases for tally in outcome.tallies.values())
    print(f"{cases - failed} passed, {failed + len(unrun)} failed")
    return 1 if failed or unrun else 0


def _arguments(names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long; the deterministic part is always whole")
    parser.add_argument("--seed", type=int, help="of the part that goes by chance; drawn if not given")
    parser.add_argument("--target", nargs="+", choices=names, help="only these", metavar="NAME")
    parser.add_argument("--replay", type=Path, help="try one saved finding again", metavar="FILE")
    return parser.parse_args()


def _table(outcome: Outcome) -> str:
    lines = [f"{'target':<22} {'cases':>7} {'slowest ms':>10} {'growth MiB':>10}  outcomes"]
    for name, tally in outcome.tallies.items():
        kinds = ", ".join(f"{kind} {number}" for kind, number in tally.outcomes.most_common())
        slowest = f"{tally.slowest_ms:>10.0f}"
        lines.append(f"{name:<22} {tally.cases:>7} {slowest} {tally.growth_bytes / 2**20:>10.0f}  {kinds}")
    slow = max(outcome.tallies.values(), key=lambda tally: tally.slowest_ms)
    heavy = max(outcome.tallies.values(), key=lambda tally: tally.growth_bytes)
    lines.append(f"slowest: {slow.slowest}; most memory by: {heavy.heaviest}")
    return "\n".join(lines)


def _saved(finding: Finding) -> str:
    """Keep the damaged file, and say how to try it again."""
    case = finding.case
    path = _FINDINGS / f"{finding.target}-{hashlib.sha256(case.data).hexdigest()[:12]}"
    _FINDINGS.mkdir(exist_ok=True)
    path.write_bytes(case.data)
    about = {"target": finding.target, "seed": case.seed, "mutation": case.mutation, "is_hopeless": case.is_hopeless}
    path.with_suffix(".json").write_text(json.dumps({**about, "fault": finding.fault}, indent=2) + "\n")
    return (
        f"{finding.target}: {case.seed}, {case.mutation}: {finding.fault.rstrip()}\n"
        f"  try it again: python -m tests.fuzz --replay {path}"
    )


def _replay(targets: dict[str, Target], path: Path) -> int:
    about = json.loads(path.with_suffix(".json").read_text())
    case = Case(about["seed"], about["mutation"], path.read_bytes(), is_hopeless=about["is_hopeless"])
    outcome = try_one(targets[about["target"]], case)
    print(_table(outcome))
    for finding in outcome.findings:
        print(finding.fault)
    return 1 if outcome.findings else 0


if __name__ == "__main__":
    sys.exit(main())
