"""The local storage: its promises, links, crashes, races, and Hadoop's checksum files."""

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hudi_engine.errors import AlreadyExists, NoSpaceLeft, NotFound, UnsafePath
from hudi_engine.storage.local import LocalStorage
from hudi_engine.storage.posix import publish_new, rename_exclusively
from hudi_engine.storage.protocol import Storage
from tests.kit.create_race import run_race
from tests.kit.storage_contract import PROMISES

_OPEN = os.open


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_local_folder_keeps_the_promise_that(promise: Callable[[Storage], None], tmp_path: Path) -> None:
    promise(LocalStorage(str(tmp_path)))


def test_the_base_may_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    storage = LocalStorage(str(tmp_path / "link"))

    storage.create("f/x", b"1")

    assert (tmp_path / "real/f/x").read_bytes() == b"1"
    assert storage.location == str(tmp_path / "link")


def test_a_link_inside_the_base_is_followed(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.create("real/x", b"1")
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "file").symlink_to(tmp_path / "real/x")

    assert storage.read("folder/x") == b"1"
    assert storage.read("file") == b"1"
    assert [(child.path, child.is_folder) for child in storage.list("")] == [
        ("file", False),
        ("folder", True),
        ("real", True),
    ]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(b"secret")
    return folder


@pytest.mark.parametrize("target", ["../outside", "/", "../outside/secret", "../outside/not-there-yet"])
def test_a_link_that_leads_outside_is_refused_in_every_way(tmp_path: Path, outside: Path, target: str) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "link").symlink_to(target)
    storage = LocalStorage(str(base))

    for path in ("link", "link/secret", "link/new"):
        for touch in (storage.read, storage.delete, storage.list):
            with pytest.raises(UnsafePath, match="outside"):
                touch(path)
        for write in (storage.create, storage.replace):
            with pytest.raises(UnsafePath, match="outside"):
                write(path, b"x")
    assert os.listdir(outside) == ["secret"]
    assert (outside / "secret").read_bytes() == b"secret"


def test_a_link_that_leads_outside_is_listed_as_itself_and_its_target_not_looked_at(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "link").symlink_to("/")

    assert [(child.path, child.size_bytes, child.is_folder) for child in LocalStorage(str(base)).list("")] == [
        ("link", 1, False)
    ]


def test_a_folder_whose_name_begins_like_the_base_is_outside_of_it(tmp_path: Path) -> None:
    (tmp_path / "table").mkdir()
    (tmp_path / "table2").mkdir()
    (tmp_path / "table/link").symlink_to("../table2")

    with pytest.raises(UnsafePath):
        LocalStorage(str(tmp_path / "table")).create("link/x", b"1")


def test_links_that_lead_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    with pytest.raises(UnsafePath):
        LocalStorage(str(tmp_path)).read("a")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(NotFound, match="pipe: expected a file"):
        LocalStorage(str(tmp_path)).read("pipe")


def test_a_line_break_is_a_name_like_others(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.create("new\nline/tab\t", b"1")

    assert storage.read("new\nline/tab\t") == b"1"


def test_a_name_longer_than_the_file_system_takes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsafePath, match="too long"):
        LocalStorage(str(tmp_path)).create("n" * 300, b"1")

    assert os.listdir(tmp_path) == []


def test_the_longest_name_that_the_file_system_takes_is_written(tmp_path: Path) -> None:
    LocalStorage(str(tmp_path)).create("n" * 255, b"1")

    assert os.listdir(tmp_path) == ["n" * 255]


