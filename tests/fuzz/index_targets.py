"""The ways into the indexes, each with files to damage."""

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch

from hudi_engine.format.hfile.read import read_hfile
from hudi_engine.format.parquet_footer import MOST_BYTES, parse_column_chunks
from hudi_engine.index.definitions import DEFAULT_PATH
from hudi_engine.index.metadata_table import FOLDER
from tests.fuzz import index_readings as readings
from tests.fuzz.cases import Case, Target, forged
from tests.fuzz.crafted import hfiles as crafted_hfiles
from tests.fuzz.mutations import varint
from tests.fuzz.seeds import golden, metadata_logs, smallest, unit_data, with_metadata

_HFILES = (
    "hbase_0.15.0_gz_multilevel",
    "hbase_0.15.0_none_multilevel",
    "native_1.1.1_none",
    "native_1.2.0_gz",
    "native_1.2.0_empty",
)
_INDEXED = ("v6_cow_indexed", "v9_mor_indexed")
_EXPRESSIONS = "v9_mor_expression_index"
_LONGEST_VALUE = 4096
_INSTANT = re.compile("[0-9]{17}")
_IN_METADATA = (
    *(
        "record_index/*.hfile",
        "record_index/.*.log.*",
        "files/.*.log.*",
        "column_stats/*.hfile",
        "column_stats/.*.log.*",
    ),
    *("partition_stats/.*.log.*", "bloom_filters/*.hfile", "secondary_index_*/*.hfile", "secondary_index_*/.*.log.*"),
    "record_index/.hoodie_partition_metadata",
    *(".hoodie/hoodie.properties", ".hoodie/*commit", ".hoodie/*/*commit"),
)


def index_targets() -> list[Target]:
    """Every target that is about indexes."""
    hfiles = {name: unit_data("hfiles")[name] for name in _HFILES}
    values = _values()
    payloads = {
        "equal": readings.payload_of(hfiles["native_1.1.1_none"], 200),
        "long": readings.payload_of(unit_data("hfiles")["native_1.2.0_long_keys"], 200),
        "records": readings.payload_of(
            smallest(with_metadata("v9_mor_record_index_large"), "*/record-index-*.hfile"), 150
        ),
    }
    logs = metadata_logs("v9_mor_killed")
    return [
        Target(
            "stored_hfile",
            hfiles,
            readings.read_stored_hfile(hfiles),
            _forged_for_search,
            knows_its_end=True,
            landmarks=(b'TRABLK"$', b"IDXROOT2", b"FILEINF2", b"IDXLEAF2"),
            share=0.15,
        ),
        Target("probe", payloads, readings.read_probe(payloads)),
        Target(
            "log_frames",
            {
                "metadata": smallest({name: data for name, data in logs.items() if len(data) > 500}, "*"),
                "deletions": smallest(logs, "*"),
                **{name: unit_data("log_files")[name] for name in ("v6_rollback/1", "v6_rollback/4", "v9_avro/2")},
            },
            readings.read_log_frames,
            landmarks=(b"#HUDI#",),
        ),
        Target(
            "index_value", {name: one.value for name, one in values.items()}, readings.read_value(values), share=0.2
        ),
        Target(
            "index_schema",
            {name: one.schema.encode() for name, one in values.items() if name.endswith(("files", "column_stats"))},
            readings.read_value_schema(values),
            share=0.1,
        ),
        Target(
            "index_definitions",
            {name: with_metadata(name)[DEFAULT_PATH] for name in (_INDEXED[1], _EXPRESSIONS)},
            readings.read_definitions,
            _definitions,
            knows_its_end=True,
        ),
        Target(
            "parquet_chunks",
            {"footer": _footer(smallest(golden("v6_mor_killed"), "*/*_2*.parquet"))},
            lambda _, data: parse_column_chunks(data),
            _footers,
            knows_its_end=True,
        ),
        *(_metadata_target(name) for name in _INDEXED),
    ]


