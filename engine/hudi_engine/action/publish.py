"""RFC-45, run, step 4: the bases of indexes come into effect, its shards, their metadata commit and the flag at once.

From here on every writer that begins logs to shards that are whole and committed, and may compact them. Those that
began before do not know of the index: the catch-up does for them what they leave out.
"""

from hudi_engine.action.attempts import all_reserved, require_newest
from hudi_engine.action.base import BuiltBase
from hudi_engine.action.coverage import ATTEMPT, COVERS, DUPLICATES, INDEXES, PLAN, READ_AT, UPTO
from hudi_engine.action.definitions_file import write_definition
from hudi_engine.action.execute import Run
from hudi_engine.action.flags import flag_in_flight
from hudi_engine.action.keeping import STANDS_ON
from hudi_engine.action.keepings import keeping_of
from hudi_engine.action.metadata_commit import (
    INITIAL,
    MetadataCommit,
    ensure_partition_metafile,
    run_metadata_commit,
)
from hudi_engine.action.site import Transaction
from hudi_engine.action.strays import instant_of
from hudi_engine.errors import Contradiction
from hudi_engine.format.names import PARTITION_METAFILE
from hudi_engine.index.kinds import kind_of


def publish(run: Run, base: BuiltBase) -> None:
    """The bases committed and flagged in flight. Refused if an index is another's by now, or its files are not ours."""
    names = [index.name for index in base.indexes]
    with run.site.transaction() as transaction:
        require_newest(transaction, run.attempt)
        run.liveness.require_alive()
        for name in names:
            _require_unchanged(transaction, base, name)
            _require_only_ours(transaction, run, base, name)
        metadata = transaction.metadata
        transaction.require_held()
        for index in base.indexes:
            ensure_partition_metafile(metadata, index.name, run.attempt.base_instant)
            keeping = keeping_of(index, run.site.conf)
            definition = keeping.definition(metadata)
            if definition is not None and keeping.traits.is_logged_in_flight:
                write_definition(transaction.table, definition)
        completed_at = transaction.next_time()
        transaction.require_held()
        run_metadata_commit(metadata, _commit(run, base), completed_at)
        transaction.require_held()
        flag_in_flight(transaction.table, names)


def _commit(run: Run, base: BuiltBase) -> MetadataCommit:
    extra = {
        PLAN: run.plan.requested_at,
        ATTEMPT: str(run.attempt.number),
        INDEXES: ",".join(index.name for index in base.indexes),
        UPTO: base.upto,
        COVERS: ",".join(base.held.covers),
        READ_AT: base.held.read_at,
    }
    if base.duplicates:
        extra[DUPLICATES] = ",".join(f"{name}={count}" for name, count in base.duplicates.items())
    return MetadataCommit(run.attempt.base_instant, INITIAL, base.files, extra)


def _require_unchanged(transaction: Transaction, base: BuiltBase, name: str) -> None:
    """Others may have upgraded the table or built the same index while we did."""
    config = transaction.table.config
    where = transaction.table.storage.location
    if config.version != base.table_version:
        raise Contradiction(
            f"{where}: table version {config.version}, and {base.table_version} when the base of {name} was made: a "
            "writer has changed it meanwhile. What was made is undone; run the same request again."
        )
    first = STANDS_ON.get(kind_of(name))
    if first is not None and first not in config.readable_indexes:
        raise Contradiction(
            f"{where}: {name} is to be flagged, and {first} is not complete: every commit of Hudi's writers would fail "
            f"until it is. What was made is undone; build {first}, then {name}."
        )
    if name in (*config.readable_indexes, *config.inflight_indexes):
        raise Contradiction(
            f"{where}: the index {name} was built by another writer while we did: hoodie.properties lists it. What we "
            "made is undone. If that writer was not meant to, set hoodie.metadata.index.async=true for it."
        )


def _require_only_ours(transaction: Transaction, run: Run, base: BuiltBase, name: str) -> None:
    """Everything that lies in the folder becomes part of the index as soon as it is flagged.

    What an earlier attempt wrote after it was declared dead carries its own instant, and is removed.
    """
    storage = transaction.metadata.table.storage
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
