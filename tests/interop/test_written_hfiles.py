"""HFiles: every entry that we wrote, by Hudi's native readers and by HBase's, in a scan and by look-ups."""

import base64
import json
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

from hudi_engine.format.bloom import Sizing, build_bloom_filter
from hudi_engine.format.hfile.block import Codec
from hudi_engine.format.hfile.write import Recipe, write_hfile
from tests.interop.readable import READERS_OF_HFILES, every_reader_of_hfiles
from tests.java.jvm import Jvm

SCHEMA = '{"type":"record","name":"Entry","fields":[{"name":"key","type":"string"},{"name":"number","type":"int"}]}'
NOON_MS = 1_800_000_000_000
Entries = list[tuple[str, bytes]]


def odd_keys() -> Entries:
    """Keys of one byte and of 30,000, and letters that Java's own order of strings would sort otherwise."""
    keys = ["!", "a", "ab", "ä", "z", "zz", "北京", "\uff5e", "\U0001f600", "\U0001f600a", "k" * 30_000, "ß" * 15_000]
    keys += [f"m{'x' * length}" for length in range(0, 3_000, 7)]
    values = random.Random(3)
    entries = [(key, values.randbytes(values.choice((0, 1, 17, 3_000)))) for key in keys]
    return sorted(entries, key=lambda entry: entry[0].encode())


def record_index(count: int) -> Entries:
    """As the record index has them: keys of 36 bytes, values of some fifty."""
    numbers = random.Random(7)
    keys = sorted({f"{numbers.getrandbits(128):032x}"[:36] + f"-{number % 1000:03}" for number in range(count)})
    return [(key, numbers.randbytes(40 + at % 30)) for at, key in enumerate(keys)]


def small_blocks() -> Entries:
    """Values that put the border of a block at every distance from the end of its first 64 KiB."""
    return [(f"key-{number:06}", bytes([number % 251]) * (number % 97)) for number in range(20_000)]


CASES: dict[str, Callable[[], Entries]] = {
    "one": lambda: [("only", b"value")],
    "odd keys": odd_keys,
    "small blocks": small_blocks,
    "one block too large": lambda: [("a", b"1"), ("b", bytes(300_000)), ("c", b"2")],
}


def write(entries: Entries, file: Path, recipe: Recipe) -> Path:
    table = pa.table(
        {
            "key": pa.array([key.encode() for key, _ in entries], pa.binary()),
            "value": pa.array([value for _, value in entries], pa.binary()),
        }
    )
    file.write_bytes(write_hfile(table, recipe))
    return file


def in_base64(entries: Sequence[tuple[str, bytes]]) -> list[list[str]]:
    return [[base64.b64encode(key.encode()).decode(), base64.b64encode(value).decode()] for key, value in entries]


def absent_around(keys: Sequence[str]) -> Iterator[str]:
    """Each key and, right before and after some, one that is not there."""
    for number, key in enumerate(keys):
        if number % 10 == 0 and len(key) > 1 and key[:-1] not in keys[max(0, number - 50) : number]:
            yield key[:-1]
        yield key
        if number % 10 == 5:
            yield key + "\x01"


def require_all_found(real: Jvm, reader: str, file: Path, entries: Entries) -> None:
    keys = [key for key, _ in entries]
    expected = {"count": len(entries), "entries": in_base64(entries)}

    assert real.read_hfile(path=str(file), reader=reader) == expected
    assert real.read_hfile(path=str(file), reader=reader, keys=sorted(absent_around(keys), key=str.encode)) == expected


# Every pair of a reader, a case and a codec stands in some test; not every three of them do.
READERS_AND_CASES = [
    (release, reader, case, list(Codec)[(number + place) % len(Codec)])
    for number, (release, reader) in enumerate(READERS_OF_HFILES)
    for place, case in enumerate(CASES)
]
each_reader_and_codec = pytest.mark.parametrize(
    ("real_hudi", "reader", "codec"),
    [(*reader, list(Codec)[number % len(Codec)]) for number, reader in enumerate(READERS_OF_HFILES)],
    indirect=["real_hudi"],
)


def test_every_pair_of_reader_case_and_codec_is_tested() -> None:
    readers, codecs = set(READERS_OF_HFILES), set(Codec)

    assert {each[:2] for each in READERS_AND_CASES} == readers
    assert {(each[:2], each[2]) for each in READERS_AND_CASES} == set(product(readers, CASES))
    assert {(each[:2], each[3]) for each in READERS_AND_CASES} == set(product(readers, codecs))
    assert {each[2:] for each in READERS_AND_CASES} == set(product(CASES, codecs))


@pytest.mark.parametrize(("real_hudi", "reader", "case", "codec"), READERS_AND_CASES, indirect=["real_hudi"])
def test_a_base_file_has_each_entry_in_a_scan_and_by_look_up(
    real_hudi: Jvm, reader: str, case: str, codec: Codec, tmp_path: Path
) -> None:
    entries = CASES[case]()
    file = write(entries, tmp_path / "base.hfile", Recipe(SCHEMA, NOON_MS, codec))

    require_all_found(real_hudi, reader, file, entries)


@every_reader_of_hfiles
def test_two_hundred_thousand_entries_lose_none(real_hudi: Jvm, reader: str, tmp_path: Path) -> None:
    entries = record_index(200_000)
    file = write(entries, tmp_path / "base.hfile", Recipe(SCHEMA, NOON_MS, Codec.GZ))

    require_all_found(real_hudi, reader, file, entries)
    assert len(entries) == 200_000


@each_reader_and_codec
def test_a_file_of_nothing_is_read_as_one(real_hudi: Jvm, reader: str, codec: Codec, tmp_path: Path) -> None:
    file = write([], tmp_path / "base.hfile", Recipe(SCHEMA, NOON_MS, codec))

    assert real_hudi.read_hfile(path=str(file), reader=reader) == {"count": 0, "entries": []}


@each_reader_and_codec
def test_the_readers_see_schema_border_keys_and_filter(
    real_hudi: Jvm, reader: str, codec: Codec, tmp_path: Path
) -> None:
    entries = [(f"ключ {number:04}", b"v") for number in range(500)]
    bloom = build_bloom_filter(pa.array([key for key, _ in entries]), Sizing(500, 1e-6, 1_000))
    file = write(entries, tmp_path / "base.hfile", Recipe(SCHEMA, NOON_MS, codec, bloom))

    facts = real_hudi.hfile_facts(path=str(file), reader=reader)

    assert facts == {
        "by": {"native": "HoodieNativeAvroHFileReader", "hbase": "HoodieHBaseAvroHFileReader"}[reader],
        "schema": json.loads(SCHEMA),
        "count": 500,
        "least_and_greatest": ["ключ 0000", "ключ 0499"],
        "bloom": {"kind": bloom.type_code, "text": bloom.to_text()},
    }
