"""Two observers: one that has the operator's identity, and one for all that is opened without it."""

from collections.abc import Mapping
from dataclasses import dataclass

from hudi_engine.contract import ObserveRequest, TableSeen, TableUnseen
from hudi_operator.observe.observer import Observer
from hudi_operator.policy import scrubbed


@dataclass(frozen=True, slots=True)
class ObserverPair:
    """Each is a process of its own, started when it is first asked: what reaches one of them is not in the other."""

    anonymous: Observer
    identified: Observer

    @staticmethod
    def of(environment: Mapping[str, str]) -> "ObserverPair":
        return ObserverPair(Observer(environment=scrubbed(environment)), Observer(environment=dict(environment)))

    async def look(self, request: ObserveRequest) -> TableSeen | TableUnseen:
        """As `Observer.look`; a request without a grant is refused, for it would be a limit that somebody forgot."""
        if request.grant is None:
            raise ValueError(f"{request.table}: asked without a grant")
        observer = self.identified if request.grant.has_identity else self.anonymous
        return await observer.look(request)

    async def close(self) -> None:
        await self.anonymous.close()
        await self.identified.close()
