"""What a log block is: its types, its header keys, and since which table version a key may be written."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from hudi_engine.errors import CorruptFile

MAGIC: Final = b"#HUDI#"
LOG_VERSION: Final = 1
CONTENT_VERSION: Final = 3
"""The version that leads the content of Avro and delete blocks."""


class BlockType(IntEnum):
    """By ordinal, as on disk."""

    COMMAND = 0
    DELETE = 1
    CORRUPT = 2
    AVRO_DATA = 3
    HFILE_DATA = 4
    PARQUET_DATA = 5
    CDC_DATA = 6


class HeaderKey(IntEnum):
    """By ordinal, as on disk. A reader that meets a number it does not know fails, Java's up to 1.2 too."""

    INSTANT_TIME = 0
    TARGET_INSTANT_TIME = 1
    SCHEMA = 2
    COMMAND_BLOCK_TYPE = 3
    COMPACTED_BLOCK_TIMES = 4
    RECORD_POSITIONS = 5
    BLOCK_IDENTIFIER = 6
    IS_PARTIAL = 7
    BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS = 8


Header = Mapping[HeaderKey, str]
ROLLBACK: Final = "0"
"""The only command there is, as the header COMMAND_BLOCK_TYPE has it."""
DATA_TYPES: Final = frozenset({BlockType.AVRO_DATA, BlockType.HFILE_DATA, BlockType.PARQUET_DATA})


@dataclass(frozen=True, slots=True)
class LogBlock:
    """One block. `offset` is that of its magic in the file; `content` is a view of the file's bytes, not a copy."""

    type: BlockType
    header: Header
    content: memoryview
    offset: int

    def require(self, key: HeaderKey) -> str:
        """The header's value; a block without it is corrupt."""
        if key not in self.header:
            raise CorruptFile(f"a {self.type.name} block without the header {key.name}", self.offset)
        return self.header[key]

    @property
    def instant(self) -> str:
        """The requested time of the commit that wrote the block."""
        return self.require(HeaderKey.INSTANT_TIME)

    @property
    def is_partial(self) -> bool:
        """Whether its records carry only the columns that changed."""
        return self.header.get(HeaderKey.IS_PARTIAL, "").lower() == "true"
