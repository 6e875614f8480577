"""Names of data files, both ways: base files, log files, history files. Names of instants are in `instant_names`."""

import re
from dataclasses import dataclass

from hudi_engine.errors import Unsupported

PARTITION_METAFILE = ".hoodie_partition_metadata"
_BASE = re.compile(r"([a-zA-Z0-9-]+)_([a-zA-Z0-9-]+)_([0-9]+)\.(parquet|orc|hfile)", re.ASCII)
# A shard of a record index that is kept per partition has the partition in its name, most of it as it is.
_SHARD = re.compile(r"(record-index-[^_/]*)_([a-zA-Z0-9-]+)_([0-9]+)\.(hfile)", re.ASCII | re.DOTALL)
_LOG = re.compile(r"\.([^._/]+)_([^./]*)\.(log|archive)\.([0-9]{1,9})(?:_([0-9]+-[0-9]+-[0-9]+)(\.cdc)?)?", re.ASCII)
_NATIVE_LOG = re.compile(r"[a-zA-Z0-9-]+_[0-9-]+_[0-9]+_[0-9]+\.(?:log|deletes|cdc)\.[a-z]+", re.ASCII)
_HISTORY = re.compile(r"([0-9]+)_([0-9]+)_([0-9]{1,9})\.parquet", re.ASCII)


@dataclass(frozen=True, slots=True)
class BaseFileName:
    """`<file id>_<write token>_<instant>.<extension>`: one version of a file group."""

    file_id: str
    write_token: str
    instant: str
    extension: str

    def __str__(self) -> str:
        return f"{self.file_id}_{self.write_token}_{self.instant}.{self.extension}"


@dataclass(frozen=True, slots=True)
class LogFileName:
    """`.<file id>_<instant>.log.<version>[_<write token>][.cdc]`.

    `instant` is the base instant of the slice in timeline layout 1 and that of the writing commit in layout 2.
    """

    file_id: str
    instant: str
    version: int
    write_token: str | None = None
    is_cdc: bool = False
    extension: str = "log"

    def __str__(self) -> str:
        token = "" if self.write_token is None else f"_{self.write_token}"
        suffix = ".cdc" if self.is_cdc else ""
        return f".{self.file_id}_{self.instant}.{self.extension}.{self.version}{token}{suffix}"

    @property
    def merge_order(self) -> tuple[str, int, str, bool]:
        """The order in which Hudi merges the logs of a slice; tokens compare as text, a missing one sorts first."""
        return (self.instant, self.version, self.write_token or "", self.is_cdc)


@dataclass(frozen=True, slots=True)
class HistoryFileName:
    """`<first instant>_<last instant>_<layer>.parquet`, a file of the LSM history of layout 2."""

    first: str
    last: str
    layer: int

    def __str__(self) -> str:
        return f"{self.first}_{self.last}_{self.layer}.parquet"


def parse_base_file(name: str) -> BaseFileName | None:
    """The parts of a base file's name; None for a name that is not one."""
    match = _BASE.fullmatch(name) or _SHARD.fullmatch(name)
    return BaseFileName(*match.groups()) if match else None


def parse_log_file(name: str) -> LogFileName | None:
    """The parts of a log file's name; None for a name that is not one."""
    match = _LOG.fullmatch(name)
    if match is None:
        return None
    file_id, instant, extension, version, write_token, cdc = match.groups()
    return LogFileName(file_id, instant, int(version), write_token, cdc is not None, extension)


def parse_history_file(name: str) -> HistoryFileName | None:
    match = _HISTORY.fullmatch(name)
    return HistoryFileName(match[1], match[2], int(match[3])) if match else None


def refuse_if_native_log(name: str) -> None:
    """Table version 10 keeps logs as plain Parquet or HFiles under names that must not be mistaken for junk."""
    if _NATIVE_LOG.fullmatch(name):
        raise Unsupported(
            f"{name}: a native log file of table version 10; this engine reads versions 6, 8 and 9. "
            "Use a newer engine for this table."
        )
