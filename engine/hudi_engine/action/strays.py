"""Files of an index that nothing refers to, and nothing ever will: what earlier attempts left.

Told from what others need by proof. While an index is in no list of the properties, whatever lies in its folder is
nobody's: Hudi's own writers take it so. Once it is in flight by this plan, only files are whose instant is on no
timeline, active or archived: whoever writes a file there puts its instant on one before, and an attempt's own instant
is never given to another. Of an index that is complete, perhaps a writer's, only such files of this plan are. All that
is looked up before the lock is taken; under it only whether the index is still in the same list, and the plan ours.
"""

from enum import StrEnum
from functools import partial

from hudi_engine.action.attempts import require_newest, reserved_by
from hudi_engine.action.deletion import delete_while
from hudi_engine.action.execute import Run
from hudi_engine.action.site import Site, Transaction
from hudi_engine.format.names import PARTITION_METAFILE, parse_base_file, parse_log_file
from hudi_engine.index.metadata_table import FOLDER
from hudi_engine.storage.in_folder import InFolder
from hudi_engine.storage.protocol import FileStat
from hudi_engine.table.config import TableConfig


class _Listed(StrEnum):
    COMPLETE = "complete"
    IN_FLIGHT = "in flight"
    NOWHERE = "nowhere"


def delete_strays(run: Run) -> None:
    """Delete them, before this attempt writes anything. `Superseded` if another has the plan by then."""
    for index in run.plan.indexes:
        listed = _listed(run.site.table().config, index.name)
        strays = _strays(run, index.name, listed)
        if strays:
            run.site.watch.begin("delete", len(strays))
        delete_while(run.site, InFolder(run.site.storage, FOLDER), strays, partial(_is_still, run, index.name, listed))


def _listed(config: TableConfig, name: str) -> _Listed:
    if name in config.readable_indexes:
        return _Listed.COMPLETE
    return _Listed.IN_FLIGHT if name in config.inflight_indexes else _Listed.NOWHERE


def _strays(run: Run, name: str, listed: _Listed) -> list[str]:
    site = run.site
    files = InFolder(site.storage, FOLDER).list(name)  # before the timelines: what is begun after is not in it
    match listed:
        case _Listed.COMPLETE:
            own = reserved_by(site.storage, run.plan.requested_at)
            ours = [file for file in files if instant_of(file) in own]
            known = known_instants(site) if ours else frozenset()
            return [file.path for file in ours if instant_of(file) not in known]
        case _Listed.NOWHERE:
            return [file.path for file in files if not file.name.startswith(PARTITION_METAFILE)]
        case _Listed.IN_FLIGHT:
            known = known_instants(site)
            return [file.path for file in files if (instant := instant_of(file)) and instant not in known]


def _is_still(run: Run, name: str, listed: _Listed) -> bool:
    transaction = Transaction(run.site, run.site.metadata())
    require_newest(transaction, run.attempt)
    return _listed(transaction.table.config, name) is listed


def known_instants(site: Site) -> frozenset[str]:
    """Every instant of both timelines, active or archived: of what is archived meanwhile none is missing."""
    metadata = site.metadata()
    timelines = (metadata.data_timeline.instants, metadata.timeline.instants)
    histories = (metadata.data.history(), metadata.table.history())
    return frozenset(instant.requested_at for part in (*timelines, *histories) for instant in part)


def instant_of(file: FileStat) -> str | None:
    """The instant that a file of an index has in its name."""
    named = parse_base_file(file.name) or parse_log_file(file.name)
    return None if named is None else named.instant
