"""Runs: what is ordered, and what is seen of it; the same for Jobs of Kubernetes and for processes of this machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from hudi_engine.contract import Action, JobReport, JobRequest, RunProgress, printable
from hudi_operator.resources.model import Execution, Ref


@dataclass(frozen=True, slots=True, order=True)
class RunKey:
    """Names one run. A name alone names nothing: whoever may create Jobs in any namespace may give them any name."""

    namespace: str
    name: str
    owner_uid: str


@dataclass(frozen=True, slots=True)
class RunOrder:
    """One attempt at one piece of work.

    `name` is a function of whose it is, its action, its trigger and its attempt, so that ordering it twice is one run.
    `secrets` are those whose keys are properties that the run needs and that must not stand in its request.
    """

    name: str
    owner: Ref
    owner_uid: str
    table: str
    trigger: str
    attempt: int
    request: JobRequest
    execution: Execution
    secrets: tuple[str, ...] = ()

    @property
    def key(self) -> RunKey:
        return RunKey(self.owner.namespace, self.name, self.owner_uid)


class RunPhase(StrEnum):
    WAITING = "Waiting"  # ordered, and nothing of it runs yet
    RUNNING = "Running"
    ENDED = "Ended"  # by itself: the exit code, and as a rule a report, tell how
    LOST = "Lost"  # killed, evicted, or gone without a word


@dataclass(frozen=True, slots=True)
class RunSeen:
    """What there is of a run. `trouble` says in words why it waits or was lost, `trouble_reason` in one word.

    `base_path` is where it is at work, whatever becomes of the resource of its table. `kinds` are the indexes that it
    was ordered for, by the engine's names.
    """

    name: str
    owner: Ref
    owner_uid: str
    table: str
    action: Action
    trigger: str
    attempt: int
    phase: RunPhase
    created_at: datetime
    base_path: str = ""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    exit_code: int | None = None
    report: JobReport | None = None
    progress: RunProgress | None = None
    trouble: str = ""
    trouble_reason: str = ""
    is_stopping: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()

    @property
    def key(self) -> RunKey:
        return RunKey(self.owner.namespace, self.name, self.owner_uid)

    @property
    def is_shared(self) -> bool:
        """Whether it builds indexes of several resources, of which its owner is one."""
        return self.action is Action.BUILD and len(self.kinds) > 1

    @property
    def is_live(self) -> bool:
        return self.phase in (RunPhase.WAITING, RunPhase.RUNNING)

    @property
    def in_printable_words(self) -> "RunSeen":
        """As it enters the operator: last words of a pod or a process may hold anything."""
        return replace(
            self,
            trigger=printable(self.trigger),
            trouble=printable(self.trouble),
            trouble_reason=printable(self.trouble_reason),
        )