def _values() -> dict[str, readings.Written]:
    """Of each index the longest value in the base files of its shards that is no longer than needed."""
    found: dict[str, readings.Written] = {}
    for table in (*_INDEXED, _EXPRESSIONS):
        for path, data in sorted(with_metadata(table).items()):
            if not fnmatch(path, f"{FOLDER}/*.hfile"):
                continue
            index = path.split("/")[2]
            hfile = read_hfile(data, 1)
            values = [value for value in hfile.entries["value"].to_pylist() if len(value) <= _LONGEST_VALUE]
            best = max(values, key=len, default=b"")
            name = f"{table}/{index}"
            if best and (name not in found or len(found[name].value) < len(best)):
                found[name] = readings.Written(index, hfile.info["schema"].decode(), best)
    return found


def _forged_for_search() -> Iterator[Case]:
    """A look-up does not count entries, nor reads what it does not need; the scan beside it does."""
    for case in crafted_hfiles():
        yield Case("native_1.2.0_gz", case.mutation, case.data, is_hopeless=True)


def _definitions() -> Iterator[Case]:
    seed = _EXPRESSIONS
    yield forged(seed, "nested lists", b"[" * 100_000)
    yield forged(seed, "nested definitions", b'{"indexDefinitions":' * 100_000)
    for what, changes in (
        ("a kind of another release", {"indexName": "vector_index_a"}),
        ("another name inside", {"indexName": "secondary_index_b"}),
        ("a version to come", {"version": "V3"}),
        ("a version that is a number", {"version": 2}),
        ("fields that are no texts", {"sourceFields": [1]}),
        ("fields that are a text", {"sourceFields": "a"}),
        ("options that are no texts", {"indexOptions": {"a": 1}}),
        ("options that are a list", {"indexOptions": ["a"]}),
    ):
        one = {"indexName": "secondary_index_a", "indexType": "secondary_index", **changes}
        name = "vector_index_a" if "kind" in what else "secondary_index_a"
        yield forged(seed, what, json.dumps({"indexDefinitions": {name: one}}).encode())


def _footers() -> Iterator[Case]:
    rows = b"\x49"  # field 4, the row groups: a list
    yield forged("footer", "2^60 row groups", rows + b"\xfc" + varint(2**60))
    yield forged("footer", "a number without end", b"\x46" + b"\xff" * 1000)
    yield forged("footer", "a text of 2^60 bytes", b"\x18" + varint(2**60))
    yield forged("footer", "nested structs", b"\x1c" * 1_000_000)
    yield forged("footer", "nested lists", b"\x19" + b"\x19" * 1_000_000)
    yield forged("footer", "a map of 2^60", b"\x1b" + varint(2**60) + b"\x55")
    yield forged("footer", "a map of maps", b"\x1b" + (varint(1) + b"\xbb") * 100_000)
    # Field 7, which nobody asks for, then no end.
    most = MOST_BYTES - 10
    yield forged("footer", "millions of bytes in a list", b"\x79\xf3" + varint(most) + bytes(most))
    yield forged("footer", "millions of empty structs in a list", b"\x79\xfc" + varint(most) + bytes(most))
    yield forged("footer", "millions of empty row groups", rows + b"\xfc" + varint(most) + bytes(most))
    yield forged(
        "footer",
        "many row groups without columns",
        rows + b"\xfc" + varint(most // 9) + b"\x19\x0c\x00" * (most // 9),
    )
    yield forged("footer", "millions of fields", b"\x13\x00" * (most // 2))
    yield forged("footer", "more than any footer has", bytes(MOST_BYTES + 1))


def _footer(data: bytes) -> bytes:
    size = int.from_bytes(data[-8:-4], "little")
    return data[-8 - size : -8]


def _metadata_target(name: str) -> Target:
    """A whole metadata table with one file damaged."""
    files = with_metadata(name)
    paths = {path for pattern in _IN_METADATA if (path := _newest(files, f"{FOLDER}/{pattern}"))}

    def read(seed: str, data: bytes) -> object:
        return readings.read_metadata_table({**files, seed: data}, seed)

    seeds = {path: files[path] for path in sorted({*paths, DEFAULT_PATH} & files.keys())}
    return Target(f"metadata_{name}", seeds, read, names_the_file=True, share=0.01)


def _newest(files: Mapping[str, bytes], pattern: str) -> str | None:
    """The newest of the files with content, by the last instant in its name: an older one may be in no slice."""
    found = [path for path, data in files.items() if data and fnmatch(path, pattern)]
    return max(found, default=None, key=lambda path: (_INSTANT.findall(path)[-1:], path))
