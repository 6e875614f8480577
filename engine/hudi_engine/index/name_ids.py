"""Names as the fixed-length ids that keys of the metadata table are made of (section 3.4)."""

import base64
import hashlib
from functools import lru_cache
from typing import Final

_SEED: Final = 0xFFFF_FFFF_DABA_DABA
"""Java's int 0xDABADABA, which keeps its sign on the way to 64 bits."""
_MASK: Final = (1 << 64) - 1
_P1: Final = 0x9E3779B185EBCA87
_P2: Final = 0xC2B2AE3D27D4EB4F
_P3: Final = 0x165667B19E3779F9
_P4: Final = 0x85EBCA77C2B2AE63
_P5: Final = 0x27D4EB2F165667C5
_MOST_NAMES: Final = 4096

NAME_ID_LENGTH: Final = 12
"""Characters of the id of a column or a partition."""


@lru_cache(_MOST_NAMES)
def column_id(name: str) -> str:
    return base64.b64encode(xxh64(name.encode(), _SEED).to_bytes(8)).decode()


def partition_id(partition: str) -> str:
    """The id of a partition by its path; the one partition of an unpartitioned table has the empty path."""
    return column_id(partition_identifier(partition))


def partition_identifier(partition: str) -> str:
    """How the metadata table calls a partition: by its path, and by a dot where that is empty."""
    return partition or "."


def partition_of_identifier(identifier: str) -> str:
    return "" if identifier == "." else identifier


def file_id(name: str) -> str:
    """The id of a file by its name without folders."""
    return base64.b64encode(hashlib.md5(name.encode(), usedforsecurity=False).digest()).decode()


def xxh64(data: bytes, seed: int) -> int:
    """The XXH64 hash, for names only: it goes byte by byte in Python."""
    at, total = 0, seed + _P5
    if len(data) >= 32:
        lanes = [(seed + offset) & _MASK for offset in (_P1 + _P2, _P2, 0, -_P1)]
        for at in range(0, len(data) - 31, 32):
            words = (int.from_bytes(data[at + 8 * lane : at + 8 * lane + 8], "little") for lane in range(4))
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
        at += 32
        total = sum(_turned(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            total = ((total & _MASK) ^ _round(0, lane)) * _P1 + _P4
    return _avalanche(_with_rest((total + len(data)) & _MASK, data[at:]))


def _with_rest(total: int, rest: bytes) -> int:
    at = 0
    while len(rest) - at >= 8:
        total ^= _round(0, int.from_bytes(rest[at : at + 8], "little"))
        total = (_turned(total, 27) * _P1 + _P4) & _MASK
        at += 8
    if len(rest) - at >= 4:
        total ^= int.from_bytes(rest[at : at + 4], "little") * _P1 & _MASK
        total = (_turned(total, 23) * _P2 + _P3) & _MASK
        at += 4
    for octet in rest[at:]:
        total = _turned(total ^ (octet * _P5 & _MASK), 11) * _P1 & _MASK
    return total


def _avalanche(total: int) -> int:
    total = (total ^ total >> 33) * _P2 & _MASK
    total = (total ^ total >> 29) * _P3 & _MASK
    return total ^ total >> 32


def _round(lane: int, word: int) -> int:
    return _turned((lane + word * _P2) & _MASK, 31) * _P1 & _MASK


def _turned(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK
