"""The bloom filter that a Parquet base file carries in its footer (section 6.3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hudi_engine.format.bloom import SIMPLE

_KEYS: Final = (b"org.apache.hudi.bloomfilter", b"com.uber.hoodie.bloomfilter")
_TYPE_KEY: Final = b"hoodie_bloom_filter_type_code"


@dataclass(frozen=True, slots=True)
class StoredFilter:
    """A filter as text, which is how files and index hold it, and the code of its type."""

    text: bytes
    type_code: str


def filter_in_footer(about: Mapping[bytes, bytes]) -> StoredFilter | None:
    """The filter among a footer's key-values; None if there is none. Only of dynamic filters the type is told."""
    text = next((about[name] for name in _KEYS if name in about), None)
    return None if text is None else StoredFilter(text, about.get(_TYPE_KEY, SIMPLE.encode()).decode(errors="replace"))
