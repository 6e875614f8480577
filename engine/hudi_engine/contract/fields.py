"""Fields of JSON objects that may come from anybody: each taken once by its type, or refused with a sentence."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from hudi_engine.contract.text import printable

SCHEMA_VERSION = 1
MAX_NAME, MAX_LOCATION = 255, 2_048
MAX_WHOLE = (1 << 63) - 1

_MAX_TEXT = 100_000
_SHOWN = 120
_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")
# Line ends of every sort, and what moves a terminal's cursor.
_UNFIT_FOR_NAMES = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_HASH = re.compile(r"[0-9a-f]{8,64}")
_INSTANT = re.compile(r"[0-9]{14,20}")

_Choice = TypeVar("_Choice", bound=StrEnum)
_Value = TypeVar("_Value")


class Malformed(ValueError):
    """No request or report: the message says which field, what was found and what was expected."""


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object, of which each field is taken by its type; `path` is where it is, empty at the top."""

    tree: dict[str, object]
    path: str
    taken: set[str] = field(default_factory=set)

    @staticmethod
    def parsed(text: str | bytes, what: str, limit: int) -> "Fields":
        """The object that the text is, of this schema version."""
        try:
            data = text.encode() if isinstance(text, str) else text
            require_length(what, len(data), limit)
            tree = json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=_refused_constant)
        except Malformed:
            raise
        except (ValueError, RecursionError) as wrong:
            raise Malformed(f"{what}: no JSON object in UTF-8: {wrong}") from wrong
        given = Fields.of(tree, "")
        version = given.take("version", a_whole)
        if version != SCHEMA_VERSION:
            raise Malformed(
                f"version: {_seen(version)}, expected {SCHEMA_VERSION}: {what} is of another release than this one"
            )
        return given

    @staticmethod
    def of(tree: object, path: str) -> "Fields":
        if not isinstance(tree, dict):
            raise Malformed(f"{path or 'the whole'}: {_seen(tree)}, expected an object")
        return Fields(tree, path)

    def take(self, name: str, kind: Callable[[object, str], _Value]) -> _Value:
        if name not in self.tree:
            raise Malformed(f"{self._path(name)}: missing")
        self.taken.add(name)
        return kind(self.tree[name], self._path(name))

    def take_or(self, name: str, kind: Callable[[object, str], _Value], default: _Value) -> _Value:
        return self.take(name, kind) if name in self.tree else default

    def require_no_more(self) -> None:
        unknown = sorted(self.tree.keys() - self.taken)
        if unknown:
            known = ", ".join(sorted(self.taken))
            raise Malformed(
                f"{self._path(unknown[0][:MAX_NAME])!r}: an unknown field; those given and known are {known}"
            )

    def _path(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name


def a_text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise Malformed(f"{path}: {_seen(value)}, expected a text")
    if _HALF_CHARACTER.search(value):
        raise Malformed(f"{path}: half of a character, expected a text")
    return value


def a_sentence(value: object, path: str) -> str:
    """For people: what a terminal would obey is replaced, whoever wrote it."""
    return printable(a_text(value, path))


def a_whole(value: object, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Malformed(f"{path}: {_seen(value)}, expected a whole number")
    return value


def a_number(value: object, path: str) -> float:
    return value if isinstance(value, float) else a_whole(value, path)


def a_claim(value: object, path: str) -> bool:
    if not isinstance(value, bool):
        raise Malformed(f"{path}: {_seen(value)}, expected true or false")
    return value


def one_of(choices: type[_Choice]) -> Callable[[object, str], _Choice]:
    def chosen(value: object, path: str) -> _Choice:
        if isinstance(value, str) and value in set(choices):
            return choices(value)
        raise Malformed(f"{path}: {_seen(value)}, expected one of {', '.join(choices)}")

    return chosen


def or_none(kind: Callable[[object, str], _Value]) -> Callable[[object, str], _Value | None]:
    return lambda value, path: None if value is None else kind(value, path)


def list_of(kind: Callable[[object, str], _Value]) -> Callable[[object, str], list[_Value]]:
    def listed(value: object, path: str) -> list[_Value]:
        if not isinstance(value, list):
            raise Malformed(f"{path}: {_seen(value)}, expected a list")
        return [kind(entry, f"{path}[{number}]") for number, entry in enumerate(value)]

    return listed


def mapping_of(kind: Callable[[object, str], _Value]) -> Callable[[object, str], dict[str, _Value]]:
    def mapped(value: object, path: str) -> dict[str, _Value]:
        entries = Fields.of(value, path).tree
        return {a_text(key, path): kind(entry, f"{path}[{key[:MAX_NAME]!r}]") for key, entry in entries.items()}

    return mapped


def require_names(field_name: str, names: tuple[str, ...]) -> None:
    for name in names:
        require_name(field_name, name, MAX_NAME)
    _require_unique(names, f"{field_name}: ")


def require_locations(field_name: str, locations: tuple[str, ...]) -> None:
    for location in locations:
        require_name(field_name, location, MAX_LOCATION)
    _require_unique(locations, f"{field_name}: ")


def require_conf(conf: Mapping[str, str]) -> None:
    for key, value in conf.items():
        require_name("a key of conf", key, MAX_NAME)
        require_text(f"conf[{key!r}]", value)


def require_name(field_name: str, name: str, most: int) -> None:
    """A name is one line of at most so many characters."""
    if not name.strip():
        raise Malformed(f"{field_name}: empty")
    require_length(field_name, len(name), most, "characters")
    unfit = _UNFIT_FOR_NAMES.search(name)
    if unfit:
        raise Malformed(f"{field_name}: {name!r} has {unfit[0]!r} in it, expected one line of text")


def require_text(field_name: str, text: str) -> None:
    require_length(field_name, len(text), _MAX_TEXT, "characters")


def require_length(field_name: str, length: int, most: int, of_what: str = "bytes") -> None:
    if length > most:
        raise Malformed(f"{field_name}: {length:,} {of_what}, more than the {most:,} allowed")


def require_instant(field_name: str, instant: str | None) -> None:
    if instant is not None and not _INSTANT.fullmatch(instant):
        raise Malformed(f"{field_name}: {_seen(instant)}, expected an instant: 14 to 20 digits")


def require_hash(field_name: str, text: str | None) -> None:
    if text is not None and not _HASH.fullmatch(text):
        raise Malformed(f"{field_name}: {_seen(text)}, expected 8 to 64 digits of a hash, lower-case hexadecimal")


def require_count(field_name: str, count: float, least: int = 0, most: int = MAX_WHOLE) -> None:
    if not least <= count <= most:
        raise Malformed(f"{field_name}: {_seen(count)}, expected a number from {least} to {most}")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    _require_unique([name for name, _ in pairs])
    return dict(pairs)


def _require_unique(names: Sequence[str], where: str = "") -> None:
    name, count = next(iter(Counter(names).most_common(1)), ("", 0))
    if count > 1:
        raise Malformed(f"{where}{_seen(name)} is given twice")


def _refused_constant(constant: str) -> object:
    raise Malformed(f"{constant}: no number of JSON's")


def _seen(value: object) -> str:
    shown = ascii(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def one_line(tree: Mapping[str, object]) -> str:
    """One line, whatever a reader takes for the end of one."""
    return _UNFIT_FOR_NAMES.sub(_escaped, json.dumps(tree, ensure_ascii=False, allow_nan=False))
