"""`hoodie.properties` from us: Java loads each key and value as given."""

from pathlib import Path

from hudi_engine.clock import HandClock
from hudi_engine.format import properties
from hudi_engine.storage.local import LocalStorage
from hudi_engine.table.properties_file import MAIN, update_properties
from tests.golden.unpack import unpack
from tests.interop.readable import every_release_and_table_version
from tests.java.jvm import Jvm

NOON_MS = 1_800_000_000_000
HARD = {
    "hudi_operator.plain": "value",
    "hudi_operator.empty": "",
    "hudi_operator.key with = : # ! and \\": "value with = : # ! and \\",
    "hudi_operator.blanks": "  two before, two after  ",
    "hudi_operator.lines": "one\ntwo\r\nthree\tfour\ffive",
    "hudi_operator.beyond ascii Ł北\U0001f600": "ß Ł 北 \U0001f600 \x00 \x7f ÿ",
    "hudi_operator.long": "x" * 100_000,
    "# no comment": "\\u0041 is not A, and a backslash ends this: \\",
}


def test_java_loads_every_text_that_we_render(real_hudi: Jvm, tmp_path: Path) -> None:
    file = tmp_path / "hoodie.properties"
    file.write_bytes(properties.render(HARD, ["a comment with Ł\nand a second=line"]))

    assert real_hudi.load_properties(path=str(file)) == HARD


@every_release_and_table_version
def test_java_sees_our_change_to_a_table_and_nothing_else(real_hudi: Jvm, table_version: int, tmp_path: Path) -> None:
    table = unpack(f"v{table_version}_cow_orders", tmp_path)
    before = real_hudi.read_properties(table=str(table))
    changes = {**HARD, "hoodie.table.metadata.partitions.inflight": "record_index", "hoodie.table.cdc.enabled": None}

    update_properties(LocalStorage(str(table)), changes, HandClock(NOON_MS))

    expected = {key: value for key, value in (before["properties"] | changes).items() if value is not None}
    after = real_hudi.read_properties(table=str(table))
    assert after == {"properties": expected, "checksum_is_right": True}
    assert real_hudi.load_properties(path=str(table / MAIN)) == expected
