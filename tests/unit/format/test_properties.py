"""Java properties: what java.util.Properties (JDK 17) makes of the same bytes, and what it writes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hudi_engine.errors import CorruptFile
from hudi_engine.format.properties import checksum, expected_checksum, parse, render

# Each was put through Properties.load.
AS_JAVA_READS = [
    (b"", {}),
    (b"a=b", {"a": "b"}),
    (b"a=b\n", {"a": "b"}),
    (b"a:b\ra b\r\nc\tb\nd\x0cb", {"a": "b", "c": "b", "d": "b"}),
    (b"a = b \nb\t:\tc\nc  d", {"a": "b ", "b": "c", "c": "d"}),
    (b"a==b\nb:=c\nc =:d\n", {"a": "=b", "b": "=c", "c": ":d"}),
    (b"a\nb=\nc =", {"a": "", "b": "", "c": ""}),
    (b"=v\n", {"": "v"}),
    (b"a=1\na=2", {"a": "2"}),
    (b"# c\n! d\n  # e\n\t!f=g\n\n \x0c\na=#b!", {"a": "#b!"}),
    (b"# goes on? \\\na=b", {"a": "b"}),
    (b"a=b\\\n   c", {"a": "bc"}),
    (b"a=b\\\r\n\tc\\\rd", {"a": "bcd"}),
    (b"a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
    (b"a=b\\\n\nc=d", {"a": "b", "c": "d"}),
    (b"a=b\\\n#c", {"a": "b#c"}),
    (b"\\\n#c\na=b", {"a": "b"}),
    (b"a=b\\", {"a": "b"}),
    (b"a=b\\\n", {"a": "b"}),
    (b"\\", {"": ""}),
    (b"\\\n", {"": ""}),
    (b"\\\r\n", {}),
    (b"\\\n\n", {}),
    (b"a\\ b\\=c\\:d=e", {"a b=c:d": "e"}),
    (b"a\\\\=b", {"a\\": "b"}),
    (b"a=\\t\\n\\r\\f\\\\\\\"\\'\\a\\U", {"a": "\t\n\r\f\\\"'aU"}),
    (b"\\u0061\\u003D=\\u00e9\\u00E9", {"a=": "éé"}),
    (b"a=\\uD83D\\uDE00", {"a": "😀"}),
    (b"a=\xe9\x00\x80", {"a": "é\x00\x80"}),
    (b"a=\\ b", {"a": " b"}),
]


@pytest.mark.parametrize(("data", "expected"), AS_JAVA_READS)
def test_bytes_are_read_as_java_reads_them(data: bytes, expected: dict[str, str]) -> None:
    assert parse(data) == expected


# Each was put through Properties.store, without its line of the date.
AS_JAVA_WRITES = [
    ({"a": "b"}, "note", b"#note\na=b\n"),
    ({"a b": "c d"}, "note", b"#note\na\\ b=c d\n"),
    ({" a": "  c "}, "note", b"#note\n\\ a=\\  c \n"),
    ({"=:#!\\": "=:#!\\"}, "note", b"#note\n\\=\\:\\#\\!\\\\=\\=\\:\\#\\!\\\\\n"),
    ({"k": "\t\n\r\f"}, "note", b"#note\nk=\\t\\n\\r\\f\n"),
    ({"k": "\x00~\x7f\x80é\u0100😀"}, "note", b"#note\nk=\\u0000~\\u007F\\u0080\\u00E9\\u0100\\uD83D\\uDE00\n"),
    ({"": ""}, "é\u0100😀", b"#\xe9\\u0100\\uD83D\\uDE00\n=\n"),
]


@pytest.mark.parametrize(("properties", "comment", "expected"), AS_JAVA_WRITES)
def test_properties_are_written_as_java_writes_them(properties: dict[str, str], comment: str, expected: bytes) -> None:
    assert render(properties, [comment]) == expected


def test_a_comment_stays_on_its_line() -> None:
    assert render({"a": "b"}, ["one\r\na=c", "two"]) == b"#one a=c\n#two\na=b\n"


def test_the_checksum_comes_last_and_the_rest_in_its_order() -> None:
    written = render({"z": "1", "hoodie.table.checksum": "2", "a": "3"})

    assert written == b"z=1\na=3\nhoodie.table.checksum=2\n"


@pytest.mark.parametrize(
    ("database", "table", "expected"),
    [
        ("default", "v8_trips_8i3u1d", 1197752875),
        ("", "v8_trips_8i3u1d_metadata", 380169000),
        ("default", "v6_trips_8i3d", 3180720914),
    ],
)
def test_the_checksum_is_what_real_hudi_wrote_for_these_names(database: str, table: str, expected: int) -> None:
    assert checksum(database, table) == expected
    names = {"hoodie.table.name": table} | ({"hoodie.database.name": database} if database else {})
    assert expected_checksum(names) == str(expected)


def test_without_a_table_name_no_checksum_is_expected() -> None:
    assert expected_checksum({"hoodie.database.name": "d"}) is None


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@settings(deadline=None)
@given(st.dictionaries(TEXTS, TEXTS, max_size=8), st.lists(TEXTS, max_size=3))
def test_what_is_written_is_read_back(properties: dict[str, str], comments: list[str]) -> None:
    assert parse(render(properties, comments)) == properties


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"\\u12", 0),
        (b"a=\\u12G4", 2),
        (b"a=b\nc=\\\n   d\\uuuuu0041", 12),
        (b"  k\\u=v", 3),
        (b"a=\\uD83D", 2),
        (b"a=1\nb=\\uDE00\\uD83D", 6),
    ],
)
def test_a_broken_character_is_named_with_its_offset(data: bytes, offset: int) -> None:
    with pytest.raises(CorruptFile) as refusal:
        parse(data)

    assert refusal.value.offset == offset


def test_a_broken_character_in_a_comment_is_nobodys_business() -> None:
    assert parse(b"# \\u12\na=b") == {"a": "b"}


def test_a_file_beyond_any_table_is_refused_unread() -> None:
    with pytest.raises(CorruptFile, match="no table has more"):
        parse(b"a=b\n" * 600_000)


def outcome(data: bytes) -> dict[str, str] | int:
    """The properties, or the offset at which they are corrupt."""
    try:
        return parse(data)
    except CorruptFile as refusal:
        return refusal.offset


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"\\", b"\n", b"\r", b"u12", b"=", b":", b" ", b"#", b"a", b"\xff", b"\\u00e9"])))
def test_any_bytes_are_properties_or_corrupt(pieces: list[bytes]) -> None:
    found = outcome(b"".join(pieces))

    if isinstance(found, int):
        assert 0 <= found < len(b"".join(pieces))
    else:
        assert parse(render(found)) == found


def test_a_cut_or_flipped_file_is_properties_or_corrupt() -> None:
    whole = render({f"hoodie.key.{number}": f"é=\\:{number} 😀" for number in range(20)}, ["comment"])
    flips = random.Random(7)
    damaged = [whole[:length] for length in range(len(whole))]
    for _ in range(2000):
        at = flips.randrange(len(whole))
        damaged.append(whole[:at] + bytes([whole[at] ^ 1 << flips.randrange(8)]) + whole[at + 1 :])

    offsets = [(found, len(data)) for data in damaged if isinstance(found := outcome(data), int)]

    assert all(0 <= offset < length for offset, length in offsets)
    assert len(offsets) > 100
