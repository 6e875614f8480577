"""What a launcher asks of a cluster's API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

Manifest = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of objects, by its names in the addresses of the API; the core's group version is `v1`."""

    group_version: str
    plural: str


@dataclass(frozen=True, slots=True)
class Address:
    """One object, or all of a sort without a name; in all namespaces without a namespace."""

    sort: Sort
    namespace: str | None = None
    name: str = ""

    @property
    def path(self) -> str:
        version = self.sort.group_version
        parts = [
            *(("apis", *version.split("/")) if "/" in version else ("api", version)),
            *(("namespaces", self.namespace) if self.namespace else ()),
            self.sort.plural,
            *((self.name,) if self.name else ()),
        ]
        return "/" + "/".join(quote(part, safe="") for part in parts)


JOBS = Sort("batch/v1", "jobs")
PODS = Sort("v1", "pods")


class AlreadyThere(Exception):
    """An object of that name exists."""


class Forbidden(Exception):
    """The cluster will not have such an object there; the message is its own."""


class Cluster(Protocol):
    """The API as far as Jobs need it. What is not there is None; other failures are the cluster's own errors."""

    async def create(self, address: Address, manifest: Manifest) -> Manifest:
        """The object as created; `AlreadyThere` or `Forbidden` if it was not."""
        ...

    async def find(self, address: Address) -> Manifest | None: ...

    async def listed(self, address: Address, labels: str) -> Sequence[Manifest]: ...

    async def events_about(self, namespace: str, uid: str) -> Sequence[Manifest]:
        """The events of the object of that uid; none where we may not look."""
        ...

    async def patch(self, address: Address, changes: Manifest) -> Manifest | None:
        """By a merge; the object as it is afterwards."""
        ...

    async def delete(self, address: Address, uid: str) -> None:
        """Only the object of that uid, its dependents first; it may be gone already."""
        ...
