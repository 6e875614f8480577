"""How files are damaged: the part that is the same in every run, and the part that a seed decides."""

import random
import struct
from collections.abc import Iterable, Iterator
from math import gcd

from tests.fuzz.cases import Case, Target

_ENDS = 256
"""Bytes at each end of a file, and after each landmark, of which every bit is flipped."""
_FLIPS = 4096
_INTEGERS = 3000
_CUTS = 300
"""How many cuts are tried of seeds other than the smallest, which is cut at every byte."""
_VALUES = (0, -1, 2**31 - 1, 2**31, 2**62)
_FIELDS = tuple(
    (f"{name} {value:#x}", struct.pack(form, value & (256 ** struct.calcsize(form) - 1)))
    for name, form in (("big 4", ">I"), ("big 8", ">Q"), ("little 4", "<I"), ("little 8", "<Q"))
    for value in _VALUES
)
_TOKENS = (
    *(b"../", b"/etc/passwd", b"\0", b"\\u12", b"\\", b"\xff\xfe", b"\xed\xa0\x80", b"\n", b"="),
    *(b"null", b"true", b"-1", b"1e999", b"9" * 40, b"NaN", b'"', b"{", b"}", b"[", b"]", b":", b","),
    *(b"#HUDI#", b"Obj\x01", b"PAR1", b'TRABLK"$', b"DATABLK*"),
)


def varint(value: int) -> bytes:
    """A number that is not negative, seven bits a byte, as Avro and protobuf and Thrift have it."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value: int) -> bytes:
    """A signed number of any size as Avro and Thrift have it."""
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


_VARINTS = (
    ("varint 2^60", zigzag(2**60)),
    ("varint -2^60", zigzag(-(2**60))),
    ("varint 2^31-1", zigzag(2**31 - 1)),
    ("varint of ten bytes", b"\xff" * 9 + b"\x01"),
    ("varint without an end", b"\xff" * 12),
)


def undamaged_and_forged(target: Target) -> Iterator[Case]:
    """What must be read, and what must not be."""
    for seed, data in target.seeds.items():
        yield Case(seed, "as it is", data, is_whole=True)
    yield from target.crafted()


def damaged(target: Target) -> Iterator[Case]:
    """The damage that every run does, in the same order."""
    for seed in target.seeds:
        yield from _cuts(target, seed)
    budget = target.share / len(target.seeds)
    for seed in target.seeds:
        yield from _flips(target, seed, round(_FLIPS * budget))
        yield from _integers(target, seed, round(_INTEGERS * budget))


def by_chance(target: Target, number: str) -> Case:
    """A case that `number`, a text, decides."""
    dice = random.Random(number)
    seed = dice.choice(sorted(target.seeds))
    data = bytearray(target.seeds[seed])
    names = []
    for _ in range(dice.choice((1, 1, 1, 2, 3, 8))):
        damage = dice.choice(_DAMAGES)
        names.append(damage.__name__.strip("_"))
        damage(data, dice)
    return Case(seed, f"by chance {number}: {', '.join(names)}", bytes(data))


def _cuts(target: Target, seed: str) -> Iterator[Case]:
    data = target.seeds[seed]
    lengths: Iterable[int] = range(len(data))
    if seed != target.smallest:
        lengths = _some(len(data), round(_CUTS * target.share / len(target.seeds)) + 1)
    for length in lengths:
        yield Case(seed, f"cut to {length} bytes", data[:length], is_hopeless=target.knows_its_end)


def _flips(target: Target, seed: str, budget: int) -> Iterator[Case]:
    data = target.seeds[seed]
    places = _interesting(data, target.landmarks)
    for number in _some(8 * len(places), budget):
        at, bit = places[number // 8], number % 8
        wrong = bytearray(data)
        wrong[at] ^= 1 << bit
        yield Case(seed, f"bit {bit} of byte {at} flipped", bytes(wrong))


def _integers(target: Target, seed: str, budget: int) -> Iterator[Case]:
    data = target.seeds[seed]
    places = _interesting(data, target.landmarks)
    known = set(places)
    places += [at for at in range(len(data)) if at not in known]
    kinds = len(_FIELDS) + len(_VARINTS)
    for number in _some(kinds * len(places), budget):
        at, kind = places[number // kinds], number % kinds
        if kind < len(_FIELDS):
            name, field = _FIELDS[kind]
            wrong = data[:at] + field[: len(data) - at] + data[at + len(field) :]
        else:
            name, field = _VARINTS[kind - len(_FIELDS)]
            wrong = data[:at] + field + data[at + 1 :]
        yield Case(seed, f"{name} at {at}", wrong)


def _interesting(data: bytes, landmarks: tuple[bytes, ...]) -> list[int]:
    """Both ends of the file, and what follows the landmarks."""
    size = len(data)
    places = dict.fromkeys((*range(min(_ENDS, size)), *range(max(0, size - _ENDS), size)))
    for mark in landmarks:
        start = data.find(mark)
        if start >= 0:
            places |= dict.fromkeys(range(start, min(start + _ENDS, size)))
    return list(places)


def _some(count: int, most: int) -> Iterable[int]:
    """At most so many of the numbers below `count`, spread evenly over them and over the remainders of any divisor."""
    if count <= most:
        return range(count)
    step = -(-count // max(1, most))
    while gcd(step, count) > 1 or step % 2 == 0 or step % 5 == 0:
        step += 1
    return range(0, count, step)


def _noise(data: bytearray, dice: random.Random) -> None:
    for _ in range(dice.randint(1, 8)):
        if data:
            data[dice.randrange(len(data))] = dice.randrange(256)


def _bit(data: bytearray, dice: random.Random) -> None:
    if data:
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def _deletion(data: bytearray, dice: random.Random) -> None:
    start, end = _range(data, dice)
    del data[start:end]


def _duplicate(data: bytearray, dice: random.Random) -> None:
    start, end = _range(data, dice)
    data[end:end] = data[start:end] * dice.choice((1, 1, 2, 20))


def _splice(data: bytearray, dice: random.Random) -> None:
    start, end = _range(data, dice)
    to, _ = _range(data, dice)
    data[to : to + end - start] = data[start:end]


def _integer(data: bytearray, dice: random.Random) -> None:
    name, field = dice.choice(_FIELDS + _VARINTS)
    at, _ = _range(data, dice)
    data[at : at + (1 if name.startswith("varint") else len(field))] = field


def _token(data: bytearray, dice: random.Random) -> None:
    start, end = _range(data, dice)
    data[start : dice.choice((start, min(end, start + 8)))] = dice.choice(_TOKENS)


def _cut(data: bytearray, dice: random.Random) -> None:
    start, _ = _range(data, dice)
    del data[start:]


def _range(data: bytearray, dice: random.Random) -> tuple[int, int]:
    start = dice.randint(0, len(data))
    return start, min(len(data), start + dice.choice((1, 4, 16, 64, 512, 4096)))


_DAMAGES = (_noise, _bit, _bit, _deletion, _duplicate, _splice, _integer, _integer, _token, _cut)