def test_a_file_where_a_folder_is_needed_is_named(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.create("file", b"1")

    with pytest.raises(NotFound, match="file/below"):
        storage.create("file/below/x", b"1")


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.create("folder/x", b"1")

    with pytest.raises(NotFound):
        storage.replace("folder", b"1")
    with pytest.raises(AlreadyExists):
        storage.create("folder", b"1")

    assert [child.path for child in storage.list("")] == ["folder"]


def test_no_temporary_file_is_left_or_listed(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.create("x", b"1")
    storage.replace("x", b"2")
    with pytest.raises(AlreadyExists):
        storage.create("x", b"3")
    assert os.listdir(tmp_path) == ["x"]

    (tmp_path / ".hudi-engine-0011223344556677.tmp").write_bytes(b"left by a crash")

    assert [child.path for child in storage.list("")] == ["x"]


_KILLED_WHILE_WRITING = """
import os, sys
from hudi_engine.storage.local import LocalStorage

real = os.fsync
def die(descriptor):
    real(descriptor)
    os._exit(9)
os.fsync = die
getattr(LocalStorage(sys.argv[1]), sys.argv[2])("x", b"new content")
"""


@pytest.mark.parametrize("write", ["create", "replace"])
def test_a_process_that_dies_before_publishing_leaves_the_name_as_it_was(tmp_path: Path, write: str) -> None:
    if write == "replace":
        (tmp_path / "x").write_bytes(b"old content")

    died = subprocess.run([sys.executable, "-c", _KILLED_WHILE_WRITING, str(tmp_path), write], check=False)

    assert died.returncode == 9
    assert os.listdir(tmp_path) == ([] if write == "create" else ["x"])
    assert write == "create" or (tmp_path / "x").read_bytes() == b"old content"


def _without_nameless_files(path: str, flags: int, *others: int) -> int:
    if flags & os.O_TMPFILE == os.O_TMPFILE:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    return _OPEN(path, flags, *others)


def _without_hard_links(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, os.strerror(errno.EPERM))


@pytest.mark.parametrize(("call", "lacking"), [("open", _without_nameless_files), ("link", _without_hard_links)])
def test_a_file_system_that_lacks_something_is_written_to_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, lacking: Callable[..., object]
) -> None:
    monkeypatch.setattr(os, call, lacking)
    storage = LocalStorage(str(tmp_path))

    storage.create_in_parts("x", [b"first ", b"second"])
    storage.replace("y", b"content")
    with pytest.raises(AlreadyExists):
        storage.create("x", b"other")

    assert (storage.read("x"), storage.read("y")) == (b"first second", b"content")
    assert sorted(os.listdir(tmp_path)) == ["x", "y"]


def test_no_room_is_said_so_and_nothing_is_left(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.create("x", b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(NoSpaceLeft, match="x"):
            storage.replace("x", bytes(200_000))
        with pytest.raises(NoSpaceLeft, match="y"):
            storage.create("y", bytes(200_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert os.listdir(tmp_path) == ["x"]
    assert storage.read("x") == b"old"


_AS_NOBODY = """
import os, sys
from hudi_engine.errors import AccessDenied
from hudi_engine.storage.local import LocalStorage
if os.getuid() == 0:
    os.setuid(65534)
storage = LocalStorage(sys.argv[1])
for act in (lambda: storage.read("f/x"), lambda: storage.create("f/y", b"1"), lambda: storage.list("f"),
            lambda: storage.delete("f/x")):
    try:
        act()
    except AccessDenied as refusal:
        assert "f" in str(refusal)
        print("refused")
"""


def test_a_folder_without_rights_is_refused_in_every_way(tmp_path: Path) -> None:
    base = tmp_path / "base"
    (base / "f").mkdir(parents=True)
    (base / "f/x").write_bytes(b"1")
    for folder in [*base.parents[:-2], base]:
        folder.chmod(0o755)
    (base / "f").chmod(0o000)

    said = subprocess.run([sys.executable, "-c", _AS_NOBODY, str(base)], capture_output=True, text=True, check=False)
    (base / "f").chmod(0o755)

    assert (said.stdout.split(), said.stderr) == (["refused"] * 4, "")


def test_the_checksum_file_of_a_file_that_changes_goes_before_java_compares_it(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    for name in ("replaced", "deleted"):
        storage.create(name, b"by Java")
    for name in ("replaced", "deleted", "created"):
        (tmp_path / f".{name}.crc").write_bytes(b"crc\0 of what Java wrote")

    storage.replace("replaced", b"by us")
    storage.delete("deleted")
    storage.create("created", b"by us")

    assert sorted(os.listdir(tmp_path)) == ["created", "replaced"]


def test_checksum_files_are_not_listed(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    storage.create("x.parquet", b"1")
    (tmp_path / ".x.parquet.crc").write_bytes(b"crc")

    assert [child.path for child in storage.list("")] == ["x.parquet"]


def test_a_lost_race_changes_nothing_in_either_way_of_publishing(tmp_path: Path) -> None:
    for number, publish in enumerate((publish_new, rename_exclusively)):
        target, ours = tmp_path / f"target{number}", tmp_path / f"ours{number}"
        target.write_bytes(b"theirs")
        ours.write_bytes(b"ours")

        with pytest.raises(FileExistsError):
            publish(str(ours), str(target))

        assert target.read_bytes() == b"theirs"


def test_an_exclusive_rename_publishes_where_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "ours").write_bytes(b"ours")

    rename_exclusively(str(tmp_path / "ours"), str(tmp_path / "target"))

    assert (tmp_path / "target").read_bytes() == b"ours"


@pytest.mark.thorough
def test_of_two_processes_that_create_a_thousand_names_one_wins_each_and_the_other_is_told(tmp_path: Path) -> None:
    race = run_race(str(tmp_path), {}, rounds=1000)

    assert set(race.told) == {("won", "lost"), ("lost", "won")}
    assert sum(race.wins) == 1000
    for number, (first, _) in enumerate(race.told):
        assert (tmp_path / f"race/{number}").read_bytes() == (b"A" if first == "won" else b"B") * 2000
    assert len(os.listdir(tmp_path / "race")) == 1000


def test_a_create_that_loses_leaves_the_checksum_file_of_what_is_there(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    (tmp_path / "lock").write_bytes(b"")
    (tmp_path / ".lock.crc").write_bytes(b"crc")

    with pytest.raises(AlreadyExists):
        storage.create("lock", b"ours")

    assert (tmp_path / ".lock.crc").read_bytes() == b"crc"
