"""Which keys begin with one of several prefixes."""

from bisect import bisect_right

import pyarrow as pa


def starts_with_any(keys: pa.Array, prefixes: pa.Array) -> pa.Array:
    """For each key whether one of the prefixes, large binaries that ascend, begins it.

    One by one: it is for the deletions of a log block, each of which was an object already.
    """
    least: list[bytes] = []
    for prefix in prefixes.to_pylist():
        # What begins with an earlier one adds nothing; of the others only the greatest that is not above a key counts.
        if not least or not prefix.startswith(least[-1]):
            least.append(prefix)
    return pa.array([_begins(key.encode(), least) for key in keys.to_pylist()], pa.bool_())


def _begins(key: bytes, prefixes: list[bytes]) -> bool:
    place = bisect_right(prefixes, key)
    return place > 0 and key.startswith(prefixes[place - 1])
