"""A job of Spark beside which somebody looks at how far it is."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark import SparkContext, StatusTracker, inheritable_thread_target

from hudi_engine.spark.failures import as_raised
from hudi_engine.watch import Watch

_LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Phase:
    """A stage of a job: what a person calls it, of how many tasks it is, and how many rows they have come to."""

    name: str
    tasks: int
    rows: Callable[[], int]


@dataclass(frozen=True, slots=True)
class Job:
    """Work that has Spark run one job. No other that runs has its name; its phases are its stages, in order."""

    name: str
    phases: Sequence[Phase]
    work: Callable[[], Any]

    def run(self, context: SparkContext, watch: Watch) -> Any:
        """What the work gives, or the error of the engine that a task raised. Who stops waiting stops the job, too."""

        def named() -> Any:
            context.setJobGroup(self.name, self.name, interruptOnCancel=True)
            return self.work()

        stages = _Stages(context.statusTracker(), self.name)
        with as_raised(), ThreadPoolExecutor(1) as thread:
            running = thread.submit(inheritable_thread_target(named))
            try:
                for number, phase in enumerate(self.phases):
                    watch.begin(phase.name, phase.tasks)
                    _follow(phase, watch, running, partial(stages.completed_tasks, number))
            except BaseException:
                context.cancelJobGroup(self.name)
                raise
            return running.result()


class _Stages:
    """The stages of the next job of this name: there may have been others before, of an earlier try."""

    def __init__(self, tracker: StatusTracker, name: str) -> None:
        self._tracker = tracker
        self._name = name
        self._before = frozenset(tracker.getJobIdsForGroup(name))

    def completed_tasks(self, number: int) -> int:
        jobs = set(self._tracker.getJobIdsForGroup(self._name)) - self._before
        found = [info for info in map(self._tracker.getJobInfo, jobs) if info is not None]
        stages = sorted(stage for info in found for stage in info.stageIds)
        stage = self._tracker.getStageInfo(stages[number]) if number < len(stages) else None
        return 0 if stage is None else stage.numCompletedTasks


def _follow(phase: Phase, watch: Watch, running: "Future[Any]", completed_tasks: Callable[[], int]) -> None:
    """Tell the watch how far the phase is until it or the job is over."""
    steps = rows = 0
    while steps < phase.tasks:
        is_over = bool(wait([running], _LOOK_SECONDS).done)
        if is_over and running.exception() is not None:
            return
        now = phase.tasks if is_over else min(completed_tasks(), phase.tasks)
        more_steps, more_rows = now - steps, phase.rows() - rows
        if more_steps > 0 or more_rows > 0:
            watch.advance(more_steps, more_rows)
            steps, rows = steps + more_steps, rows + more_rows
