"""Two processes that try to create the same names, round by round."""

import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

_RACER = """
import sys
from hudi_engine.errors import AlreadyExists
from hudi_engine.storage.open import open_storage

location, content = sys.argv[1], sys.argv[2].encode() * 2000
storage = open_storage(location, dict(pair.split("=", 1) for pair in sys.argv[3:]))
print("ready", flush=True)
for line in sys.stdin:
    name = line.rstrip()
    try:
        storage.create(name, content)
        print("won", flush=True)
    except AlreadyExists:
        # A loser looks at once, while the winner may still be busy: it must see the whole file.
        print("lost" if len(storage.read(name)) == len(content) else "saw a part of it", flush=True)
"""


@dataclass(frozen=True, slots=True)
class Race:
    """What each of the two was told, round by round."""

    told: tuple[tuple[str, str], ...]

    @property
    def both_won(self) -> int:
        return self.told.count(("won", "won"))

    @property
    def wins(self) -> tuple[int, int]:
        return self.told.count(("won", "lost")), self.told.count(("lost", "won"))


def run_race(location: str, options: Mapping[str, str], rounds: int) -> Race:
    """`rounds` names, each created by both processes as nearly at once as two pipes allow: `race/0` and on."""
    settings = [f"{name}={value}" for name, value in options.items()]
    told = []
    with ExitStack() as stack:
        racers = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", _RACER, location, me, *settings],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for me in "AB"
        ]
        for racer in racers:
            assert _answer(racer) == "ready"
        for number in range(rounds):
            for racer in racers if number % 2 else reversed(racers):
                assert racer.stdin is not None
                racer.stdin.write(f"race/{number}\n")
                racer.stdin.flush()
            first, second = racers
            told.append((_answer(first), _answer(second)))
    return Race(tuple(told))


def _answer(racer: "subprocess.Popen[str]") -> str:
    assert racer.stdout is not None
    return racer.stdout.readline().rstrip()
