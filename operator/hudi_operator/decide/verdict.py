"""What was concluded, before it is put into conditions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from hudi_operator.decision import Act, Said
from hudi_operator.words import Condition, Reason, State

SOON, LATER, LATEST = 5.0, 15.0, 600.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """`is_moving`: something is under way or will be. `is_stuck`: it takes somebody, or longer than it should.

    `is_long`: it may take as long as a run may.
    """

    state: State
    reason: Reason
    message: str = ""
    ready: Literal["True", "False", "Unknown"] = "False"
    is_moving: bool = False
    is_stuck: bool = False
    is_long: bool = False
    act: Act | None = None
    again: float = LATEST
    facts: Mapping[str, object] = field(default_factory=dict)

    def said(self) -> tuple[Said, Said, Said]:
        """The three conditions that all kinds have.

        At most one of Reconciling and Stalled is true: kstatus takes the first that is true and looks no further.
        """
        calm = Reason.RECONCILED if self.ready == "True" else self.reason
        is_moving = self.is_moving and not self.is_stuck
        return (
            Said(Condition.READY, self.ready, self.reason, self.message),
            Said(Condition.RECONCILING, *(("True", self.reason, self.message) if is_moving else ("False", calm))),
            Said(
                Condition.STALLED,
                *(("True", self.reason, self.message) if self.is_stuck else ("False", Reason.NOT_STALLED)),
            ),
        )

    def with_facts(self, facts: Mapping[str, object]) -> "Verdict":
        return replace(self, facts={**self.facts, **facts})


def ready(reason: Reason, message: str = "", state: State = State.READY) -> Verdict:
    return Verdict(state, reason, message, "True")


def moving(state: State, reason: Reason, message: str, again: float = LATER) -> Verdict:
    """Not ready, and under way by itself."""
    return Verdict(state, reason, message, is_moving=True, again=again)


def stuck(state: State, reason: Reason, message: str) -> Verdict:
    return Verdict(state, reason, message, is_stuck=True)


def idle(state: State, reason: Reason, message: str) -> Verdict:
    """Not ready because somebody wants it so."""
    return Verdict(state, reason, message)


def doing(state: State, reason: Reason, message: str, act: Act) -> Verdict:
    return Verdict(state, reason, message, is_moving=True, act=act, again=SOON)
