"""A job of Spark beside which somebody looks at how far it is."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from pyspark import SparkContext, inheritable_thread_target

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
    """Work that has Spark run one job. Its name tells it from all others; its phases are its stages, in order."""

    name: str
    phases: Sequence[Phase]
    work: Callable[[], Any]

    def run(self, context: SparkContext, watch: Watch) -> Any:
        """What the work gives, or the error of the engine that a task raised. Who stops waiting stops the job, too."""

        def named() -> Any:
            context.setJobGroup(self.name, self.name, interruptOnCancel=True)
            return self.work()

        with as_raised(), ThreadPoolExecutor(1) as thread:
            running = thread.submit(inheritable_thread_target(named))
            try:
                for phase in self.phases:
                    watch.begin(phase.name, phase.tasks)
                    _Progress(phase, watch).follow(self._done(context, phase, running))
            except BaseException:
                context.cancelJobGroup(self.name)
                raise
            return running.result()

    def _done(self, context: SparkContext, phase: Phase, running: "Future[Any]") -> Iterator[int]:
        """How many tasks of the phase are done, looked at again and again until all are or the job is over."""
        tracker = context.statusTracker()
        number = self.phases.index(phase)
        done = 0
        while done < phase.tasks and not wait([running], _LOOK_SECONDS).done:
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(self.name)]
            stages = sorted(stage for job in jobs if job is not None for stage in job.stageIds)
            stage = tracker.getStageInfo(stages[number]) if number < len(stages) else None
            if stage is not None:
                done = max(done, min(stage.numCompletedTasks, phase.tasks))
                yield done
        if running.done() and running.exception() is None:
            yield phase.tasks


@dataclass(slots=True)
class _Progress:
    """What a watch was told of a phase."""

    phase: Phase
    watch: Watch
    steps: int = 0
    rows: int = 0

    def follow(self, done: Iterator[int]) -> None:
        for steps in done:
            rows = self.phase.rows()
            if (steps, rows) != (self.steps, self.rows):
                self.watch.advance(steps - self.steps, rows - self.rows)
                self.steps, self.rows = steps, rows
