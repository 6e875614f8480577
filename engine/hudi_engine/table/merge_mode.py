"""How two versions of one record become one (`hudi-format` 9.6): inferred as Java does, or refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from hudi_engine.errors import Unsupported
from hudi_engine.table.config import BaseFormat, TableConfig, is_true


class MergeMode(StrEnum):
    COMMIT_TIME = "COMMIT_TIME_ORDERING"
    EVENT_TIME = "EVENT_TIME_ORDERING"


@dataclass(frozen=True, slots=True)
class MergeRule:
    """Where ordering values decide. `ordering` is empty where only the order of commits does."""

    ordering: tuple[str, ...]
    is_base_ordered: bool
    """Whether a base row stands against a logged one of a lesser value."""
    are_deletes_ordered: bool
    """Whether a deletion with an ordering value, once taken, still holds off later rows and the base row by it."""


_STRATEGY_MODE = {
    "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5": MergeMode.EVENT_TIME,
    "ce9acb64-bde0-424c-9b91-f6ebba25356d": MergeMode.COMMIT_TIME,
}
_PAYLOAD_BASED = "00000000-0000-0000-0000-000000000000"
_PAYLOAD_MODE = {
    "DefaultHoodieRecordPayload": MergeMode.EVENT_TIME,
    "EventTimeAvroPayload": MergeMode.EVENT_TIME,
    "OverwriteWithLatestAvroPayload": MergeMode.COMMIT_TIME,
}


def merge_mode(config: TableConfig) -> MergeMode:
    """The built-in merge rule of this table; a custom merger, payload or partial update mode is refused by name.

    Only rows of merge-on-read tables need it: a copy-on-write base file already holds what the writer's payload made.
    """
    properties = config.properties
    _refuse_partial_updates(properties)
    if explicit := properties.get("hoodie.record.merge.mode"):
        return _known(explicit)
    return _mode_of_payload(properties) or _mode_of_strategy(properties) or _default(config)


def merge_rule(config: TableConfig) -> MergeRule:
    """The rule of this table's own release.

    Tables of version 6 are merged by payload: among logged rows `OverwriteWithLatestAvroPayload` compares ordering
    values, too, and only against the base does the log always win; and a deletion that was taken forgets its value.
    """
    mode = merge_mode(config)
    if config.version == 6 and config.ordering_fields:
        return MergeRule(config.ordering_fields, mode is MergeMode.EVENT_TIME, are_deletes_ordered=False)
    if mode is MergeMode.EVENT_TIME:
        return MergeRule(config.ordering_fields, bool(config.ordering_fields), are_deletes_ordered=True)
    return MergeRule((), is_base_ordered=False, are_deletes_ordered=False)


def require_readable_rows(config: TableConfig) -> None:
    """Raise unless rows of this table can be read as Spark reads them."""
    if config.base_format is not BaseFormat.PARQUET:
        raise _refusal("hoodie.table.base.file.format", config.base_format, BaseFormat.PARQUET)
    if not config.has_meta_columns and config.is_merge_on_read:
        raise _refusal("hoodie.populate.meta.fields", "false", "true")
    if is_true(config.properties, "hoodie.datasource.write.drop.partition.columns"):
        raise _refusal("hoodie.datasource.write.drop.partition.columns", "true", "false")
    if config.is_merge_on_read:
        merge_mode(config)


def require_meta_columns(config: TableConfig, location: str, made: str) -> None:
    """Raise unless rows say their record key and place; `made` is what needs that, as "an index is made of them"."""
    if not config.has_meta_columns:
        raise Unsupported(
            f"{location}: hoodie.populate.meta.fields=false, so the data files do not hold their record keys, and "
            f"{made}. Only the key generator of the table's writers knows the keys. Leave this index out; what can be "
            "done with such a copy-on-write table are read, column_stats and partition_stats."
        )


def _mode_of_payload(properties: Mapping[str, str]) -> MergeMode | None:
    payload = properties.get("hoodie.compaction.payload.class", "")
    if not payload:
        return None
    package, _, name = payload.rpartition(".")
    if package != "org.apache.hudi.common.model" or name not in _PAYLOAD_MODE:
        raise _refusal("hoodie.compaction.payload.class", payload, f"one of {', '.join(_PAYLOAD_MODE)}")
    return _PAYLOAD_MODE[name]


def _mode_of_strategy(properties: Mapping[str, str]) -> MergeMode | None:
    key = "hoodie.record.merge.strategy.id"
    strategy = properties.get(key) or properties.get("hoodie.compaction.record.merger.strategy", "")
    if not strategy or strategy == _PAYLOAD_BASED:
        return None
    if strategy not in _STRATEGY_MODE:
        raise _refusal(key, strategy, "a built-in strategy")
    return _STRATEGY_MODE[strategy]


def _default(config: TableConfig) -> MergeMode:
    return MergeMode.EVENT_TIME if config.ordering_fields else MergeMode.COMMIT_TIME


def _known(mode: str) -> MergeMode:
    try:
        return MergeMode(mode.upper())
    except ValueError:
        raise _refusal("hoodie.record.merge.mode", mode, " or ".join(MergeMode)) from None


def _refuse_partial_updates(properties: Mapping[str, str]) -> None:
    key = "hoodie.table.partial.update.mode"
    if mode := properties.get(key):
        raise _refusal(key, mode, "no partial update mode")


def _refusal(key: str, found: str, expected: str) -> Unsupported:
    return Unsupported(
        f"hoodie.properties: {key}={found}, expected {expected}: the rows cannot be merged without running the "
        "writer's own code. Read this table with Spark; its timeline and files can still be inspected here."
    )
