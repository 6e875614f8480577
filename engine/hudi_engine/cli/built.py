"""The report of a build that has come to its end: what it made, and what was complete before."""

from functools import partial

from hudi_engine.action.coverage import duplicates_of, find_base
from hudi_engine.action.index import End, Ready, Redo
from hudi_engine.action.schedule import Skipped
from hudi_engine.action.site import Site, look_again
from hudi_engine.cli.planning import unchanged
from hudi_engine.contract import JobReport, KindReport, Outcome
from hudi_engine.errors import Superseded
from hudi_engine.format.instant_names import Action
from hudi_engine.table.contents import CommitMetadata
from hudi_engine.table.health import index_health


def built_report(site: Site, built: Ready | Skipped | Redo, asked: tuple[str, ...] = ()) -> JobReport:
    """The report of a build. An index that was asked for and that no plan had to make was complete before."""
    match built:
        case Skipped():
            return unchanged(built.reasons)
        case Redo():
            why = f"{built.why}; what was built is undone: `index build` makes it anew"
            return JobReport(Outcome.UNDONE, Superseded.exit_code, reason=why)
    made = {end.index: look_again(partial(_kind_report, site, end)) for end in built.ends}
    there = (KindReport(name, Outcome.UNCHANGED) for name in asked if name not in made)
    return JobReport(Outcome.READY, instant=built.plan, kinds=(*made.values(), *there))


def _kind_report(site: Site, end: End) -> KindReport:
    """Writers go on, and archive: what this look finds may be gone before it is read."""
    size = next(index for index in index_health(site.table()) if index.name == end.index)
    commit = _commit_of_base(site, end.plan, end.index)
    keys = sum(stat.rows for stat in commit.stats if stat.partition == end.index)
    duplicates = duplicates_of(commit).get(end.index, 0)
    where = (end.index, Outcome.READY, end.upto, end.caught_up_to)
    return KindReport(*where, keys, size.shards, size.size_bytes, duplicates)


def _commit_of_base(site: Site, plan: str, name: str) -> CommitMetadata:
    """The commit of the base, which has the number of entries; it may be archived by now."""
    metadata = site.metadata()
    base = find_base(metadata, plan, name)
    if base is None:
        return CommitMetadata("")
    instant = metadata.timeline.find(base.instant)
    if instant is not None:
        return metadata.table.commit(instant)
    return metadata.table.archived_commit(base.instant, Action.DELTA_COMMIT) or CommitMetadata("")
