"""How long the table's lock was held, in a few figures."""

from collections.abc import Sequence


def quantiles_of(holds_ms: Sequence[float]) -> dict[str, float]:
    """Of each share the least hold that so many of all do not exceed."""
    ascending = sorted(holds_ms)
    return {
        "count": len(ascending),
        "p50": _quantile(ascending, 50),
        "p99": _quantile(ascending, 99),
        "max": ascending[-1],
    }


def _quantile(ascending: Sequence[float], percent: int) -> float:
    return ascending[-(-percent * len(ascending) // 100) - 1]
