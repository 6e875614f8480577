"""Which files of a table an index must know of, which it may know of, and which are about to go."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hudi_engine.errors import CorruptFile, NotFound
from hudi_engine.format import service_records
from hudi_engine.format.instant_names import Action, Instant, State
from hudi_engine.format.log.block import BlockType, LogBlock
from hudi_engine.format.log.reader import read_blocks
from hudi_engine.format.names import BaseFileName, LogFileName, parse_base_file, parse_log_file
from hudi_engine.format.service_records import RecordName
from hudi_engine.storage.protocol import FileStat, Storage, is_remote
from hudi_engine.table.table import Table
from hudi_engine.validate.subject import Subject, unless_files_vanish

_PLANS = {Action.CLEAN: RecordName.CLEANER_PLAN, Action.ROLLBACK: RecordName.ROLLBACK_PLAN}


@dataclass(frozen=True, slots=True)
class DataFile:
    """A base file, log file or change-data file as it lies in its partition."""

    partition: str
    name: BaseFileName | LogFileName
    stat: FileStat

    @property
    def is_base(self) -> bool:
        return isinstance(self.name, BaseFileName)

    @property
    def is_change_data(self) -> bool:
        return isinstance(self.name, LogFileName) and self.name.is_cdc


class DataFiles:
    """The data files of a subject, partition by partition, and what the timeline says of each.

    Of a sample there are the files of its file groups only.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._sampled = {(s.partition, s.file_id) for s in subject.slices} if subject.is_sample else None

    @property
    def listings(self) -> Mapping[str, tuple[FileStat, ...]]:
        return self._subject.listings

    def of(self, partition: str) -> Iterator[DataFile]:
        """All of them, committed or not; a partition that is not there has none."""
        for stat in self.listings.get(partition, ()):
            name = None if stat.is_folder else parse_base_file(stat.name) or parse_log_file(stat.name)
            if name is not None and self.is_looked_at(partition, name.file_id):
                yield DataFile(partition, name, stat)

    def committed(self, partition: str) -> Iterator[DataFile]:
        """Those that an index must know of."""
        return filter(self.is_committed, self.of(partition))

    def is_looked_at(self, partition: str, file_id: str) -> bool:
        return self._sampled is None or (partition, file_id) in self._sampled

    def is_committed(self, file: DataFile) -> bool:
        """Whether a completed commit wrote the file or, in layout 1, some of its blocks: several share a log there."""
        if not self.is_shared_log(file):
            return self._is_completed(file.name.instant)
        return any(map(self.is_committed_block, blocks_of(self._subject.table.storage, file.stat)))

    def is_shared_log(self, file: DataFile) -> bool:
        return not file.is_base and self._subject.table.config.layout == 1

    def is_committed_block(self, block: LogBlock) -> bool:
        return block.type is not BlockType.CORRUPT and self._is_completed(block.instant)

    def is_of_failed_commits(self, file: DataFile) -> bool:
        """Whether a shared log has blocks of commits from before the timeline alone that failed, as the archive tells.

        What undoes such blocks stands in another log, and the archiver takes the rollback off the timeline. The log
        itself stays, and `files` lists it.
        """
        if not self.is_shared_log(file):
            return False
        known = self._subject.snapshot.view.completions.completed_at
        blocks = blocks_of(self._subject.table.storage, file.stat)
        instants = {block.instant for block in blocks if block.type is not BlockType.CORRUPT}
        old = instants - known.keys()
        return bool(old) and old == instants and all(map(self._has_failed, old))

    def _has_failed(self, instant: str) -> bool:
        return bool(self._archived) and min(self._archived) < instant and instant not in self._archived

    @cached_property
    def _archived(self) -> frozenset[str]:
        with unless_files_vanish():
            return frozenset(each.requested_at for each in self._subject.table.history() if each.is_completed)

    @cached_property
    def doomed(self) -> frozenset[tuple[str, str]]:
        """Partition and name of files that a clean or rollback, not complete for this subject, deletes; "" for all.

        It does so before it says so in the metadata table: such a file may be gone, and listed still.
        """
        with unless_files_vanish():
            now = self._subject.table.timeline()
        known = {instant.identity for instant in self._subject.snapshot.timeline.completed()}
        return frozenset(
            found
            for instant in now.of(*_PLANS)
            if instant.identity not in known
            for found in _planned(self._subject.table, instant)
        )

    def _is_completed(self, instant: str) -> bool:
        return self._subject.snapshot.view.completions.is_completed(instant)


def blocks_of(storage: Storage, log: FileStat) -> list[LogBlock]:
    """The blocks of a log file; what a writer that died left half done is of type CORRUPT."""
    try:
        with unless_files_vanish():
            data = storage.read(log.path)
        # Object stores never show half a file.
        return list(read_blocks(data, is_store_atomic=is_remote(storage)))
    except CorruptFile as corrupt:
        raise corrupt.in_file(log.path) from corrupt


def _planned(table: Table, instant: Instant) -> Iterator[tuple[str, str]]:
    path = table.path_of(instant.in_state(State.REQUESTED))
    try:
        data = table.storage.read(path)
        if not data:
            return  # its writer died before it had a plan, so it deletes nothing
        plan: Any = service_records.decode(_PLANS[instant.action], data)
    except NotFound:
        return  # taken back since it was listed
    except CorruptFile as corrupt:
        raise corrupt.in_file(path) from corrupt
    if instant.action is Action.CLEAN:
        yield from _cleaned(plan)
    else:
        for request in plan["RollbackRequests"] or ():
            yield from _named(request["partitionPath"] or "", request["filesToBeDeleted"] or ())


def _cleaned(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for partition in plan["partitionsToBeDeleted"] or ():
        yield partition, ""
    for partition, names in (plan["filesToBeDeletedPerPartition"] or {}).items():
        yield from _named(partition, names or ())
    for partition, files in (plan["filePathsToBeDeletedPerPartition"] or {}).items():
        yield from _named(partition, [file["filePath"] or "" for file in files or ()])


def _named(partition: str, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        yield partition, path.rpartition("/")[2]
