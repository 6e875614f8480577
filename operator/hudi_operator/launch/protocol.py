"""What the rest of the operator asks of whatever starts runs."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from hudi_operator.runs import RunKey, RunOrder, RunSeen

SecretReader = Callable[[str, str], Awaitable[Mapping[str, bytes]]]
"""Keys and values of the secret of that namespace and name; `NotStarted` if there is none."""


class NameConflict(Exception):
    """A run of the name ordered exists already and is somebody else's."""


class NotStarted(Exception):
    """Nothing runs, nothing was left behind, and the same order may be given again; the message says what to do."""


class Launcher(Protocol):
    """Starts runs and keeps a record of each, which outlives both the run and the operator.

    Nothing of it is remembered by the launcher alone: what `runs` answers is read from the records every time, so an
    operator that was killed goes on where it was. Every method may be repeated.
    """

    async def start(self, order: RunOrder) -> None:
        """The run exists afterwards, started now or before: adopted if it is the owner's, `NameConflict` if not."""
        ...

    async def runs(self) -> Sequence[RunSeen]:
        """All of ours that there are, ended ones too until they are forgotten."""
        ...

    async def stop(self, run: RunKey) -> None:
        """Ask the run to end cleanly; it is ended by force once its grace period is over."""
        ...

    async def forget(self, run: RunKey) -> None:
        """Remove the record of an ended run; a live one and one that is not there are left as they are."""
        ...
