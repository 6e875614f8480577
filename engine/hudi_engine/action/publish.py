"""RFC-45, run, step 4: the base of an index comes into effect, its shards, their metadata commit and the flag at once.

From here on every writer that begins logs to shards that are whole and committed, and may compact them. Those that
began before do not know of the index: the catch-up does for them what they leave out.
"""

from hudi_engine.action.attempts import all_reserved, require_newest
from hudi_engine.action.base import BuiltBase
from hudi_engine.action.coverage import ATTEMPT, COVERS, PLAN, READ_AT, UPTO
from hudi_engine.action.definitions_file import write_definition
from hudi_engine.action.execute import Run
from hudi_engine.action.flags import flag_in_flight
from hudi_engine.action.metadata_commit import (
    INITIAL,
    MetadataCommit,
    ensure_partition_metafile,
    run_metadata_commit,
)
from hudi_engine.action.schedule import IS_PARTITIONED
from hudi_engine.action.site import Transaction
from hudi_engine.action.strays import instant_of
from hudi_engine.errors import Contradiction
from hudi_engine.format.names import PARTITION_METAFILE
from hudi_engine.index.definitions import IndexDefinition
from hudi_engine.index.kinds import IndexKind

_FIRST_WITH_DEFINITION = 9  # of a record index: Hudi 1.0 writes none, and version 6 has no file for it


def publish(run: Run, base: BuiltBase) -> None:
    """The base committed and flagged in flight. Refused if the index is another's by now, or its files are not ours."""
    site, name = run.site, base.index.name
    with site.transaction() as transaction:
        require_newest(transaction, run.attempt)
        run.liveness.require_alive()
        _require_unchanged(transaction, base)
        _require_only_ours(transaction, run, base)
        metadata = transaction.metadata
        transaction.require_held()
        ensure_partition_metafile(metadata, name, run.attempt.base_instant)
        if base.table_version >= _FIRST_WITH_DEFINITION:
            write_definition(transaction.table, _definition(base))
        completed_at = transaction.next_time()
        transaction.require_held()
        run_metadata_commit(metadata, _commit(run, base), completed_at)
        transaction.require_held()
        flag_in_flight(transaction.table, [name])


def _commit(run: Run, base: BuiltBase) -> MetadataCommit:
    extra = {
        PLAN: run.plan.requested_at,
        ATTEMPT: str(run.attempt.number),
        UPTO: base.index.upto,
        COVERS: ",".join(base.held.covers),
        READ_AT: base.held.read_at,
    }
    return MetadataCommit(run.attempt.base_instant, INITIAL, base.files, extra)


def _definition(base: BuiltBase) -> IndexDefinition:
    options = {IS_PARTITIONED: base.index.options.get(IS_PARTITIONED, "false")}
    return IndexDefinition(base.index.name, IndexKind.RECORD_INDEX, IndexKind.RECORD_INDEX.value, options=options)


def _require_unchanged(transaction: Transaction, base: BuiltBase) -> None:
    """Others may have upgraded the table or built the same index while we did."""
    config, name = transaction.table.config, base.index.name
    where = transaction.table.storage.location
    if config.version != base.table_version:
        raise Contradiction(
            f"{where}: table version {config.version}, and {base.table_version} when the base of {name} was made: a "
            "writer has changed it meanwhile. What was made is undone; run the same request again."
        )
    if name in (*config.readable_indexes, *config.inflight_indexes):
        raise Contradiction(
            f"{where}: the index {name} was built by another writer while we did: hoodie.properties lists it. What we "
            "made is undone. If that writer was not meant to, set hoodie.metadata.index.async=true for it."
        )


def _require_only_ours(transaction: Transaction, run: Run, base: BuiltBase) -> None:
    """Everything that lies in the folder becomes part of the index as soon as it is flagged.

    What an earlier attempt wrote after it was declared dead carries its own instant, and is removed.
    """
    name, storage = base.index.name, transaction.metadata.table.storage
    ours = {file.path for file in base.files}
    found = [file for file in storage.list(name) if file.path not in ours]
    earlier = {*all_reserved(run.site.storage)} - {run.attempt.base_instant}
    for file in found:
        if instant_of(file) in earlier:
            storage.delete(file.path)
        elif not file.name.startswith(PARTITION_METAFILE):
            raise Contradiction(
                f"{storage.location}/{file.path}: a file in the folder of {name} that no attempt at it wrote: "
                "another writer builds the index, too. What we made is undone; run the same request again."
            )
