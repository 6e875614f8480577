"""The ways into the engine, each with files to damage."""

import io
from collections.abc import Iterable, Mapping
from fnmatch import fnmatch

import pyarrow as pa
import pyarrow.parquet as pq

from hudi_engine.format import parquet_file
from hudi_engine.format.hfile.read import lookup, read_hfile
from hudi_engine.table.history import parse_manifest
from hudi_engine.table.properties_file import MAIN
from tests.fuzz import crafted, readings
from tests.fuzz.cases import Target
from tests.fuzz.crafted_parquet import parquet_files
from tests.fuzz.index_targets import index_targets
from tests.fuzz.seeds import golden, metadata_logs, smallest, unit_data

_IN_TABLES = (
    *("*hoodie.properties", "*/*.*commit", "*/*.requested", "*/*.clean", "*/*_2*.parquet", "*/.*.log.*"),
    *("*/history/manifest_*", "*/history/_version_", "*/history/*.parquet", "*/.hoodie_partition_metadata"),
)
_TABLES = ("v6_mor_killed", "v8_mor_archived", "v9_mor_killed")


def all_targets() -> list[Target]:
    """Every target, the quick ones first."""
    logs, hfiles, records = unit_data("log_files"), unit_data("hfiles"), unit_data("avro_service_records")
    upgraded, archived = golden("v9_mor_upgraded"), golden("v8_mor_archived")
    base = smallest(golden("v6_mor_killed"), "*/*_2*.parquet")
    return [
        Target(
            "properties",
            {name: golden(name)[MAIN] for name in ("v6_mor_killed", "v9_mor_killed")},
            readings.read_properties,
            crafted.properties,
            names_the_file=True,
        ),
        Target("names", {"names": _names(upgraded)}, readings.read_names, share=0.3),
        Target(
            "bloom_filter", {"text": _bloom_of(base)}, readings.read_bloom, crafted.bloom_filters, knows_its_end=True
        ),
        Target(
            "lsm_manifest",
            {"manifest": smallest(archived, "*/history/manifest_*")},
            lambda _, data: parse_manifest(data, "manifest_1"),
            crafted.manifests,
            knows_its_end=True,
            names_the_file=True,
        ),
        Target(
            "avro_schema",
            {"schema": _schema_of(base)},
            readings.read_schema,
            crafted.schemas,
            knows_its_end=True,
            share=0.5,
        ),
        Target(
            "avro_plan",
            {
                name: smallest(records, f"v9/{name}" if f"v9/{name}" in records else f"v8/{name}")
                for name in readings.RECORDS
            },
            readings.read_plan,
            crafted.plans,
            knows_its_end=True,
        ),
        Target(
            "commit_avro",
            {"commit": records["v9/commit"], "replacecommit": records["v8/replacecommit"]},
            readings.read_avro_commit,
            crafted.avro_commits,
        ),
        Target(
            "commit_json",
            {
                "commit": smallest(golden("v6_cow_archived"), ".hoodie/*.commit"),
                "replacecommit": records["v6/replacecommit"],
            },
            readings.read_json_commit,
            crafted.json_commits,
        ),
        Target(
            "hfile",
            {
                name: hfiles[name]
                for name in (
                    "hbase_1.0.2_empty",
                    "hbase_0.15.0_gz_multilevel",
                    "native_1.1.1_long_keys",
                    "native_1.2.0_gz",
                )
            },
            lambda _, data: (read_hfile(data, 1), lookup(data, pa.array(["k000003", "k999999", ""]), 1)),
            crafted.hfiles,
            knows_its_end=True,
            landmarks=(b'TRABLK"$', b"IDXROOT2", b"FILEINF2", b"IDXLEAF2"),
        ),
        Target(
            "log_file",
            {
                **{name: logs[name] for name in ("v6_rollback/1", "v6_rollback/4", "v9_avro/2", "v8_parquet/1")},
                "hfile_block": smallest({n: d for n, d in metadata_logs("v6_mor_killed").items() if len(d) > 500}, "*"),
            },
            readings.read_log,
            crafted.logs,
            landmarks=(b"#HUDI#",),
        ),
        Target(
            "archive_log", {"archive": smallest(upgraded, "*archive.*")}, readings.read_archive_log, names_the_file=True
        ),
        Target(
            "lsm_history",
            {"history": smallest(archived, "*/history/*.parquet")},
            readings.read_lsm_history,
            knows_its_end=True,
            names_the_file=True,
        ),
        Target(
            "base_file",
            {"base": base, "plain": _plain_parquet()},
            readings.read_base_file,
            parquet_files,
            knows_its_end=True,
        ),
        *index_targets(),
        *(_table_target(name) for name in _TABLES),
    ]


def _names(files: Iterable[str]) -> bytes:
    return "\n".join(path.rpartition("/")[2] for path in files).encode()


def _bloom_of(base: bytes) -> bytes:
    found: bytes = parquet_file.open_parquet(io.BytesIO(base)).metadata.metadata[readings.BLOOM]
    return found


def _schema_of(base: bytes) -> bytes:
    found: bytes = parquet_file.open_parquet(io.BytesIO(base)).metadata.metadata[b"parquet.avro.schema"]
    return found


def _plain_parquet() -> bytes:
    """Rows without compression, in which no checksum of a codec finds what is wrong."""
    rows = pa.table(
        {"text": ["one", "two", None, "zürich"], "number": [1, None, 3, 4], "list": [[1, 2], [], None, [3]]}
    )
    data = io.BytesIO()
    pq.write_table(rows, data, compression="none", use_dictionary=["number"])
    return data.getvalue()


def _table_target(name: str) -> Target:
    """A whole table with one file damaged."""
    files = golden(name)
    paths = {min(found) for pattern in _IN_TABLES if (found := _with_content(files, pattern))}

    def read(seed: str, data: bytes) -> object:
        return readings.read_table({**files, seed: data})

    return Target(
        f"table_{name}",
        {path: files[path] for path in sorted(paths)},
        read,
        lambda: crafted.tables(files),
        names_the_file=True,
        share=0.04,
    )


def _with_content(files: Mapping[str, bytes], pattern: str) -> list[str]:
    return [path for path, data in files.items() if data and fnmatch(path, pattern)]
