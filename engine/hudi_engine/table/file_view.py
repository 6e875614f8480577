"""Which files of a partition make up its rows: groups, slices, and what a reader at one instant may see.

Pure: from a listing and a timeline to values. The rules are those of Hudi's own file-system view (`hudi-format` 5.5).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from hudi_engine.errors import Unsupported
from hudi_engine.format.names import (
    PARTITION_METAFILE,
    BaseFileName,
    LogFileName,
    parse_base_file,
    parse_log_file,
    refuse_if_native_log,
)
from hudi_engine.storage.protocol import FileStat


@dataclass(frozen=True, slots=True)
class BaseFile:
    name: BaseFileName
    stat: FileStat


@dataclass(frozen=True, slots=True)
class LogFile:
    name: LogFileName
    stat: FileStat


@dataclass(frozen=True, slots=True)
class FileSlice:
    """One version of a file group: a base file, log files in merge order, or both."""

    partition: str
    file_id: str
    base_instant: str
    base_file: BaseFile | None = None
    log_files: tuple[LogFile, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self.base_file is None and not self.log_files

    @property
    def size_bytes(self) -> int:
        base = 0 if self.base_file is None else self.base_file.stat.size_bytes
        return base + sum(log.stat.size_bytes for log in self.log_files)


@dataclass(frozen=True, slots=True)
class FileGroup:
    """All slices of one file id, newest first, uncommitted ones included: `FileView` says which may be seen."""

    partition: str
    file_id: str
    slices: tuple[FileSlice, ...]


@dataclass(frozen=True, slots=True)
class Completions:
    """When each instant completed. Below `border` everything did, though its time may be in the history only."""

    border: str
    completed_at: Mapping[str, str]

    def is_completed(self, instant: str) -> bool:
        return instant in self.completed_at or instant < self.border

    def time_of(self, instant: str) -> str | None:
        """The completion time; the requested time where an archived instant's is not known; None while pending."""
        known = self.completed_at.get(instant)
        return instant if known is None and instant < self.border else known


@dataclass(frozen=True, slots=True)
class FileView:
    """What the timeline says about files: completed, under compaction, replaced."""

    layout: int
    completions: Completions
    visible_instants: frozenset[str]
    compactions: Mapping[tuple[str, str], str]
    replaced_at: Mapping[tuple[str, str], str]

    def groups(self, partition: str, listing: Iterable[FileStat]) -> tuple[FileGroup, ...]:
        """The file groups of a partition from the listing of its folder, by file id."""
        bases: dict[str, list[BaseFile]] = {}
        logs: dict[str, list[LogFile]] = {}
        for file in _data_files(listing):
            match file:
                case BaseFile():
                    bases.setdefault(file.name.file_id, []).append(file)
                case LogFile():
                    logs.setdefault(file.name.file_id, []).append(file)
        return tuple(
            self._group(partition, file_id, bases.get(file_id, []), logs.get(file_id, []))
            for file_id in sorted(bases.keys() | logs.keys())
        )

    def slice_at(self, group: FileGroup, instant: str) -> FileSlice | None:
        """The slice that a snapshot at `instant` reads; None if it reads nothing of this group.

        While a compaction is pending its slice has logs only, so the slice before it is merged in.
        """
        replaced = self.replaced_at.get((group.partition, group.file_id))
        if replaced is not None and replaced <= instant:
            return None
        committed = [s for s in group.slices if self._is_committed(s) and s.base_instant <= instant]
        if not committed:
            return None
        latest = self._without_pending_logs(committed[0])
        if latest.base_instant == self.compactions.get((group.partition, group.file_id)):
            nothing = FileSlice(group.partition, group.file_id, latest.base_instant)
            before = committed[1] if len(committed) > 1 else nothing
            logs = sorted(before.log_files + latest.log_files, key=lambda log: log.name.merge_order)
            latest = self._without_pending_logs(replace(before, log_files=tuple(logs)))
        return None if latest.is_empty else latest

    def _group(self, partition: str, file_id: str, bases: list[BaseFile], logs: list[LogFile]) -> FileGroup:
        slices = {
            base.name.instant: FileSlice(partition, file_id, base.name.instant, base)
            for base in sorted(bases, key=lambda base: base.name.write_token)
        }
        if compaction := self.compactions.get((partition, file_id)):
            slices.setdefault(compaction, FileSlice(partition, file_id, compaction))
        for log in sorted(logs, key=lambda log: log.name.merge_order):
            instant = self._slice_of(log, slices)
            known = slices.get(instant, FileSlice(partition, file_id, instant))
            slices[instant] = replace(known, log_files=(*known.log_files, log))
        return FileGroup(partition, file_id, tuple(slices[key] for key in sorted(slices, reverse=True)))

    def _slice_of(self, log: LogFile, slices: Mapping[str, FileSlice]) -> str:
        if self.layout == 1 or not slices:
            return log.name.instant
        newest = max(slices)
        completed = self.completions.time_of(log.name.instant)
        if completed is None:
            return newest
        if len(completed) != len(newest):  # a version 6 leftover beside 17-digit instants: times do not compare
            completed = log.name.instant
        # A base file that nobody may see yet takes no log along: a compaction begun after the timeline was read.
        seen = (base for base, found in slices.items() if base <= completed and self._is_committed(found))
        return max(seen, default=log.name.instant)

    def _is_committed(self, file_slice: FileSlice) -> bool:
        return file_slice.base_instant in self.visible_instants or file_slice.base_instant < self.completions.border

    def _without_pending_logs(self, file_slice: FileSlice) -> FileSlice:
        """In layout 1 a log file is shared by commits and its blocks tell; in layout 2 it belongs to one commit."""
        if self.layout == 1:
            return file_slice
        logs = tuple(log for log in file_slice.log_files if self.completions.is_completed(log.name.instant))
        return replace(file_slice, log_files=logs)


def _data_files(listing: Iterable[FileStat]) -> Iterator[BaseFile | LogFile]:
    for stat in listing:
        if stat.is_folder or stat.name.startswith(PARTITION_METAFILE):
            continue
        refuse_if_native_log(stat.name)
        if base := parse_base_file(stat.name):
            yield BaseFile(base, stat)
        elif log := parse_log_file(stat.name):
            if log.extension == "log" and not log.is_cdc:
                yield LogFile(log, stat)
        elif stat.name.startswith(".record-index-") and ".log." in stat.name:
            raise Unsupported(
                f"{stat.path}: a log of the record index under a name that no Hudi reads, because a data partition's "
                "name has a dot: its entries are lost to Hudi, too. Use a global record index for this table."
            )
        elif stat.name.endswith((".parquet", ".hfile", ".orc")) and not stat.name.startswith("."):
            raise Unsupported(
                f"{stat.path}: a data file whose name is not Hudi's (<file id>_<write token>_<instant>). "
                "Externally registered files are not supported; move the file away if it does not belong here."
            )
