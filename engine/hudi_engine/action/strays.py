"""Files of an index that nothing refers to, and nothing ever will: what earlier attempts left.

Told from what others need by proof, under the lock. While an index is in no list of the properties, whatever lies in
its folder is nobody's: Hudi's own writers take it so. Once it is in flight by this plan, only files are whose instant
is on no timeline, active or archived: whoever writes a file there puts its instant on one before.
"""

from hudi_engine.action.plans import IndexPlan
from hudi_engine.action.site import Site, Transaction
from hudi_engine.format.names import PARTITION_METAFILE, parse_base_file, parse_log_file
from hudi_engine.storage.protocol import FileStat


def strays_of(transaction: Transaction, plan: IndexPlan) -> tuple[str, ...]:
    """Paths, relative to the metadata table, of what may be deleted once the lock is let go."""
    return tuple(path for index in plan.indexes for path in _strays(transaction, index.name))


def _strays(transaction: Transaction, name: str) -> list[str]:
    config = transaction.table.config
    files = transaction.metadata.table.storage.list(name)  # before the timelines: what is begun after is not in it
    if name in config.readable_indexes:
        return []
    if name not in config.inflight_indexes:
        return [file.path for file in files if not file.name.startswith(PARTITION_METAFILE)]
    known = known_instants(transaction.site)
    return [file.path for file in files if (instant := instant_of(file)) and instant not in known]


def known_instants(site: Site) -> frozenset[str]:
    """Every instant of both timelines, active or archived."""
    metadata = site.metadata()
    timelines = (metadata.data_timeline.instants, metadata.timeline.instants)
    histories = (metadata.data.history(), metadata.table.history())
    return frozenset(instant.requested_at for part in (*timelines, *histories) for instant in part)


def instant_of(file: FileStat) -> str | None:
    """The instant that a file of an index has in its name."""
    named = parse_base_file(file.name) or parse_log_file(file.name)
    return None if named is None else named.instant
