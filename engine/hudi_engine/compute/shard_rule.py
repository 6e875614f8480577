"""How many shards an index gets: Hudi's own rule, by Hudi's own properties."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from hudi_engine.concurrency.settings import whole_number
from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.index.kinds import MOST_SHARDS

_SET: Final = "set it right or leave it out"
_RECORD_BYTES: Final = 48
_SIZE_KEY: Final = "hoodie.metadata.record.index.max.filegroup.size"
_GROWTH_KEY: Final = "hoodie.metadata.record.index.growth.factor"
_GLOBAL: Final = ("hoodie.metadata.global.record.level.index", "hoodie.metadata.record.index")
_PARTITIONED: Final = ("hoodie.metadata.record.level.index", "hoodie.metadata.partitioned.record.index")


@dataclass(frozen=True, slots=True)
class ShardRule:
    """How many shards at least and at most, how much one may hold, and how far the table is expected to grow."""

    fewest: int
    most: int
    growth: float
    shard_bytes: int

    @classmethod
    def of(cls, conf: Mapping[str, str], *, is_partitioned: bool) -> "ShardRule":
        """The rule for a table, or for each of its partitions. Hudi 0.14 had other names for some properties."""
        names = _PARTITIONED if is_partitioned else _GLOBAL
        fewest, most = (1, 10) if is_partitioned else (10, MOST_SHARDS)
        rule = cls(
            fewest=_whole(conf, [f"{name}.min.filegroup.count" for name in names], fewest),
            most=_whole(conf, [f"{name}.max.filegroup.count" for name in names], most),
            growth=_number(conf, _GROWTH_KEY, 2.0),
            shard_bytes=_whole(conf, [_SIZE_KEY], 1 << 30),
        )
        if not rule.fewest <= rule.most <= MOST_SHARDS:
            raise Contradiction(
                f"{names[0]}.min.filegroup.count is {rule.fewest} and {names[0]}.max.filegroup.count {rule.most}: "
                f"expected the first to be no more than the second, and both no more than {MOST_SHARDS}; {_SET}"
            )
        return rule

    def shards(self, keys: int) -> int:
        """How many shards so many keys get."""
        # In single precision, as Java reckons.
        expected = math.ceil(float(np.float32(keys) * np.float32(self.growth)))
        fitting = expected // max(1, self.shard_bytes // _RECORD_BYTES)
        return max(1, min(max(fitting, self.fewest), self.most))


def shard_count(conf: Mapping[str, str], name: str, usual: int) -> int:
    """How many shards an index gets that has as many as a property says, whatever it holds."""
    count = max(1, whole_number(conf, name, usual))
    if count > MOST_SHARDS:
        raise Contradiction(f"{name}={count}: expected no more than {MOST_SHARDS}; {_SET}")
    return count


def _whole(conf: Mapping[str, str], names: list[str], default: int) -> int:
    for name in names:
        if (text := conf.get(name, "").strip()) != "":
            if not (text.isascii() and text.isdecimal()):
                raise Unsupported(f"{name}={text!r}: expected a whole number of at least 0; {_SET}")
            return int(text)
    return default


def _number(conf: Mapping[str, str], name: str, default: float) -> float:
    text = conf.get(name, "").strip()
    try:
        number = float(text) if text else default
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise Unsupported(f"{name}={text!r}: expected a number above 0; {_SET}")
    return number
