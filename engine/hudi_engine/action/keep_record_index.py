"""How a record index is made and kept: of every row its key, with the place of its file group."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from hudi_engine.action.coverage import moves_records
from hudi_engine.action.derive import derive
from hudi_engine.action.keeping import ROWS, BaseOrder, Correction, Made, Question, Traits
from hudi_engine.action.made_of_rows import made_of_rows
from hudi_engine.action.plans import IS_PARTITIONED
from hudi_engine.action.reading import Reading
from hudi_engine.action.shard_changes import RecordCorrection
from hudi_engine.action.site import Site
from hudi_engine.compute.duplicates import keeps_newest
from hudi_engine.compute.estimate import shard_counts
from hudi_engine.compute.keys import RecordKeys
from hudi_engine.compute.shard_rule import ShardRule
from hudi_engine.errors import Unsupported
from hudi_engine.index.definitions import IndexDefinition
from hudi_engine.index.kinds import IndexKind
from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.merge_mode import require_meta_columns, require_readable_rows
from hudi_engine.table.table import Table

_PARTITIONED_SINCE = 9
_FIRST_WITH_DEFINITION = 9  # Hudi 1.0 writes none, and version 6 has no file for it


@dataclass(frozen=True, slots=True)
class RecordIndexKeeping:
    """`Keeping` of the record index, one for the table or one for each of its partitions."""

    conf: Mapping[str, str]
    is_partitioned: bool = False

    @property
    def traits(self) -> Traits:
        return ROWS

    def refuse(self, table: Table, others: Collection[str]) -> None:
        where = table.storage.location
        require_meta_columns(table.config, where, "a record index is made of them")
        if self.is_partitioned and table.config.version < _PARTITIONED_SINCE:
            raise Unsupported(
                f"{where}: a record index by partition needs table version {_PARTITIONED_SINCE}, this table has "
                f"{table.config.version}. Ask for a global one, or upgrade the table with a Hudi writer."
            )
        require_readable_rows(table.config)
        ShardRule.of(self.conf, is_partitioned=self.is_partitioned)
        keeps_newest(self.conf)

    def make(self, site: Site, order: BaseOrder) -> Made:
        entries = RecordKeys(keeps_newest=keeps_newest(self.conf))
        reader = order.metadata.data.rows(order.snapshot, entries.columns)
        return made_of_rows(site, order, reader, shard_counts(reader, self.is_partitioned, site.conf), entries)

    def concerns(self, commit: CommitMetadata) -> bool:
        return moves_records(commit)

    def derive(self, reading: Reading, question: Question) -> Correction:
        return RecordCorrection(derive(reading, question, keeps_newest=keeps_newest(self.conf)))

    def definition(self, metadata: MetadataTable) -> IndexDefinition | None:
        if metadata.data.config.version < _FIRST_WITH_DEFINITION:
            return None
        name = IndexKind.RECORD_INDEX.value
        options = {IS_PARTITIONED: "true" if self.is_partitioned else "false"}
        return IndexDefinition(name, IndexKind.RECORD_INDEX, name, options=options)
