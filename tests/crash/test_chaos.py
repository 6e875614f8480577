"""Lives of tables in which anything may happen at any moment: in the end the index is complete, right and tidy."""

import os

import pytest

from tests.crash.chaos import Life

pytestmark = pytest.mark.thorough

_QUICK = (3, 7)
_LIVES = range(100, 150) if os.environ.get("HUDI_SOAK") else range(100, 104)


def live(seed: int) -> None:
    life = Life(seed)
    try:
        life.live()
    except BaseException as wrong:
        wrong.add_note("\n".join([f"life {seed} of {life.start}", *life.told]))
        raise


@pytest.mark.parametrize("seed", _QUICK)
def test_whatever_happens_the_index_is_right_in_the_end(seed: int) -> None:
    live(seed)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", _LIVES)
def test_whatever_else_happens_the_index_is_right_in_the_end(seed: int) -> None:
    live(seed)
