"""Which records have a value: what a user asks of a secondary index."""

from collections.abc import Sequence

import pyarrow as pa

from hudi_engine.index.index import Index
from hudi_engine.index.keys import secondary_prefixes, split_secondary_keys

RECORD_KEYS = pa.schema([("value", pa.large_string()), ("key", pa.large_string())])


def record_keys(index: Index, values: Sequence[str | None]) -> pa.Table:
    """The keys of all records that have one of the values, by the schema RECORD_KEYS; None asks for those with a null.

    Values are spelled as Hudi spells them: the text of the column's value inside of the engine, so that a date is
    its days since 1970. Releases before 1.1 do not index nulls.
    """
    rows = index.find_values(secondary_prefixes(pa.array(values, pa.large_string())))
    found_values, keys = split_secondary_keys(rows["key"])
    return pa.table([found_values, keys], schema=RECORD_KEYS)
