"""The process behind `jvm.Jvm`: answers one JSON line per request, holding one SparkSession.

    python -m tests.java.worker VERSION FOLDER '{"fs.s3a.endpoint": …}' ZONE

FOLDER has the compiled classes that let a test hold a writer (tests/java/holds.py).

Requests come on standard input. Answers go to what was standard output when we started; by the time Spark
starts, that name leads to standard error, so nothing Java prints can come between two answers.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from pyspark.sql import SparkSession

from tests.golden import lab, recipes
from tests.java import (
    engine_tagging,
    held_commits,
    java_formats,
    java_indexing,
    java_locks,
    java_metadata,
    java_pieces,
    java_skipping,
    java_table,
    java_written_metadata,
    live_commits,
    lost_keys,
)
from tools import spark_session
from tools.parts import bundle_jar, s3_jars


def run(spark: SparkSession, version: str, recipe: str, folder: str, stage: int = 0) -> list[str]:
    """Plays one writer's stage of a golden recipe; the answer is the instants worth travelling to."""
    return _play(spark, version, recipes.RECIPES[recipe], folder, stage)


def run_scenario(
    spark: SparkSession, version: str, scenario: str, folder: str, table_version: int, table_type: str
) -> list[str]:
    """The same for a table that no golden zip has."""
    recipe = recipes.on_the_spot(scenario, version, table_version, table_type)
    return _play(spark, version, recipe, folder, 0)


def _play(spark: SparkSession, version: str, recipe: lab.Recipe, folder: str, stage: int) -> list[str]:
    here = lab.Lab(spark, Path(folder), version, recipe)
    here.require_writer(recipe.writers[stage])
    recipe.stages[stage](here)
    if stage == len(recipe.stages) - 1:
        here.require_table()
    return here.as_of


OPERATIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        run,
        run_scenario,
        java_table.snapshot,
        java_table.file_view,
        java_table.timeline,
        java_table.read_instant,
        engine_tagging.tag_by_engine,
        engine_tagging.tag_columns_of_every_type,
        engine_tagging.tag_refused,
        java_formats.read_properties,
        java_formats.read_hfile,
        java_formats.read_log,
        java_formats.bloom,
        java_locks.take_lock,
        java_locks.give_lock,
        java_locks.count_under_lock,
        java_locks.implicit_lock_path,
        java_locks.beat_once,
        java_locks.is_heartbeat_expired,
        java_indexing.create_index,
        java_indexing.index_by_java,
        java_metadata.metadata_entries,
        java_metadata.listed_files,
        java_metadata.metadata_lookup,
        java_metadata.secondary_lookup,
        java_metadata.tag,
        java_skipping.rows_where,
        java_skipping.rows_that_are,
        java_pieces.load_properties,
        java_pieces.read_record,
        java_pieces.hfile_facts,
        java_pieces.parquet_footer,
        java_pieces.might_contain,
        java_pieces.make_bloom,
        java_pieces.base_file_name,
        java_pieces.log_file_name,
        java_pieces.log_file_parts,
        held_commits.begin_commit,
        held_commits.end_commit,
        java_written_metadata.write_rows,
        live_commits.commit,
        lost_keys.lose_keys_beside_a_writer,
        lost_keys.lose_keys_to_the_next_index,
    )
}


def answer(spark: SparkSession, version: str, line: str) -> dict[str, Any]:
    request = json.loads(line)
    try:
        return {"answer": OPERATIONS[request["do"]](spark, version, **request["with"])}
    except Exception as failed:  # noqa: BLE001  the border of the process: the caller raises it again
        where = "".join(traceback.format_tb(failed.__traceback__)[-6:])
        return {"error": "\n".join([f"{type(failed).__name__}: {failed}"[:600], *_causes(failed)]), "where": where}


def _causes(failed: Exception) -> list[str]:
    thrown = getattr(failed, "java_exception", None) or getattr(failed, "_origin", None)
    causes: list[str] = []
    while thrown is not None and len(causes) < 10:
        causes.append(f"caused by {thrown.toString()[:1500]}")
        thrown = thrown.getCause()
    return causes


def main(version: str, holds: str, told: str, zone: str) -> None:
    hadoop = json.loads(told)
    beside = [Path(holds), *(s3_jars() if "fs.s3a.impl" in hadoop else ())]
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        spark = spark_session.start(bundle_jar(version), beside=beside, hadoop=hadoop, zone=zone)
        _say(answers, {"answer": "ready"})
        for line in sys.stdin:
            _say(answers, answer(spark, version, line))
        spark.stop()


def _say(answers: TextIO, what: dict[str, Any]) -> None:
    print(json.dumps(what), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
