"""Where resources live: a cluster or a folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from hudi_operator.resources.model import HudiTable
from hudi_operator.resources.unreadable import Stored


class HomeError(Exception):
    """The resource's home did not do what was asked, or did not say whether it did; the same may succeed later."""


class Gone(HomeError):
    """The resource is not there any more, or another has its name."""


@dataclass(frozen=True, slots=True)
class Event:
    """What a user is told beside the status; the same of the same resource is counted, not listed again."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str


class Home(Protocol):
    """All that is written about resources. Every method may be repeated, and raises `HomeError` alone."""

    async def write_status(self, resource: Stored, status: Mapping[str, object]) -> None:
        """Makes this the whole status that stands there."""

    async def set_finalizer(self, resource: Stored, is_wanted: bool) -> None: ...

    async def remove_annotation(self, resource: Stored, name: str) -> None: ...

    async def tell(self, resource: Stored, event: Event) -> None: ...

    async def write_writer_config(self, table: HudiTable, data: Mapping[str, str]) -> bool:
        """The ConfigMap `<table>-writer` or a file like it. False if somebody else's is in its place, which stays."""

    async def secret_folder(self, namespace: str, names: Sequence[str]) -> tuple[Path, ...]:
        """A private folder of each secret: each key a file. They are kept up to date, and removed at the end."""
