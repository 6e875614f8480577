"""The XXH64 hash, for names only: it goes byte by byte in Python."""

from typing import Final

NAME_SEED: Final = 0xFFFF_FFFF_DABA_DABA
"""What Hudi seeds hashes of names with: Java's int 0xDABADABA, which keeps its sign on the way to 64 bits."""
_MASK: Final = (1 << 64) - 1
_P1: Final = 0x9E3779B185EBCA87
_P2: Final = 0xC2B2AE3D27D4EB4F
_P3: Final = 0x165667B19E3779F9
_P4: Final = 0x85EBCA77C2B2AE63
_P5: Final = 0x27D4EB2F165667C5


def xxh64(data: bytes, seed: int) -> int:
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
