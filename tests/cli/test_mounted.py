"""Properties from folders as Kubernetes mounts them, and that none of their values is ever told."""

import os
from pathlib import Path

import pytest

from hudi_engine.cli.mounted import read_mounted, signature_of
from hudi_engine.cli.veil import veil_over
from hudi_engine.errors import Contradiction

KEY = "fs.s3a.secret.key"
CANARY = "canary/+Äé'quoted\"-0451"


def kubelet_writes(folder: Path, content: dict[str, str], version: str) -> None:
    """As Kubernetes does it: a new hidden folder, then the link to it replaced, then the old one removed."""
    before = (folder / "..data").readlink() if (folder / "..data").is_symlink() else None
    (folder / f"..{version}").mkdir()
    for name, value in content.items():
        (folder / f"..{version}" / name).write_text(value)
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(Path("..data") / name)
    (folder / "..data_tmp").symlink_to(f"..{version}")
    (folder / "..data_tmp").rename(folder / "..data")
    if before is not None:
        for file in (folder / before).iterdir():
            file.unlink()
        (folder / before).rmdir()


def test_each_file_is_a_property_and_what_kubernetes_keeps_for_itself_is_none(tmp_path: Path) -> None:
    kubelet_writes(tmp_path, {KEY: CANARY, "fs.s3a.access.key": "me\n"}, "2026")

    assert read_mounted((str(tmp_path),)) == {KEY: CANARY, "fs.s3a.access.key": "me"}


def test_plain_files_of_several_folders_are_taken_together(tmp_path: Path) -> None:
    for folder, name in (("a", KEY), ("b", KEY), ("b", "hadoop.other"), ("b", "key.pem")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text("same\r\n")

    found = read_mounted((str(tmp_path / "a"), str(tmp_path / "b")))

    assert found == {KEY: "same", "hadoop.other": "same"}


def test_a_new_secret_is_noticed_and_an_unchanged_one_is_not(tmp_path: Path) -> None:
    kubelet_writes(tmp_path, {KEY: "old-value"}, "1")
    first = signature_of((str(tmp_path),))
    again = signature_of((str(tmp_path),))

    kubelet_writes(tmp_path, {KEY: "new-value"}, "2")

    assert again == first
    assert signature_of((str(tmp_path),)) != first
    assert read_mounted((str(tmp_path),)) == {KEY: "new-value"}


def test_two_values_of_one_property_are_refused_without_showing_either(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / KEY).write_text(f"{CANARY}{number}")

    with pytest.raises(
        Contradiction, match=r"'fs.s3a.secret.key' is in .*/1 and, with another value, in .*/2"
    ) as refused:
        read_mounted((str(tmp_path / "1"), str(tmp_path / "2")))

    assert CANARY not in str(refused.value)


@pytest.mark.parametrize(
    "what", ["missing", "a file", "a folder in it", "no text", "too large", "dangling", "a pipe", "a lock"]
)
def test_a_folder_that_is_none_is_refused_with_its_name_and_no_content(what: str, tmp_path: Path) -> None:
    folder = tmp_path / "secret"
    folder.mkdir()
    (folder / "fs.good").write_text(CANARY)
    match what:
        case "missing":
            folder = tmp_path / "nowhere"
        case "a file":
            folder = folder / "fs.good"
        case "a folder in it":
            (folder / "below").mkdir()
        case "no text":
            (folder / KEY).write_bytes(CANARY.encode() + b"\xff")
        case "too large":
            (folder / KEY).write_text("x" * 100_001)
        case "dangling":
            (folder / KEY).symlink_to("..data/nothing")
        case "a pipe":
            os.mkfifo(folder / KEY)
        case "a lock":
            (folder / "hudi.engine.single.writer").write_text("true")

    with pytest.raises(Contradiction, match=r"^conf_from: ") as refused:
        read_mounted((str(folder),))

    assert str(folder) in str(refused.value)
    assert CANARY not in str(refused.value)


def test_a_value_is_hidden_however_it_is_spelled() -> None:
    veil = veil_over({KEY: CANARY, "short.password": "abc", "fs.s3a.path.style.access": "true"})
    told = f"key={CANARY} {CANARY!r} {CANARY!a} canary%2F%2B%C3%84%C3%A9%27quoted%22-0451 abc true"

    assert veil.over(told) == "key=*** '***' '***' *** *** true"


def test_each_line_of_a_value_is_hidden() -> None:
    veil = veil_over({"key.json": "-----BEGIN\nline-of-a-private-key\nEND\n"})

    assert veil.over("bad line: line-of-a-private-key!") == "bad line: ***!"
