"""What every storage promises, as functions that are each given a storage with an empty base."""

from collections.abc import Iterator

import pytest

from hudi_engine.errors import AlreadyExists, CorruptFile, NotFound, UnsafePath
from hudi_engine.storage.protocol import Storage

AWKWARD_NAMES = (
    "plain.parquet",
    "with space",
    "trailing ",
    "region=eu%2Fwest",
    "100%",
    "%zz",
    "a#b",
    "a?b",
    "a+b&c",
    "a=b",
    "Zürich",
    "北京",
    "😀",
    "[a]{b}^`|\\<>\"'~*",
    ".hidden",
    "..two",
)
UNSAFE_PATHS = ("..", "../x", "a/../b", "a/..", "/etc/passwd", "a//b", "a/", "./a", "a/.", "a\0b", "a/\ud800")


def what_is_created_is_read_back(storage: Storage) -> None:
    storage.create("a/b/c", b"content")

    assert storage.read("a/b/c") == b"content"


def an_empty_file_is_a_file(storage: Storage) -> None:
    storage.create("empty", b"")

    assert storage.read("empty") == b""
    assert [(child.path, child.size_bytes) for child in storage.list("")] == [("empty", 0)]
    assert storage.read_range("empty", 0, 0) == b""


def a_second_create_is_refused_and_changes_nothing(storage: Storage) -> None:
    storage.create("name", b"first")

    with pytest.raises(AlreadyExists, match="name"):
        storage.create("name", b"second")

    assert storage.read("name") == b"first"


def parts_make_one_file_or_none(storage: Storage) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise CorruptFile("no more of it", 4)

    storage.create_in_parts("f/name", iter([b"one ", b"", b"two"]))
    storage.create_in_parts("f/empty", iter([]))
    with pytest.raises(AlreadyExists, match="name"):
        storage.create_in_parts("f/name", iter([b"other"]))
    with pytest.raises(CorruptFile, match="no more of it"):
        storage.create_in_parts("f/broken", broken())

    assert storage.read("f/name") == b"one two"
    assert [child.path for child in storage.list("f")] == ["f/empty", "f/name"]


def replace_writes_over_what_is_there_or_not(storage: Storage) -> None:
    storage.replace("f/name", b"first, and long")
    storage.replace("f/name", b"second")

    assert storage.read("f/name") == b"second"


def touch_makes_the_time_of_an_empty_file_now(storage: Storage) -> None:
    storage.replace("f/name", b"")
    before = {file.path: file.modified_ms for file in storage.list("f")}

    storage.touch("f/name")

    (after,) = storage.list("f")
    assert (after.path, after.size_bytes) == ("f/name", 0)
    assert after.modified_ms >= before["f/name"]


def delete_removes_and_may_be_repeated(storage: Storage) -> None:
    storage.create("f/name", b"x")

    storage.delete("f/name")
    storage.delete("f/name")
    storage.delete("never/there")

    with pytest.raises(NotFound, match="f/name"):
        storage.read("f/name")
    storage.create("f/name", b"again")


def a_missing_file_is_not_found(storage: Storage) -> None:
    storage.create("folder/file", b"x")

    for path in ("nothing", "folder/nothing", "no/folder/at/all", "folder"):
        with pytest.raises(NotFound, match=path):
            storage.read(path)
        with pytest.raises(NotFound, match=path):
            storage.read_range(path, 0, 1)


def a_range_is_read_whole_or_refused_with_its_offset(storage: Storage) -> None:
    storage.create("f", b"0123456789")

    assert storage.read_range("f", 0, 10) == b"0123456789"
    assert storage.read_range("f", 9, 1) == b"9"
    assert storage.read_range("f", 10, 0) == b""
    for start, length in (
        (0, 11),
        (9, 2),
        (10, 1),
        (11, 0),
        (-1, 2),
        (2, -1),
        (0, 1 << 62),
        (1 << 70, 1),
        (5, 1 << 70),
    ):
        with pytest.raises(CorruptFile) as refusal:
            storage.read_range("f", start, length)
        assert refusal.value.offset == max(start, 0)
        assert refusal.value.path.rpartition("/")[2] == "f"  # a folder of a store tells the whole path


def list_gives_the_children_of_one_folder_in_the_order_of_names(storage: Storage) -> None:
    for path in ("top", "f/b", "f/a", "f/sub/deep/file", "f/sub2/file", "f2/other", "f/sub.file"):
        storage.create(path, b"12345")

    children = storage.list("f")

    assert [(child.path, child.is_folder) for child in children] == [
        ("f/a", False),
        ("f/b", False),
        ("f/sub", True),
        ("f/sub.file", False),
        ("f/sub2", True),
    ]
    assert [child.size_bytes for child in children if not child.is_folder] == [5, 5, 5]
    assert [child.name for child in storage.list("")] == ["f", "f2", "top"]


def a_folder_that_is_not_there_has_no_children(storage: Storage) -> None:
    storage.create("file", b"x")

    assert storage.list("nothing") == ()
    assert storage.list("no/thing") == ()
    assert storage.list("file") == ()


def names_are_taken_as_they_are(storage: Storage) -> None:
    for name in AWKWARD_NAMES:
        storage.create(f"{name}/{name}", name.encode())

    assert [child.path for child in storage.list("")] == sorted(AWKWARD_NAMES)
    for name in AWKWARD_NAMES:
        assert [child.path for child in storage.list(name)] == [f"{name}/{name}"]
        assert storage.read(f"{name}/{name}") == name.encode()


def a_path_that_leads_outside_is_refused_before_anything_is_done(storage: Storage) -> None:
    for path in UNSAFE_PATHS:
        with pytest.raises(UnsafePath):
            storage.read(path)
        with pytest.raises(UnsafePath):
            storage.read_range(path, 0, 1)
        with pytest.raises(UnsafePath):
            storage.list(path)
        with pytest.raises(UnsafePath):
            storage.create(path, b"x")
        with pytest.raises(UnsafePath):
            storage.replace(path, b"x")
        with pytest.raises(UnsafePath):
            storage.touch(path)
        with pytest.raises(UnsafePath):
            storage.delete(path)
    for touch in (storage.read, storage.delete):
        with pytest.raises(UnsafePath):
            touch("")
    assert storage.list("") == ()


PROMISES = (
    what_is_created_is_read_back,
    an_empty_file_is_a_file,
    a_second_create_is_refused_and_changes_nothing,
    parts_make_one_file_or_none,
    replace_writes_over_what_is_there_or_not,
    touch_makes_the_time_of_an_empty_file_now,
    delete_removes_and_may_be_repeated,
    a_missing_file_is_not_found,
    a_range_is_read_whole_or_refused_with_its_offset,
    list_gives_the_children_of_one_folder_in_the_order_of_names,
    a_folder_that_is_not_there_has_no_children,
    names_are_taken_as_they_are,
    a_path_that_leads_outside_is_refused_before_anything_is_done,
)
