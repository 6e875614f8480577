"""A metadata table made where there is none: that it lists what is committed, beside writers and after crashes."""

from collections.abc import Mapping

import pytest

from hudi_engine.action.flags import COMPLETE_KEY, IN_FLIGHT_KEY, unflag
from hudi_engine.action.metadata_files import build_metadata_table, metadata_properties
from hudi_engine.errors import Busy, Unsupported
from hudi_engine.format.properties import parse
from hudi_engine.index.files import listings
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.memory import Crash, Fault, MemoryStorage, Way
from hudi_engine.table.properties_file import MAIN
from tests.golden.in_memory import golden_in_memory
from tests.kit.made_table import MadeTable, at
from tests.unit.action.metadata_tables import INDEXED, VERSIONS, opened
from tests.unit.action.sites import site_of

Files = Mapping[str, dict[str, int]]
WHOLE = ("v6_cow_indexed", "v6_mor_compacted", "v8_mor_indexed", "v8_mor_services", "v9_cow_archived", "v9_mor_indexed")


@pytest.mark.parametrize("golden", WHOLE)
def test_what_is_listed_is_what_java_had_listed(golden: str) -> None:
    storage = golden_in_memory(golden)
    by_java = listed(storage)
    take_away(storage)

    assert build_metadata_table(site_of(storage))

    assert listed(storage) == by_java
    config = opened(storage).data.config
    assert (config.readable_indexes, config.inflight_indexes) == (("files",), ())


@pytest.mark.parametrize("version", VERSIONS)
def test_the_properties_are_those_that_java_gives_a_metadata_table_of_this_version(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    by_java = parse(storage.read(f"{FOLDER}/{MAIN}"))

    assert metadata_properties(opened(storage).data) == by_java


def test_a_table_that_has_one_keeps_it() -> None:
    storage = golden_in_memory("v9_mor_indexed").restarted(Fault(1, Way.BEFORE, Crash()))

    assert not build_metadata_table(site_of(storage))


def test_a_metadata_table_that_is_not_listed_is_thrown_away_as_java_does() -> None:
    storage = golden_in_memory("v9_mor_indexed")
    by_java = listed(storage)
    unflag(opened(storage).data, ["files"])

    assert build_metadata_table(site_of(storage))

    assert listed(storage) == by_java
    assert not storage.list(f"{FOLDER}/record_index")
    assert len(opened(storage).timeline.instants) == 1


def test_what_others_commit_and_clean_while_folders_are_listed_is_listed_too() -> None:
    made = MadeTable(version=9, kind="COPY_ON_WRITE")
    for partition in ("p1", "p2"):
        made.partition(partition)
    made.base(at(1), [("a", 1, "")], "p1")
    made.complete(at(1), "commit")

    def commit() -> None:
        made.partition("p3")
        made.base(at(2), [("b", 1, "")], "p2")
        made.base(at(2), [("c", 1, "")], "p3")
        stats = {name: [{"partitionPath": name, "fileId": "f", "path": f"{name}/f"}] for name in ("p2", "p3")}
        made.complete(at(2), "commit", partitionToWriteStats=stats)

    build_metadata_table(site_of(made.storage, commit))

    assert {partition: len(files) for partition, files in listed(made.storage).items()} == {"p1": 1, "p2": 1, "p3": 1}


def test_files_that_no_commit_names_are_not_listed() -> None:
    made = MadeTable(version=9, kind="COPY_ON_WRITE")
    made.partition("p1")
    made.base(at(1), [("a", 1, "")], "p1")
    made.complete(at(1), "commit")
    made.base(at(2), [("b", 1, "")], "p1")
    made.storage.create("p1/.hidden", b"x")

    build_metadata_table(site_of(made.storage))

    (files,) = listed(made.storage).values()
    assert [name.endswith(f"_{at(1)}.parquet") for name in files] == [True]


def test_an_unpartitioned_table_and_an_empty_one_have_their_list_of_partitions() -> None:
    one, none = MadeTable(version=9), MadeTable(version=6)
    one.partition()
    for made in (one, none):
        build_metadata_table(site_of(made.storage))

    assert listed(one.storage) == {"": {}}
    assert listed(none.storage) == {}


@pytest.mark.parametrize("golden", ["v6_mor_pending", "v9_mor_pending"])
def test_while_a_write_is_pending_none_is_made_because_its_writer_would_not_log_to_it(golden: str) -> None:
    storage = golden_in_memory(golden)
    take_away(storage)

    with pytest.raises(Busy, match=r"deltacommit\.inflight.*hoodie\.metadata\.enable=true"):
        build_metadata_table(site_of(storage))

    assert not storage.list(FOLDER)


def test_a_compaction_that_is_only_planned_is_nobodys_business() -> None:
    made = MadeTable(version=8)
    made.schedule_compaction(at(3))

    assert build_metadata_table(site_of(made.storage))


@pytest.mark.parametrize("way", [Way.BEFORE, Way.AFTER, Way.TORN])
def test_one_whose_maker_died_anywhere_is_made_anew(way: Way) -> None:
    made = MadeTable(version=9, kind="COPY_ON_WRITE")
    made.partition()
    made.base(at(1), [("a", 1, "")])
    made.complete(at(1), "commit")
    at_write, begun = 1, True
    while begun:
        storage = copy_of(made.storage)
        try:
            build_metadata_table(site_of(storage.restarted(Fault(at_write, way, Crash(), torn_bytes=40))))
            begun = False
        except Crash:
            build_metadata_table(site_of(storage.restarted()))
        assert len(listed(storage)[""]) == 1
        assert len(opened(storage).timeline.completed()) == 1
        at_write += 1
    assert at_write > 8


def test_a_file_of_a_newer_hudi_is_refused_and_not_left_out() -> None:
    made = MadeTable(version=9)
    made.partition()
    made.storage.create("f1e1d000-0000-4000-8000-000000000001-0_0-1-1_20260201000000000_1.log.parquet", b"x")

    with pytest.raises(Unsupported, match="native log file"):
        build_metadata_table(site_of(made.storage))


def listed(storage: MemoryStorage) -> Files:
    found = listings(opened(storage).index("files"))
    return {partition: {file.name: file.size_bytes for file in files} for partition, files in found.items()}


def take_away(storage: MemoryStorage) -> None:
    """The table as it is where nobody ever made a metadata table."""
    unflag(opened(storage).data, ["files"])
    for path in paths(storage, FOLDER):
        storage.delete(path)
    text = storage.read(MAIN).splitlines(keepends=True)
    keys = (COMPLETE_KEY.encode(), IN_FLIGHT_KEY.encode())
    storage.replace(MAIN, b"".join(line for line in text if not line.startswith(keys)))


def paths(storage: MemoryStorage, folder: str) -> list[str]:
    children = storage.list(folder)
    below = [path for child in children if child.is_folder for path in paths(storage, child.path)]
    return [child.path for child in children if not child.is_folder] + below


def copy_of(storage: MemoryStorage) -> MemoryStorage:
    other = MadeTable().storage
    for path in paths(other, ""):
        other.delete(path)
    for path in paths(storage, ""):
        other.create(path, storage.read(path))
    return other.restarted()
