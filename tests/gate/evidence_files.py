"""Texts about files below a folder of a failed test: tables, steps of paused engines, reports and logs. All bounded."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_PROPERTIES: Final = "hoodie.properties"
_MOST_TABLES: Final = 3
_MOST_INSTANTS: Final = 40
_MOST_PROPERTIES: Final = 60
_MOST_LOGS: Final = 8
_STEPS: Final = 20
_LOG_LINES: Final = 30
_LONGEST_LINE: Final = 1_000  # a report is one line
_MOST_FOLDERS: Final = 2_000
# As tests/kit/paused_engine.py and its callers name them: the steps of an engine, and its report.
_OF_AN_ENGINE: Final = {"steps": _STEPS, "out": _LOG_LINES, "err": _LOG_LINES}

Block = tuple[str, list[str]]


def last_lines(text: str, count: int = _LOG_LINES) -> list[str]:
    lines = text.splitlines()
    left_out = [f"… {len(lines) - count} lines before"] if len(lines) > count else []
    return [*left_out, *(line[:_LONGEST_LINE] for line in lines[-count:])]


def blocks_below(folder: Path) -> list[Block]:
    """A title and lines for each table, and for each steps file, report and log below the folder."""
    tables, others = _found(folder)
    return [
        *(block for table in tables[:_MOST_TABLES] for block in _table(table, folder)),
        *(_tail(path, str(path.relative_to(folder))) for path in others[:_MOST_LOGS]),
    ]


def log_block(name: str, log: Path) -> Block:
    return _tail(log, f"{name} ({log})")


def _found(folder: Path) -> tuple[list[Path], list[Path]]:
    """Folders of tables, without their metadata tables, and files to print. The newest are the first of each."""
    tables, others = [], []
    for number, (path, folders, files) in enumerate(os.walk(folder)):
        if ".hoodie" in folders:
            folders.remove(".hoodie")
            tables.append(Path(path))
        named = (name for name in files if name in _OF_AN_ENGINE or name.endswith(".log") or name == "log")
        # A pipe of that name, as containerd has one, would be waited for.
        others += [file for name in named if (file := Path(path, name)).is_file()]
        if number == _MOST_FOLDERS:
            break
    return _newest_first([table / ".hoodie" for table in tables]), _newest_first(others)


def _newest_first(paths: Sequence[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True)


def _table(hoodie: Path, folder: Path) -> Iterator[Block]:
    name = hoodie.parent.relative_to(folder)
    yield f"timeline of {name}", _timeline(hoodie)
    if (hoodie / "metadata").is_dir():
        yield f"metadata table's timeline of {name}", _timeline(hoodie / "metadata" / ".hoodie")
    properties = _text(hoodie / _PROPERTIES).splitlines()
    yield f"{_PROPERTIES} of {name}", [line[:_LONGEST_LINE] for line in properties[:_MOST_PROPERTIES]]


def _timeline(hoodie: Path) -> list[str]:
    """Layout 2 has a folder for its instants, layout 1 has them beside the properties."""
    folder = hoodie / "timeline" if (hoodie / "timeline").is_dir() else hoodie
    if not folder.is_dir():
        return [f"{folder} is not there"]
    instants = sorted(path for path in folder.iterdir() if path.name[:1].isdigit())
    left_out = [f"… {len(instants) - _MOST_INSTANTS} instants before"] if len(instants) > _MOST_INSTANTS else []
    return [*left_out, *(f"{path.name}  {path.stat().st_size} bytes" for path in instants[-_MOST_INSTANTS:])]


def _tail(path: Path, title: str) -> Block:
    count = _OF_AN_ENGINE.get(path.name, _LOG_LINES)
    return f"last {count} lines of {title}", last_lines(_text(path), count)


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return "(not there)"
