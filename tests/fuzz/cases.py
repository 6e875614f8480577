"""What is tried: a target is one way into the engine, a case is one damaged file for it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """One input. `is_whole` marks what a real writer made, which must be read; `is_hopeless` what must be refused."""

    seed: str
    mutation: str
    data: bytes
    is_whole: bool = False
    is_hopeless: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """One way into the engine.

    `read` takes the name of the seed that was damaged, and the damaged bytes, and goes all the way. `crafted` gives
    forged files by name: none of them may be read. Where `knows_its_end`, a file cut short must be refused.
    Where `names_the_file`, an error has to say which file it is about. `landmarks` are bytes after which the
    interesting fields stand; `share` is how much of the usual number of bit flips and forged integers is tried.
    """

    name: str
    seeds: Mapping[str, bytes]
    read: Callable[[str, bytes], object]
    crafted: Callable[[], Iterator[Case]] = lambda: iter(())
    knows_its_end: bool = False
    names_the_file: bool = False
    landmarks: tuple[bytes, ...] = ()
    share: float = 1.0

    @property
    def smallest(self) -> str:
        return min(self.seeds, key=lambda name: (len(self.seeds[name]), name))


def forged(seed: str, what: str, data: bytes) -> Case:
    """A file made to do harm."""
    return Case(seed, f"crafted: {what}", data, is_hopeless=True)
