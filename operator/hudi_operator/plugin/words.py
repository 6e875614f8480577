"""Numbers and times as people read them."""

from datetime import datetime

_BYTES = ("B", "KiB", "MiB", "GiB", "TiB")
_BAR = 20


def age(since: datetime | None, now: datetime) -> str:
    """How long ago; empty if nobody knows. What lies ahead is `in …`."""
    if since is None:
        return ""
    seconds = (now - since).total_seconds()
    return f"{span(seconds)} ago" if seconds >= 0 else f"in {span(-seconds)}"


def span(seconds: float) -> str:
    whole = int(seconds)
    for size, unit, smaller, part in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size:
            rest = whole % size // smaller
            return f"{whole // size} {unit}" + (f" {rest} {part}" if rest else "")
    return f"{whole} s"


def size(count: float | None) -> str:
    if count is None:
        return "?"
    for unit in _BYTES[:-1]:
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} {_BYTES[-1]}"


def number(count: float | None) -> str:
    return "?" if count is None else f"{count:,.0f}"


def bar(percent: float | None) -> str:
    """Twenty characters of which the done ones are full."""
    if percent is None:
        return ""
    full = round(min(max(percent, 0.0), 100.0) / 100 * _BAR)
    return "█" * full + "░" * (_BAR - full)
