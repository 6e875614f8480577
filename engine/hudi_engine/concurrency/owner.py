"""Who asks: shown to people and to other runners, never compared with anything but itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Owner:
    """One run of one program. Whoever starts it chooses the words; no two runs have all three in common."""

    name: str
    host: str
    attempt: str

    def __str__(self) -> str:
        return f"{self.name} on {self.host}, attempt {self.attempt}"
