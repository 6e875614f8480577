"""A metadata table taken away: flags first, then files, and nobody else's."""

import pytest

from hudi_engine.action.metadata_disable import disable_metadata_table, metadata_paths
from hudi_engine.action.metadata_files import build_metadata_table
from hudi_engine.errors import NotFound
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.memory import Crash, Fault, Way
from hudi_engine.table.properties_file import MAIN
from tests.golden.in_memory import golden_in_memory
from tests.unit.action.metadata_tables import INDEXED, VERSIONS, opened
from tests.unit.action.sites import site_of


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_is_left_of_it_and_the_table_is_whole(version: int) -> None:
    storage = golden_in_memory(INDEXED[version])
    rows = opened(storage).data.snapshot().slices

    deleted = disable_metadata_table(site_of(storage))

    assert deleted > 10
    assert not storage.list(FOLDER)
    table = site_of(storage).table()
    assert (table.config.readable_indexes, table.config.inflight_indexes) == ((), ())
    assert table.snapshot().slices == rows
    with pytest.raises(NotFound, match="no metadata table"):
        opened(storage)


def test_its_properties_go_last() -> None:
    paths = metadata_paths(golden_in_memory("v9_mor_indexed"))

    assert paths[-1] == f"{FOLDER}/{MAIN}"
    assert len(set(paths)) == len(paths) > 20


@pytest.mark.parametrize("way", [Way.BEFORE, Way.AFTER])
@pytest.mark.parametrize("at_write", [1, 2, 3, 4, 30, 60])
def test_one_whose_remover_died_anywhere_is_removed_by_running_it_again(way: Way, at_write: int) -> None:
    storage = golden_in_memory("v9_mor_indexed")
    with pytest.raises(Crash):
        disable_metadata_table(site_of(storage.restarted(Fault(at_write, way, Crash()))))

    disable_metadata_table(site_of(storage))

    assert not storage.list(FOLDER)
    assert site_of(storage).table().config.readable_indexes == ()


def test_one_that_a_writer_makes_after_the_flags_were_taken_away_stays_whole() -> None:
    storage = golden_in_memory("v9_mor_indexed")

    def make_anew() -> None:
        build_metadata_table(site_of(storage))

    disable_metadata_table(site_of(storage, lambda: None, make_anew))

    metadata = opened(storage)
    assert metadata.index_names == ("files",)
    assert sum(map(len, metadata.index("files").scan())) > 0


def test_there_being_none_is_fine() -> None:
    storage = golden_in_memory("v9_mor_indexed")
    disable_metadata_table(site_of(storage))

    assert disable_metadata_table(site_of(storage)) == 0
