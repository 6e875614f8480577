"""Pieces of a stream, so that something is asked of many at once and of never too many."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in their order, `size` at a time."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
