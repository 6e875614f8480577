"""What `hoodie.properties` says, parsed once: every value that changes meaning is known or refused here."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeVar

from hudi_engine.errors import Unsupported

READABLE_VERSIONS = {6: 1, 8: 2, 9: 2}  # table version -> timeline layout
ATTEMPTS: Final = ".hoodie/.index_attempts"
PLANS: Final = f"{ATTEMPTS}/plans"


class TableType(StrEnum):
    COPY_ON_WRITE = "COPY_ON_WRITE"
    MERGE_ON_READ = "MERGE_ON_READ"


class TimelineZone(StrEnum):
    LOCAL = "LOCAL"
    UTC = "UTC"


class BaseFormat(StrEnum):
    PARQUET = "PARQUET"
    HFILE = "HFILE"


@dataclass(frozen=True, slots=True)
class TableConfig:
    """One table's own properties. `properties` keeps all of them, known or not, as found."""

    name: str
    database: str
    table_type: TableType
    version: int
    layout: int
    timeline_folder: str
    history_folder: str
    timeline_zone: TimelineZone
    base_format: BaseFormat
    record_key_fields: tuple[str, ...]
    partition_fields: tuple[str, ...]
    ordering_fields: tuple[str, ...]
    readable_indexes: tuple[str, ...]
    inflight_indexes: tuple[str, ...]
    has_meta_columns: bool
    properties: Mapping[str, str]

    @property
    def is_merge_on_read(self) -> bool:
        return self.table_type is TableType.MERGE_ON_READ

    @property
    def plan_folder(self) -> str:
        """Where plans of this engine lie until they are over: in layout 2 not where Hudi sees them.

        Its archiver passes an `indexing` instant by, pending or completed. Once that is the oldest that is left, Hudi
        1.1 and later take each archived commit after it for a pending one: compactions leave the logs of those out,
        and rows are lost.
        """
        return self.timeline_folder if self.layout == 1 else PLANS


def parse_config(properties: Mapping[str, str]) -> TableConfig:
    """The table that these properties describe; `Unsupported` names the first property that cannot be honoured."""
    version = _version(properties)
    layout = _layout(properties, version)
    _refuse_foreign(properties)
    timeline_folder, history_folder = _folders(properties, layout)
    return TableConfig(
        name=_required(properties, "hoodie.table.name"),
        database=properties.get("hoodie.database.name", ""),
        table_type=_one_of(TableType, properties, "hoodie.table.type", TableType.COPY_ON_WRITE),
        version=version,
        layout=layout,
        timeline_folder=timeline_folder,
        history_folder=history_folder,
        timeline_zone=_one_of(TimelineZone, properties, "hoodie.table.timeline.timezone", TimelineZone.LOCAL),
        base_format=_one_of(BaseFormat, properties, "hoodie.table.base.file.format", BaseFormat.PARQUET),
        record_key_fields=_names(properties.get("hoodie.table.recordkey.fields")),
        partition_fields=tuple(
            field.partition(":")[0] for field in _names(properties.get("hoodie.table.partition.fields"))
        ),
        ordering_fields=_names(
            properties.get("hoodie.table.ordering.fields") or properties.get("hoodie.table.precombine.field")
        ),
        readable_indexes=_names(properties.get("hoodie.table.metadata.partitions")),
        inflight_indexes=_names(properties.get("hoodie.table.metadata.partitions.inflight")),
        has_meta_columns=is_true(properties, "hoodie.populate.meta.fields", default=True),
        properties=properties,
    )


def is_true(properties: Mapping[str, str], key: str, *, default: bool = False) -> bool:
    """A boolean property; anything but true and false is refused rather than taken for false as Java would."""
    text = properties.get(key, str(default)).strip().lower()
    if text not in {"true", "false"}:
        raise _unsupported(key, properties[key], "true or false")
    return text == "true"


def _version(properties: Mapping[str, str]) -> int:
    text = properties.get("hoodie.table.version", "")
    expected = f"one of {', '.join(map(str, READABLE_VERSIONS))}"
    if not text:
        raise Unsupported(
            f"hoodie.table.version is missing from hoodie.properties, expected {expected}. "
            "Any Hudi writer of 0.14 or newer sets it at its next commit; run one first."
        )
    if text not in map(str, READABLE_VERSIONS):
        raise Unsupported(
            f"hoodie.table.version={text}, expected {expected} (6: Hudi 0.14 and 0.15, 8: 1.0, 9: 1.1 and 1.2). "
            "An older table is upgraded by its next Hudi writer; a newer one needs a newer engine."
        )
    return int(text)


def _layout(properties: Mapping[str, str], version: int) -> int:
    expected = READABLE_VERSIONS[version]
    text = properties.get("hoodie.timeline.layout.version", str(expected))
    if text != str(expected):
        raise _unsupported("hoodie.timeline.layout.version", text, f"{expected} for table version {version}")
    return expected


def _folders(properties: Mapping[str, str], layout: int) -> tuple[str, str]:
    if layout == 1:
        archive = properties.get("hoodie.archivelog.folder", "archived")
        return ".hoodie", f".hoodie/{archive}" if archive else ".hoodie"
    timeline = f".hoodie/{properties.get('hoodie.timeline.path', 'timeline')}"
    return timeline, f"{timeline}/{properties.get('hoodie.timeline.history.path', 'history')}"


def _refuse_foreign(properties: Mapping[str, str]) -> None:
    for key, expected in {
        "hoodie.table.format": "native",
        "hoodie.table.log.file.format": "HOODIE_LOG",
    }.items():
        if properties.get(key, expected).upper() != expected.upper():
            raise _unsupported(key, properties[key], expected)
    if properties.get("hoodie.bootstrap.base.path"):
        raise _unsupported(
            "hoodie.bootstrap.base.path", properties["hoodie.bootstrap.base.path"], "no bootstrapped table"
        )
    if is_true(properties, "hoodie.table.multiple.base.file.formats.enable"):
        raise _unsupported("hoodie.table.multiple.base.file.formats.enable", "true", "false")


def _required(properties: Mapping[str, str], key: str) -> str:
    value = properties.get(key, "")
    if not value:
        raise _unsupported(key, value, "a value")
    return value


_Choice = TypeVar("_Choice", bound=StrEnum)


def _one_of(kind: type[_Choice], properties: Mapping[str, str], key: str, default: _Choice) -> _Choice:
    text = properties.get(key, default.value)
    try:
        return kind(text.upper())
    except ValueError:
        raise _unsupported(key, text, " or ".join(kind)) from None


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _unsupported(key: str, found: str, expected: str) -> Unsupported:
    return Unsupported(
        f"hoodie.properties: {key}={found!r}, expected {expected}. "
        "This engine does not go on where it would have to guess; nothing was changed."
    )
