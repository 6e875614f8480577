"""Builds that tests kill: by kind what is asked for, beside which writer, and what Java finds by the index."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.java.jvm import Jvm
from tests.java.live import COPY_ON_WRITE, MERGE_ON_READ, RECOMMENDED, Scene
from tests.java.live_checks import require_found_by_value, require_skipped_right, run_engine
from tests.java.live_writers import KEEPS_OTHER_KINDS, zookeeper_lock
from tests.java.remains import require_nothing_of_it
from tests.kit.engine import RECORD_INDEX, Pause, build
from tests.kit.zookeeper_server import ZooKeeperServer

_BY_VALUE: Final = "secondary_index_by_seen"
# Where a test has a commit made that the base does not have, so that there is something to catch up with.
BASE_IS_READ: Final = Pause("base", r"^create .*-0000.*hfile")


def _found_by_value(scene: Scene) -> None:
    require_found_by_value(scene.writer.jvm, str(scene.folder), _BY_VALUE, scene.rows())


def _skipped_right(scene: Scene) -> None:
    require_skipped_right(scene.writer.jvm, str(scene.folder), scene.rows())


@dataclass(frozen=True, slots=True)
class Case:
    """What is built, by which words, beside a writer with which settings, and what Java is to find by it."""

    names: tuple[str, ...]
    asked: tuple[str, ...]
    writers: Mapping[str, str]
    require_found: Callable[[Scene], None]
    needs: tuple[str, ...] = ()
    table_type: str = COPY_ON_WRITE

    def __str__(self) -> str:
        return "+".join(self.names) + (" of logs" if self.table_type == MERGE_ON_READ else "")

    def scene(self, jvm: Jvm, zookeeper: ZooKeeperServer, folder: Path, own: Mapping[str, str]) -> Scene:
        """A table with all that the index needs; `own` are the engine's options."""
        scene = Scene(jvm, folder, zookeeper_lock(zookeeper.address, str(self)), own, self.writers, self.table_type)
        if self.needs:
            assert build(scene.folder, scene.options, asked=self.needs).code == 0
        return scene

    def drop(self, scene: Scene) -> None:
        """No trace of the index is left, and of its builds none."""
        props = scene.folder.with_name("engine.properties")
        props.write_text("".join(f"{key}={value}\n" for key, value in scene.options.items()))
        types = [word for name in self.names for word in ("--type", name)]
        code, report = run_engine("index", "drop", str(scene.folder), *types, "--props", str(props))
        assert code == 0, report
        require_nothing_of_it(scene.folder, *self.names)


RECORDS: Final = Case(("record_index",), RECORD_INDEX, RECOMMENDED, Scene.require_found_by_java)
OF_FILES: Final = Case(
    ("column_stats", "bloom_filters"),
    ("--type", "column_stats", "--type", "bloom_filters"),
    KEEPS_OTHER_KINDS,
    _skipped_right,
)
OF_VALUES: Final = Case(
    (_BY_VALUE,),
    ("--type", _BY_VALUE, "--column", "seen"),
    KEEPS_OTHER_KINDS,
    _found_by_value,
    needs=RECORD_INDEX,
)
# By two plans, one after the other.
OF_PARTITIONS: Final = Case(
    ("column_stats", "partition_stats"),
    ("--type", "column_stats", "--type", "partition_stats"),
    KEEPS_OTHER_KINDS,
    _skipped_right,
)
