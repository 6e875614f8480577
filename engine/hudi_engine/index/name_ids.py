"""Names as the fixed-length ids that keys of the metadata table are made of (section 3.4)."""

import base64
import hashlib
from functools import lru_cache
from typing import Final

from hudi_engine.format.name_hash import name_hash

_MOST_NAMES: Final = 4096

NAME_ID_LENGTH: Final = 12
"""Characters of the id of a column or a partition."""


@lru_cache(_MOST_NAMES)
def column_id(name: str) -> str:
    return base64.b64encode(name_hash(name).to_bytes(8)).decode()


def partition_id(partition: str) -> str:
    """The id of a partition by its path; the one partition of an unpartitioned table has the empty path."""
    return column_id(partition_identifier(partition))


def partition_identifier(partition: str) -> str:
    """How the metadata table calls a partition: by its path, and by a dot where that is empty."""
    return partition or "."


def partition_of_identifier(identifier: str) -> str:
    return "" if identifier == "." else identifier


@lru_cache(_MOST_NAMES)
def file_id(name: str) -> str:
    """The id of a file by its name without folders."""
    return base64.b64encode(hashlib.md5(name.encode(), usedforsecurity=False).digest()).decode()
