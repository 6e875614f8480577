"""Integers of variable length, and as much of protobuf as an HFile's trailer and file info need."""

from collections.abc import Iterator

from hudi_engine.errors import CorruptFile

Bytes = bytes | memoryview

VARINT = 0
EIGHT_BYTES = 1
LENGTH_PREFIXED = 2
FOUR_BYTES = 5


def encode_varint(value: int) -> bytes:
    """A protobuf varint of a number that is not negative."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint(data: Bytes, at: int) -> tuple[int, int]:
    """The protobuf varint that starts at `at`, and where the next thing starts."""
    value = shift = 0
    for place in range(at, min(len(data), at + 10)):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, place + 1
        shift += 7
    raise CorruptFile("a varint has no end", at)


def encode_vint(value: int) -> bytes:
    """Hadoop's VInt of a length."""
    if value <= 127:
        return bytes([value])
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([256 - 112 - len(digits)]) + digits


def vint(data: Bytes, at: int) -> tuple[int, int]:
    """The Hadoop VInt of a length that starts at `at`, and where the next thing starts."""
    if at >= len(data):
        raise CorruptFile("the data end where a length should be", at)
    first = data[at]
    if first <= 127:
        return first, at + 1
    count = 256 - 112 - first
    end = at + 1 + count
    if not 1 <= count <= 8 or end > len(data):
        raise CorruptFile(f"byte {first:#x} does not start the length of anything", at)
    return int.from_bytes(data[at + 1 : end], "big"), end


def encode_field(number: int, value: int | bytes) -> bytes:
    """One field of a protobuf message."""
    if isinstance(value, int):
        return encode_varint(number << 3 | VARINT) + encode_varint(value)
    return encode_varint(number << 3 | LENGTH_PREFIXED) + encode_varint(len(value)) + value


def fields(data: Bytes, at: int, end: int) -> Iterator[tuple[int, int | bytes]]:
    """Number and value of each field of the protobuf message in `data[at:end]`, in file order."""
    if end > len(data):
        raise CorruptFile(f"a message of {end - at} bytes where {len(data) - at} are left", at)
    while at < end:
        tag, after = varint(data, at)
        value: int | bytes
        match tag & 7:
            case 0:
                value, after = varint(data, after)
            case 2:
                length, start = varint(data, after)
                after = start + length
                value = bytes(data[start : min(after, end)])
            case 1 | 5 as fixed:
                start, after = after, after + (8 if fixed == EIGHT_BYTES else 4)
                value = bytes(data[start : min(after, end)])
            case kind:
                raise CorruptFile(f"a protobuf field of unknown wire type {kind}", at)
        if after > end:
            raise CorruptFile("a field reaches beyond the end of its message", at)
        yield tag >> 3, value
        at = after
