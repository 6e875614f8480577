"""A table in the making: what the recipes do their steps with."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession

from tests.java import java_formats, java_table
from tests.java import objects as java

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recipe:
    """One table: who writes it, what it is, and what happens to it. Writer n plays stage n."""

    name: str
    writers: tuple[str, ...]
    table_version: int
    table_type: str
    stages: tuple[Callable[["Lab"], None], ...]


@dataclass(slots=True)
class Lab:
    """The folder of a table, the session that writes to it, and the settings that every write repeats."""

    spark: SparkSession
    folder: Path
    hudi: str
    recipe: Recipe
    schema: str = ""
    options: dict[str, str] = field(default_factory=dict)
    as_of: list[str] = field(default_factory=list)
    url: str = ""
    """Of a table that is not on this disk; nothing that looks into its folder can be asked then."""

    @property
    def place(self) -> str:
        """As Hudi is told it."""
        return self.url or str(self.folder)

    def table(self, schema: str, *, key: str, partition: str = "", ordering: str = "seen", **options: str) -> None:
        """Settles what the table is; `options` are named without `hoodie.` and with `__` for a dot."""
        self.schema = schema
        self.options = {
            **_QUIET,
            "hoodie.table.name": self.recipe.name,
            "hoodie.datasource.write.table.type": self.recipe.table_type,
            "hoodie.datasource.write.recordkey.field": key,
            "hoodie.datasource.write.partitionpath.field": partition,
            "hoodie.datasource.write.precombine.field": ordering,
            **self._version_options(),
            **_named(options),
        }
        if not partition:
            self.options["hoodie.datasource.write.keygenerator.class"] = (
                "org.apache.hudi.keygen.NonpartitionedKeyGenerator"
            )

    def write(self, rows: Sequence[Row], operation: str = "upsert", **options: str) -> str:
        """One commit; the answer is its instant."""
        with TemporaryDirectory() as folder:
            lines = Path(folder, "rows.json")
            lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
            frame = self.spark.read.schema(self.schema).json(str(lines)).coalesce(1)
            settings = {**self.options, "hoodie.datasource.write.operation": operation, **_named(options)}
            frame.write.format("hudi").options(**settings).mode("append").save(self.place)
        return self.last()

    def remember(self) -> None:
        """Rows as of now are worth an expectation of their own."""
        self.as_of.append(self.last())

    def last(self) -> str:
        """The newest completed write."""
        writes = ("commit", "deltacommit", "replacecommit")
        return max(
            str(each["requested"])
            for each in self.instants()
            if each["action"] in writes and each["state"] == "COMPLETED"
        )

    def instants(self) -> list[dict[str, Any]]:
        return java_table.timeline(self.spark, self.hudi, self.place)

    def forget_completion(self, instant: str) -> None:
        """Leaves the table as a writer does that dies just before it completes its instant."""
        layout_1, layout_2 = self.folder / ".hoodie", self.folder / ".hoodie/timeline"
        found = [*layout_1.glob(f"{instant}.*commit"), *layout_2.glob(f"{instant}_*.*commit")]
        (completed,) = found
        completed.unlink()
        completed.with_name(f".{completed.name}.crc").unlink(missing_ok=True)

    def sql(self, text: str) -> None:
        """A statement about this table; `{table}` and `{folder}` stand for it."""
        self.spark.sql(text.format(table=self.recipe.name, folder=self.folder))

    def create_index(self, name: str, column: str, using: str = "", options: str = "") -> None:
        """Through SQL, which indexes beside other writers and therefore insists on a lock."""
        self.spark.conf.set("hoodie.write.lock.provider", _LOCK)
        self.spark.sql(f"CREATE TABLE IF NOT EXISTS {self.recipe.name} USING hudi LOCATION '{self.place}'")
        self.spark.sql(f"CREATE INDEX {name} ON {self.recipe.name} {using} ({column}) {options}")
        self.spark.conf.unset("hoodie.write.lock.provider")

    def index_in_flight(self, kind: str, **options: str) -> None:
        """Lets Java's indexer build an index and takes back that it was declared ready and the instant completed."""
        hudi, meta_client = java.package(self.spark), java.meta_client(self.spark, str(self.folder))
        schema = hudi.common.table.TableSchemaResolver(meta_client).getTableSchema().toString()
        client = self.client(avro__schema=schema, **options)
        types = java_formats.java_list(self.spark, [getattr(hudi.metadata.MetadataPartitionType, kind)])
        instant = client.scheduleIndexing(types, java_formats.java_list(self.spark, [])).get()
        client.index(instant)
        meta_client.reloadTableConfig()
        index = types.get(0).getPartitionPath()
        meta_client.getTableConfig().setMetadataPartitionState(meta_client, index, False)
        meta_client.getTableConfig().setMetadataPartitionsInflight(
            meta_client, java_formats.java_list(self.spark, [index])
        )
        (completed,) = Path(self.folder, ".hoodie/timeline").glob(f"{instant}_*.indexing")
        completed.unlink()

    def hadoop(self, name: str, value: str) -> None:
        """A setting that Hudi asks Hadoop for; it outlives this table."""
        java.java_context(self.spark).hadoopConfiguration().set(name, value)

    def none(self) -> Any:
        """Java's empty Option."""
        return java.package(self.spark).common.util.Option.empty()

    def client(self, **options: str) -> Any:
        """Java's write client, for what no data source option does."""
        payload = {"hoodie.datasource.write.payload.class": _PAYLOAD_OF_RELEASE_0_15} if self.hudi == "0.15.0" else {}
        settings = {**payload, **self.options, **_named(options)}
        return java.package(self.spark).DataSourceUtils.createHoodieClient(
            java.java_context(self.spark), "", str(self.folder), self.recipe.name, settings
        )

    def require_writer(self, hudi: str) -> None:
        """The jar itself says which release it is."""
        known = java.package(self.spark).common.table.HoodieTableMetaClient._java_lang_class
        found = known.getPackage().getImplementationVersion()
        assert found == hudi, f"the writer is Hudi {found}, meant to be {hudi}"

    def require_table(self) -> None:
        found = self.properties()
        assert found["hoodie.table.version"] == str(self.recipe.table_version), found
        assert found["hoodie.table.type"] == self.recipe.table_type, found

    def properties(self) -> dict[str, str]:
        lines = Path(self.folder, ".hoodie/hoodie.properties").read_text("latin-1").splitlines()
        return {name: text for name, _, text in (line.partition("=") for line in lines)}

    def _version_options(self) -> dict[str, str]:
        if self.hudi == "0.15.0":
            return {}
        options = {
            "hoodie.write.table.version": str(self.recipe.table_version),
            "hoodie.write.auto.upgrade": "false",
        }
        if self.hudi == "1.0.2":
            # Column statistics are on by default there, and a null in a logged column then stops the writer.
            options["hoodie.metadata.index.column.stats.enable"] = "false"
        return options


def _named(options: Mapping[str, str]) -> dict[str, str]:
    return {f"hoodie.{name.replace('__', '.')}": value for name, value in options.items()}


# What the data source assumes and the client does not.
_PAYLOAD_OF_RELEASE_0_15 = "org.apache.hudi.common.model.OverwriteWithLatestAvroPayload"

_LOCK = "org.apache.hudi.client.transaction.lock.InProcessLockProvider"

_QUIET = {
    "hoodie.metadata.enable": "true",
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.insert.shuffle.parallelism": "1",
    "hoodie.bulkinsert.shuffle.parallelism": "1",
    "hoodie.delete.shuffle.parallelism": "1",
    "hoodie.bloom.index.parallelism": "1",
    "hoodie.index.bloom.num_entries": "500",
    "hoodie.bloom.index.filter.dynamic.max.entries": "2000",
    "hoodie.metadata.index.column.stats.parallelism": "1",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.record.index.max.filegroup.count": "2",
    "hoodie.compact.inline": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.time.generator.max_expected_clock_skew_ms": "1",
}
