"""Whether an index that we built and the one that Java built of the same table say the same."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.open import open_table
from tests.kit.indexed import entries_of

# A filter's `instant` is of the commit that wrote its file, as Java's writers have it; Java's indexer has one time for
# all, which none of its readers looks at.
DELIBERATE = frozenset({"instant"})


def compare(index: str, ours: Path, java: Path) -> dict[str, Any]:
    """Whether all entries are equal, but for what differs deliberately, and how many differ in what."""
    if index.startswith("secondary_index_"):
        return _compare_keys(*(_shards(table, index) for table in (ours, java)))
    mine, others = ({each["key"]: each for each in _entries(table, index)} for table in (ours, java))
    differ = Counter(name for key in mine.keys() & others.keys() for name in _differing(mine[key], others[key]))
    lacking = Counter({"only ours": len(mine.keys() - others.keys()), "only Java's": len(others.keys() - mine.keys())})
    return _found(len(mine), {**+differ, **+lacking})


def _entries(table: Path, index: str) -> list[dict[str, Any]]:
    return entries_of(open_table(str(table)).metadata.index(index))


def _differing(mine: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [name for name in mine if mine[name] != other[name]]


def _shards(table: Path, index: str) -> dict[str, pa.Array]:
    """Of each shard the keys of its entries, which are all that a secondary index says."""
    files = Path(table, ".hoodie/metadata", index).glob("*.hfile")
    entries = {file.name.partition("_")[0]: read_hfile(file.read_bytes()).entries for file in files}
    return {name: table["key"].combine_chunks() for name, table in entries.items()}


def _compare_keys(mine: dict[str, pa.Array], others: dict[str, pa.Array]) -> dict[str, Any]:
    wrong = [name for name in mine.keys() | others.keys() if not _is_same(mine.get(name), others.get(name))]
    return _found(sum(map(len, mine.values())), {"shards": len(wrong)} if wrong else {})


def _is_same(mine: pa.Array | None, other: pa.Array | None) -> bool:
    return mine is not None and other is not None and bool(mine.equals(other))


def _found(entries: int, differ: dict[str, int]) -> dict[str, Any]:
    return {"entries": entries, "equal": not differ.keys() - DELIBERATE, "differ_in": differ}
