"""Where resources are looked at: a cluster, or the state folder of a local operator."""

from dataclasses import dataclass
from typing import Protocol

from hudi_operator.plugin.documents import Document, Tree
from hudi_operator.resources.model import Ref


class CannotLook(Exception):
    """The place does not answer; the message says why and what to do."""


class NotThere(CannotLook):
    """The place answers, and has no such resource."""


class Refused(Exception):
    """What was asked for is not done; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands beside the resources. None: it could not be looked at."""

    leases: tuple[Tree, ...] | None
    writer_maps: frozenset[tuple[str, str]] | None


class Place(Protocol):
    """Every method raises `CannotLook` alone."""

    def documents(self) -> list[Document]:
        """All resources of our three kinds."""

    def index(self, name: str) -> Document:
        """One MetadataIndex, as it is now."""

    def approve(self, ref: Ref, plan_hash: str) -> None:
        """Puts the annotation there that says so."""

    def surroundings(self) -> Surroundings: ...
