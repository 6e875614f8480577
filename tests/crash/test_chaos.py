"""Lives of tables in which anything may happen at any moment: in the end the index is complete, right and tidy."""

import pytest

from tests.crash.chaos import BUILDS, Life
from tests.kit.soak import is_soak, new_seeds

pytestmark = pytest.mark.thorough

_QUICK = (3, 7)
# The gate lives the same lives each time. A soak run lives others, as many as it has the time for.
_MOST_LIVES_OF_A_KIND = 400
_LIVES = new_seeds(_MOST_LIVES_OF_A_KIND, "build") if is_soak() else range(100, 104)
_OTHER_KINDS = [kind for kind in BUILDS if kind != "build"]
_LIVES_OF_OTHER_KINDS = [
    (seed, kind)
    for first, kind in zip(range(200, 600, 100), _OTHER_KINDS, strict=True)
    for seed in (new_seeds(_MOST_LIVES_OF_A_KIND, kind) if is_soak() else [first])
]


def live(seed: int, kind: str = "build") -> None:
    life = Life(seed, kind)
    try:
        life.live()
    except BaseException as wrong:
        wrong.add_note("\n".join([f"life {seed} of {kind} on {life.start}", *life.told]))
        raise


@pytest.mark.parametrize("seed", _QUICK)
def test_whatever_happens_the_index_is_right_in_the_end(seed: int) -> None:
    live(seed)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", _LIVES)
def test_whatever_else_happens_the_index_is_right_in_the_end(seed: int) -> None:
    live(seed)


@pytest.mark.thorough
@pytest.mark.parametrize(("seed", "kind"), _LIVES_OF_OTHER_KINDS)
def test_whatever_happens_indexes_of_other_kinds_are_right_when_they_are_complete(seed: int, kind: str) -> None:
    live(seed, kind)
