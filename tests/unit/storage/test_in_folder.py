"""A folder of a store keeps every promise of a store."""

from collections.abc import Callable

import pytest

from hudi_engine.clock import HandClock
from hudi_engine.storage.in_folder import InFolder
from hudi_engine.storage.memory import MemoryStorage
from hudi_engine.storage.protocol import Storage
from tests.kit.storage_contract import PROMISES


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_folder_keeps_the_promise_that(promise: Callable[[Storage], None]) -> None:
    promise(InFolder(MemoryStorage(HandClock()), ".hoodie/metadata"))


def test_files_of_the_folder_lie_below_it_in_the_whole() -> None:
    whole = MemoryStorage(HandClock())

    InFolder(whole, ".hoodie/metadata").create("files/a", b"content")

    assert whole.read(".hoodie/metadata/files/a") == b"content"
    assert InFolder(whole, ".hoodie/metadata").location == f"{whole.location}/.hoodie/metadata"
