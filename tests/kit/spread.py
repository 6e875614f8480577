"""Which of many cases the gate runs: each value of each side some times, not every pair. Soak runs every pair."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

from tests.kit.soak import is_soak

Left = TypeVar("Left", bound=Hashable)
Right = TypeVar("Right", bound=Hashable)


def spread(pairs: Sequence[tuple[Left, Right]], each: int) -> list[tuple[Left, Right]]:
    """Pairs in which every left side stands `each` times, or as often as it can, and right sides about equally often.

    Every right side stands in one pair at least. The order of the pairs decides, and nothing else.
    """
    if is_soak():
        return list(pairs)
    used = dict.fromkeys((right for _, right in pairs), 0)
    chosen: list[tuple[Left, Right]] = []
    for left in dict.fromkeys(left for left, _ in pairs):
        rights = [right for other, right in pairs if other == left]
        for right in sorted(rights, key=lambda right: used[right])[:each]:
            used[right] += 1
            chosen.append((left, right))
    missing = [right for right, times in used.items() if times == 0]
    chosen += [next(pair for pair in pairs if pair[1] == right) for right in missing]
    return [pair for pair in pairs if pair in set(chosen)]
