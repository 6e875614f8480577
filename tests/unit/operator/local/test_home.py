"""A folder as the home of resources."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hudi_operator.launch.protocol import NotStarted
from hudi_operator.local.files import Taken, take_folder
from hudi_operator.local.home import FolderHome, Told
from hudi_operator.local.sources import NoSource, Sources
from hudi_operator.reconcile import Event, Gone, HomeError
from hudi_operator.resources.model import HudiTable, Ref, Resource
from hudi_operator.resources.unreadable import Stored
from tests.unit.operator.local.manifests import INDEX, INDEX_REF, TABLE, TABLE_REF

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: store}\nstringData: {fs.s3a.secret.key: canary}\n"


@dataclass(slots=True)
class House:
    """A home with its manifests, and all that it told."""

    folder: Path
    changed: list[Ref] = field(default_factory=list)
    statuses: list[Mapping[str, object]] = field(default_factory=list)
    home: FolderHome = field(init=False)

    def __post_init__(self) -> None:
        (self.folder / "manifests").mkdir(exist_ok=True)
        self.open()

    @property
    def sources(self) -> Sources:
        return Sources.of([self.folder / "manifests"])

    def open(self) -> None:
        """As a session that begins."""
        told = Told(self.changed.append, lambda resource, status: self.statuses.append(status), _ignored)
        self.home = FolderHome(self.folder / "state", told)
        self.home.load(self.sources)

    def write(self, name: str, text: str | None) -> None:
        path = self.folder / "manifests" / name
        path.unlink() if text is None else path.write_text(text)

    async def take(self) -> list[str]:
        found = self.sources.read()
        return found.faults + await self.home.take(found, self.sources, NOW)

    def held(self, ref: Ref) -> Resource:
        held = self.home.held(ref)
        assert held is not None
        return held[0]


def _ignored(resource: Stored, event: Event) -> None: ...


def test_a_resource_is_the_same_in_the_next_session_with_its_status(tmp_path: Path) -> None:
    async def story() -> None:
        house = House(tmp_path)
        house.write("all.yaml", f"{TABLE}---\n{INDEX}")
        await house.take()
        before = house.held(INDEX_REF)
        await house.home.write_status(before, {"state": "Ready", "plan": {"hash": "abc"}})
        house.open()
        await house.take()

        assert house.held(INDEX_REF).meta.uid == before.meta.uid
        # The state is left to the session to say anew.
        assert house.home.held(INDEX_REF) == (house.held(INDEX_REF), {"plan": {"hash": "abc"}})

    asyncio.run(story())


def test_a_manifest_taken_away_between_sessions_is_a_deletion(tmp_path: Path) -> None:
    async def story() -> None:
        house = House(tmp_path)
        house.write("table.yaml", TABLE)
        house.write("index.yaml", INDEX)
        await house.take()
        await house.home.set_finalizer(house.held(INDEX_REF), True)
        house.write("index.yaml", None)
        house.open()
        await house.take()
        going = house.held(INDEX_REF)
        await house.home.set_finalizer(going, False)

        assert going.meta.deleting_since == NOW
        assert house.home.held(INDEX_REF) is None
        assert not list((tmp_path / "state").glob("resources/metadataindexes/*/*"))
        with pytest.raises(Gone):
            await house.home.write_status(going, {})

    asyncio.run(story())


def test_what_other_files_hold_than_were_given_is_left_alone(tmp_path: Path) -> None:
    async def story() -> None:
        house = House(tmp_path)
        house.write("table.yaml", TABLE)
        house.write("index.yaml", INDEX)
        await house.take()
        alone = Sources.of([tmp_path / "manifests/table.yaml"])
        home = FolderHome(tmp_path / "state", house.home.told)
        home.load(alone)
        await home.take(alone.read(), alone, NOW)

        assert [resource.meta.ref for resource, _ in home.all()] == [TABLE_REF]
        assert len(list((tmp_path / "state").glob("resources/metadataindexes/*/*"))) == 1

    asyncio.run(story())


def test_a_file_that_becomes_faulty_changes_nothing_of_what_it_held(tmp_path: Path) -> None:
    async def story() -> None:
        house = House(tmp_path)
        house.write("all.yaml", f"{TABLE}---\n{INDEX}")
        await house.take()
        house.changed.clear()
        for text in ("a: [", f"{TABLE}---\nkind: [", f"{INDEX}---\n{TABLE.replace('/orders', '/others')}"):
            house.write("all.yaml", text)
            assert len(await house.take()) == 1

        assert house.changed == []
        table = house.held(TABLE_REF)
        assert isinstance(table, HudiTable)
        assert table.base_path == "/tables/orders"

    asyncio.run(story())


def test_a_status_is_told_when_it_changes_and_not_when_it_is_repeated(tmp_path: Path) -> None:
    async def story() -> None:
        house = House(tmp_path)
        house.write("table.yaml", TABLE)
        await house.take()
        for status in ({"state": "Pending"}, {"state": "Pending"}, {"state": "Ready"}):
            await house.home.write_status(house.held(TABLE_REF), status)

        assert house.statuses == [{"state": "Pending"}, {"state": "Ready"}]

    asyncio.run(story())


def test_a_secret_is_private_files_that_follow_its_manifest_and_are_gone_at_the_end(tmp_path: Path) -> None:
    async def story() -> None:
        house = House(tmp_path)
        house.write("secret.yaml", SECRET)
        await house.take()
        (folder,) = await house.home.secret_folder("default", ["store"])
        modes = [path.stat().st_mode & 0o777 for path in (folder, *folder.iterdir())]
        house.write("secret.yaml", SECRET.replace("fs.s3a.secret.key: canary", "fs.s3a.access.key: other"))
        await house.take()
        await house.home.secret_folder("default", ["store"])
        names = [path.name for path in folder.iterdir()]
        house.home.close()

        assert (modes, names) == ([0o700, 0o600], ["fs.s3a.access.key"])
        assert not (tmp_path / "state/secrets").exists()
        assert not any("canary" in path.read_text() for path in (tmp_path / "state").rglob("*") if path.is_file())

    asyncio.run(story())


def test_secrets_that_a_crash_left_are_removed_at_the_next_start(tmp_path: Path) -> None:
    (tmp_path / "state/secrets/default/store").mkdir(parents=True)
    (tmp_path / "state/secrets/default/store/key").write_text("canary")

    House(tmp_path)

    assert not (tmp_path / "state/secrets").exists()


def test_a_secret_that_no_file_holds_is_named(tmp_path: Path) -> None:
    house = House(tmp_path)

    with pytest.raises(HomeError, match="the Secret default/store is in none of the files given"):
        asyncio.run(house.home.secret_folder("default", ["store"]))
    with pytest.raises(NotStarted, match="add a manifest of kind Secret"):
        asyncio.run(house.home.secret("default", "store"))


def test_a_disk_that_refuses_leaves_what_was_and_the_same_may_be_tried_again(tmp_path: Path) -> None:
    async def story() -> None:
        house = House(tmp_path)
        house.write("table.yaml", TABLE)
        await house.take()
        place = tmp_path / "state/resources/huditables"
        place.rename(tmp_path / "aside")
        place.write_text("in the way")
        with pytest.raises(HomeError, match="the state folder cannot be written"):
            await house.home.write_status(house.held(TABLE_REF), {"state": "Ready"})
        place.unlink()
        (tmp_path / "aside").rename(place)
        await house.home.write_status(house.held(TABLE_REF), {"state": "Ready"})

        assert '"Ready"' in (place / "default/orders.json").read_text()

    asyncio.run(story())


def test_a_state_file_of_somebody_else_is_named_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "state/resources/huditables/default/orders.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}")

    with pytest.raises(HomeError, match=r"orders\.json: not what this program writes .* put it aside"):
        House(tmp_path)


def test_one_process_has_a_state_folder(tmp_path: Path) -> None:
    taken = take_folder(tmp_path / "state")
    with pytest.raises(Taken, match=f"the process {os.getpid()} has this state folder"):
        take_folder(tmp_path / "state")

    taken.close()
    take_folder(tmp_path / "state").close()


def test_what_is_named_and_not_there_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(NoSource, match="no such file or folder"):
        Sources.of([tmp_path / "nowhere"])


def test_a_folder_that_cannot_be_listed_says_nothing_about_its_files(tmp_path: Path) -> None:
    (tmp_path / "manifests").mkdir()
    sources = Sources.of([tmp_path / "manifests"])
    (tmp_path / "manifests").rmdir()

    assert sources.signature() is None


def test_files_in_folders_are_those_that_end_as_manifests_do(tmp_path: Path) -> None:
    for name in ("b.yml", "a.yaml", "c.json", "notes.txt", ".hidden.yaml"):
        (tmp_path / name).write_text(TABLE.replace("name: orders", f"name: t-{name[0].strip('.') or 'x'}"))

    assert sorted(ref.name for ref in Sources.of([tmp_path]).read().manifests) == ["t-a", "t-b", "t-c"]
