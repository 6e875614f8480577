"""Where the rows of a dataframe are in a table already: look-up in its record index, one task a shard (RFC-8).

from hudi_engine.spark.tag import Keys, tag
tagged = tag(trips, "s3a://lake/trips", keys=Keys("trip_id"))
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.rdd import PythonEvalType
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DayTimeIntervalType,
    IntegerType,
    MapType,
    StringType,
    StructField,
    StructType,
    YearMonthIntervalType,
)
from pyspark.sql.udf import UserDefinedFunction

from hudi_engine.errors import Contradiction, NotFound, Unsupported
from hudi_engine.open import open_table
from hudi_engine.spark.shipped import ShippedIndex, shipped
from hudi_engine.spark.tasks import TAGS, TICKET, Lookup, Tagging, Ticketing

COLUMNS = tuple(f"_current_{name}" for name in TAGS)
"""The columns that are added, strings all: the partition, the file id, and the commit that put the record there."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Where a dataframe has its record keys, as strings, and how many of them a task looks up at once.

    `partition_column` has each row's partition, named as its folder (`city=Paris` if folders are named so). An index
    that is kept per partition needs it; one of the whole table does not look at it.
    """

    column: str = "_hoodie_record_key"
    partition_column: str | None = None
    at_once: int = 100_000


def tag(
    df: DataFrame, table_location: str, conf: Mapping[str, str] | None = None, keys: Keys | None = None
) -> DataFrame:
    """The rows of `df`, each with COLUMNS: where its record is now, or nulls for a key that is new, deleted or null.

    It is what Hudi's writer tags by: what the record index says at the moment of this call. No location is held
    against the data's timeline once more, as Java does not either: what was never committed is not read from the
    index at all. With an index of the whole table the tag may name another partition than the row's own. With one
    that is kept per partition a key is looked for in its row's partition only; Java, if a key comes with several
    partitions, tags each of its rows by all of them.

    The index is opened here; its entries are read by the tasks, from the files of that moment, for as long as no
    clean removes them. A row goes to the task of its shard, which sorts by key: it takes memory for Spark's sort,
    which spills, and for one batch. The order of rows is not kept. `conf` is sent to the tasks, secrets included;
    what it leaves out they take from their own environment.
    """
    keys, conf = keys or Keys(), conf or {}
    _require_types(df.schema)
    index = shipped(open_table(table_location, conf), conf)
    lookup = Lookup(index, _place(df, keys.column), _partition_place(df, keys, index), keys.at_once)
    # Columns go by their places, since names may hold dots or stand twice.
    names = [f"c{number}" for number in range(len(df.columns))]
    fields = [StructField(name, field.dataType, field.nullable) for name, field in zip(names, df.schema, strict=True)]
    ticketed = StructType([*fields, StructField(TICKET, IntegerType(), nullable=False)])
    tagged = StructType([*df.schema, *(StructField(name, StringType()) for name in COLUMNS)])
    placed = _map_in_arrow(df.toDF(*names), Ticketing(lookup), ticketed)
    placed = placed.repartition(index.shard_count, TICKET).sortWithinPartitions(names[lookup.key])
    return _map_in_arrow(placed, Tagging(lookup), tagged)


def _map_in_arrow(df: DataFrame, function: Callable[[Iterable[Any]], Iterator[Any]], schema: StructType) -> DataFrame:
    """`DataFrame.mapInArrow`, which itself asks for pandas, though it has no use for it and neither have its tasks."""
    mapping = UserDefinedFunction(function, schema, evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
    columns = mapping(*(df[name] for name in df.columns))
    return DataFrame(df._jdf.pythonMapInArrow(columns._jc.expr(), False), df.sparkSession)


def _require_types(schema: StructType) -> None:
    taken = {name.lower() for name in schema.names} & set(COLUMNS)
    if taken:
        raise Contradiction(f"the dataframe has a column {', '.join(sorted(taken))} already: drop or rename it first")
    for field in schema:
        # Arrow in Python has no months; days and seconds break Spark's own writer, once a batch has some thousand rows.
        if any(isinstance(part, DayTimeIntervalType | YearMonthIntervalType) for part in _parts(field.dataType)):
            raise Unsupported(
                f"the column {field.name} of the dataframe is of type {field.dataType.simpleString()}: Spark fails to "
                "hand intervals to Python. Cast it to a number, or tag without it."
            )


def _parts(kind: DataType) -> Iterator[DataType]:
    """The type and all within it."""
    yield kind
    match kind:
        case StructType():
            within = [field.dataType for field in kind]
        case ArrayType():
            within = [kind.elementType]
        case MapType():
            within = [kind.keyType, kind.valueType]
        case _:
            within = []
    for each in within:
        yield from _parts(each)


def _place(df: DataFrame, column: str) -> int:
    """Which column of the dataframe this is."""
    if df.columns.count(column) != 1:
        raise NotFound(
            f"the dataframe has {df.columns.count(column)} columns named {column!r}, expected one. "
            f"Its columns are: {', '.join(df.columns)}"
        )
    place = df.columns.index(column)
    found = df.schema[place].dataType
    if not isinstance(found, StringType):
        raise Unsupported(
            f"the column {column} of the dataframe is of type {found.simpleString()}, expected string. "
            "Cast it as the table's key generator does."
        )
    return place


def _partition_place(df: DataFrame, keys: Keys, index: ShippedIndex) -> int | None:
    if keys.partition_column is not None:
        return _place(df, keys.partition_column)
    if index.is_partitioned:
        raise Contradiction(
            f"{index.location}: its record index is kept per partition, where the same key may be in several. "
            "Say which column has each row's partition: Keys(…, partition_column=…)."
        )
    return None
