"""A metadata table that the properties do not list is listed again only if it lacks nothing."""

import pytest

from hudi_engine.action.flags import unflag
from hudi_engine.action.metadata_disable import disable_metadata_table
from hudi_engine.action.metadata_files import build_metadata_table
from hudi_engine.action.metadata_repair import repair_flags
from hudi_engine.errors import Contradiction, NotFound
from hudi_engine.index.files import listings
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.memory import Crash, Fault, MemoryStorage, Way
from tests.golden.in_memory import golden_in_memory
from tests.unit.action.metadata_tables import INDEXED, VERSIONS, opened
from tests.unit.action.sites import site_of

each_version = pytest.mark.parametrize("version", VERSIONS)


@each_version
def test_one_with_a_commit_for_every_action_of_the_data_is_listed_again(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    before = listings(opened(storage).index("files"))
    unflag(opened(storage).data, ["files"])

    assert repair_flags(site_of(storage))

    metadata = opened(storage)
    assert (metadata.index_names, listings(metadata.index("files"))) == (("files",), before)


def test_actions_that_completed_before_it_was_made_need_no_commit_of_their_own() -> None:
    storage = golden_in_memory("v9_mor_indexed")
    disable_metadata_table(site_of(storage))
    build_metadata_table(site_of(storage))
    unflag(opened(storage).data, ["files"])

    assert repair_flags(site_of(storage))


def test_in_layout_1_no_time_of_a_file_says_what_came_before_because_tables_are_copied() -> None:
    storage = golden_in_memory("v6_cow_indexed")
    disable_metadata_table(site_of(storage))
    build_metadata_table(site_of(storage))
    unflag(opened(storage).data, ["files"])

    with pytest.raises(Contradiction, match="Build the metadata table anew"):
        repair_flags(site_of(storage))


@each_version
def test_one_without_a_commit_for_an_action_of_the_data_is_not(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    unflag(opened(storage).data, ["files"])
    newest = opened(storage).data_timeline.writes()[-1].requested_at
    forget(storage, newest)

    with pytest.raises(Contradiction, match=f"no commit for {newest}.*Build the metadata table anew"):
        repair_flags(site_of(storage))

    assert opened(storage).index_names == ()


def test_one_without_a_committed_shard_is_not() -> None:
    storage = golden_in_memory("v9_mor_indexed")
    unflag(opened(storage).data, ["files"])
    for file in storage.list(f"{FOLDER}/files"):
        storage.delete(file.path)

    with pytest.raises(Contradiction, match="no committed shard"):
        repair_flags(site_of(storage))


def test_where_it_is_listed_already_nothing_happens() -> None:
    storage = golden_in_memory("v9_mor_indexed").restarted(Fault(1, Way.BEFORE, Crash()))

    assert not repair_flags(site_of(storage))


def test_where_there_is_none_it_says_so() -> None:
    storage = golden_in_memory("v9_mor_indexed")
    disable_metadata_table(site_of(storage))

    with pytest.raises(NotFound, match="build one instead"):
        repair_flags(site_of(storage))


def forget(storage: MemoryStorage, instant: str) -> None:
    """The metadata table as if its writer had not known of that action."""
    metadata = opened(storage)
    for name in metadata.timeline.files:
        if name.startswith(instant):
            storage.delete(f"{FOLDER}/{metadata.table.config.timeline_folder}/{name}")
