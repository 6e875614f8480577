"""`make soak`, as tests see it: whether it runs, and the seed that it drew.

HUDI_SOAK=1 HUDI_SOAK_SEED=17 .venv/bin/python -m pytest tests/crash/test_chaos.py
"""

import os
import random
from collections.abc import Sequence
from typing import Final, TypeVar

SOAK: Final = "HUDI_SOAK"
SEED: Final = "HUDI_SOAK_SEED"

Case = TypeVar("Case")


def is_soak() -> bool:
    return bool(os.environ.get(SOAK))


def seed() -> int:
    """The number that this soak run drew, or that its caller gave in order to repeat it."""
    return int(os.environ.get(SEED, "0"))


def new_seeds(count: int, salt: str = "") -> list[int]:
    """As many different seeds, all from `seed()`; `salt` keeps one test's seeds apart from another's."""
    return random.Random(f"{seed()} {salt}").sample(range(10**6, 10**9), count)


def and_in_soak(few: Sequence[Case], rest: Sequence[Case]) -> list[Case]:
    """The few that the gate runs, and in `make soak` the rest too."""
    return [*few, *(rest if is_soak() else ())]
