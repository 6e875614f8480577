"""All targets in all workers: the deterministic part whole, then chance for as long as there is time."""

import os
import selectors
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice

from tests.fuzz.cases import Case, Target
from tests.fuzz.mutations import by_chance, damaged, undamaged_and_forged
from tests.fuzz.worker import Finding, Job, Limits, Tally, Worker

USUAL = Limits()
_STRIPES = 4
"""Jobs into which the deterministic part of a target is cut, so that no worker is left alone with the slowest."""
_SLICE_SECONDS = 1.0
_MOST_FINDINGS = 10
"""Per target: with so many there is no point in going on."""


@dataclass(slots=True)
class Outcome:
    tallies: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    findings: list[Finding] = field(default_factory=list)

    def has_enough_of(self, target: str) -> bool:
        return sum(finding.target == target for finding in self.findings) >= _MOST_FINDINGS


def run(targets: Sequence[Target], seconds: float, seed: int, limits: Limits = USUAL) -> Outcome:
    """Every deterministic case of the targets, then cases by chance until `seconds` have passed."""
    _require_one_thread()
    until = time.monotonic() + seconds
    jobs = deque(_deterministic_jobs(targets))
    chance = _chance_jobs(targets, seed, until)
    outcome = Outcome()
    with selectors.DefaultSelector() as running:
        while True:
            while len(running.get_map()) < len(os.sched_getaffinity(0)):
                job = jobs.popleft() if jobs else next(chance, None)
                if job is None:
                    break
                if not outcome.has_enough_of(job.target.name):
                    worker = Worker(job, limits)
                    running.register(worker.pipe, selectors.EVENT_READ, worker)
            if not running.get_map():
                return outcome
            for key, _ in running.select(timeout=0.5):
                if not key.data.receive():
                    running.unregister(key.fd)
                    _take(key.data, outcome, jobs)
            for key in running.get_map().values():
                key.data.stop_if_stuck()


def try_one(target: Target, case: Case, limits: Limits = USUAL) -> Outcome:
    """A single case in a process of its own."""
    outcome = Outcome()
    worker = Worker(Job(target, lambda: iter([case])), limits)
    while worker.receive():
        worker.stop_if_stuck()
    _take(worker, outcome, deque())
    return outcome


def _require_one_thread() -> None:
    """A fork copies one thread and the locks of all."""
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("several threads: start this with `python -m tests.fuzz`")


def _take(worker: Worker, outcome: Outcome, jobs: deque[Job]) -> None:
    tally, findings, left = worker.finish()
    outcome.tallies[worker.job.target.name].add(tally)
    outcome.findings += findings
    if left is not None:
        jobs.append(left)


def _deterministic_jobs(targets: Sequence[Target]) -> Iterator[Job]:
    for target in targets:
        yield Job(target, partial(undamaged_and_forged, target))
    for stripe in range(_STRIPES):
        for target in targets:
            yield Job(target, partial(_stripe, target, stripe))


def _stripe(target: Target, number: int) -> Iterator[Case]:
    return islice(damaged(target), number, None, _STRIPES)


def _chance_jobs(targets: Sequence[Target], seed: int, until: float) -> Iterator[Job]:
    for turn in count():
        for target in targets:
            if time.monotonic() >= until:
                return
            end = min(until, time.monotonic() + _SLICE_SECONDS)
            yield Job(target, partial(_by_chance, target, f"{seed}/{turn}"), until=end)


def _by_chance(target: Target, prefix: str) -> Iterator[Case]:
    for number in count():
        yield by_chance(target, f"{prefix}/{number}")
