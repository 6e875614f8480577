"""A Java commit that has begun and waits for its rows while a test does something else."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from pyspark.sql import SparkSession

from tests.java.live_commits import held_back, lab_of

_held: dict[str, ExitStack] = {}


def begin_commit(spark: SparkSession, version: str, table: dict[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """A bulk insert of these rows that has its instant; the answer is the name to end it by."""
    lab = lab_of(spark, version, **table)
    name = f"{len(_held)}"
    _held[name] = ExitStack()
    _held[name].enter_context(held_back(lab, rows))
    return name


def end_commit(spark: SparkSession, version: str, name: str) -> None:
    """Lets it have its rows, and waits for its end."""
    _held[name].close()
