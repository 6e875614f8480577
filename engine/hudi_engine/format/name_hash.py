"""The hash by which Hudi shortens names: XXH64 with Hudi's seed."""

from typing import Final

from xxhash import xxh64_intdigest

# Java's int 0xDABADABA keeps its sign on the way to 64 bits.
_SEED: Final = 0xFFFF_FFFF_DABA_DABA


def name_hash(name: str) -> int:
    return xxh64_intdigest(name.encode(), _SEED)
