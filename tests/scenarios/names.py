"""Instants by short names: a transcript says C5, whatever the clock said."""

import re
from dataclasses import dataclass, field
from typing import Final

from tests.worlds.world import World

_TIME: Final = re.compile(r"(?<![0-9])[0-9]{17}(?:[0-9]{3})?(?![0-9])")
_SOLO: Final = "00000000000000"


@dataclass(slots=True)
class Names:
    """Names that the scenario gave, and those that follow from what an instant is."""

    given: dict[str, str] = field(default_factory=dict)

    def give(self, name: str, instant: str) -> None:
        self.given[instant] = name

    def instant(self, name: str) -> str:
        return next(instant for instant, given in self.given.items() if given == name)

    def told(self, text: str, world: World) -> str:
        """The text with names where it has times."""
        plans = [i.requested_at for i in world.table().timeline().of("indexing")]  # type: ignore[arg-type]  # an Action is its text
        for plan in plans:
            self.given.setdefault(plan, self._next("PLAN"))
        return _TIME.sub(lambda match: self._name(match[0]), text)

    def _name(self, time: str) -> str:
        if time not in self.given:
            self.give(self._next("BASE" if time.startswith(_SOLO) else "T"), time)
        return self.given[time]

    def _next(self, kind: str) -> str:
        return f"{kind}{1 + sum(name.startswith(kind) for name in self.given.values())}"
