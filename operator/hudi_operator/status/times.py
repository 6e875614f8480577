"""Times as the API writes them: UTC, whole seconds."""

from datetime import UTC, datetime

_FORM = "%Y-%m-%dT%H:%M:%SZ"


def shown(at: datetime) -> str:
    return at.astimezone(UTC).strftime(_FORM)


def shown_ms(at_ms: int) -> str | None:
    """None for what no calendar has: it comes from a table that anybody may have written."""
    try:
        return shown(datetime.fromtimestamp(at_ms / 1000, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def parsed(text: object) -> datetime | None:
    """None if it is no time; statuses may be another release's, or edited by hand."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
