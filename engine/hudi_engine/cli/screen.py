"""What a person or a program gets to see: tables and sentences, or JSON."""

import base64
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

# A name from a table is text, never markup, and never a terminal's control sequence.
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}

# JSON itself escapes those below 32; terminals obey these, too.
_CONTROL_IN_JSON = {code: f"\\u{code:04x}" for code in range(127, 160)}


def out() -> Console:
    """Standard output; a pipe gets whole lines however long."""
    width = None if sys.stdout.isatty() else 10_000
    return Console(width=width, highlight=False, emoji=False)


def err() -> Console:
    return Console(stderr=True, highlight=False, emoji=False)


def print_json(document: object) -> None:
    """One document, on one line, on standard output."""
    sys.stdout.write(json_text(document) + "\n")


def json_text(document: object) -> str:
    """The document on one line."""
    return _JSON.encode(document).translate(_CONTROL_IN_JSON)


def show_grid(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A titled table; a column whose name ends in `>` is one of numbers. A list in a cell is shown line by line."""
    grid = Grid(box=None, pad_edge=False, header_style="bold", show_header=any(columns))
    for column in columns:
        grid.add_column(column.removesuffix(">"), justify="right" if column.endswith(">") else "left", overflow="fold")
    for row in rows:
        grid.add_row(*map(_cell, row))
    out().print(Text(safe(title), style="bold"))
    out().print(grid)


def _cell(value: object) -> Text:
    lines = value if isinstance(value, list) else [value]
    return Text("\n".join(safe("" if line is None else str(line)) for line in lines))


def safe(text: str) -> str:
    """Text that cannot move the cursor or break a table."""
    return text.translate(_CONTROL).encode("utf-8", "backslashreplace").decode()


def size(count: int) -> str:
    """Bytes as a person says them."""
    amount, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def age(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} d"


def plain(value: Any) -> object:
    """What JSON has no word for: decimals and times as text, bytes as Base64."""
    match value:
        case StrEnum():
            return value.value
        case datetime() | date() | time():
            return value.isoformat()
        case Decimal() | timedelta():
            return str(value)
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            raise TypeError(f"no JSON for {type(value).__name__}")


_JSON = json.JSONEncoder(default=plain, ensure_ascii=False, allow_nan=True)
