"""What a schema is made of, and rules that say the same in CEL and in Python."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

# In CEL's texts and in Python's patterns \u means the same; other escapes are the pattern's own.
_NOT_OF_CEL = re.compile(r"\\(?!u[0-9a-f]{4})")


class Type(StrEnum):
    TEXT = "string"
    WHOLE = "integer"
    CLAIM = "boolean"
    OBJECT = "object"
    FREE = "free"
    MAP = "map"
    LIST = "array"
    QUANTITY = "quantity"


@dataclass(frozen=True, slots=True)
class Rule:
    """A claim about a value, in CEL and in Python."""

    cel: str
    message: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """A claim about a value and what it was before."""

    cel: str
    message: str
    holds: Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Schema:
    """One field. `least` and `most` bound a number itself, else a length; of a list `keys` are those of its entries.

    `is_terse`: the fields within are described on the page of resources, but not in the CRD, which must stay small.
    """

    type: Type
    description: str = ""
    fields: Mapping[str, "Schema"] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    entry: "Schema | None" = None
    keys: tuple[str, ...] = ()
    is_set: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    default: str | int | bool | None = None
    format: str = ""
    rules: tuple[Rule, ...] = ()
    changes: tuple[ChangeRule, ...] = ()
    is_terse: bool = False


def rules_of(schema: Schema) -> list[Rule | ChangeRule]:
    return [*schema.rules, *schema.changes]


def matching(pattern: str, message: str) -> Rule:
    found = compiled(pattern)
    return Rule(f"self.matches({cel_text(pattern)})", message, lambda text: bool(found.search(text)))


def without(pattern: str, message: str) -> Rule:
    found = compiled(pattern)
    return Rule(f"!self.matches({cel_text(pattern)})", message, lambda text: not found.search(text))


def keys_matching(pattern: str, message: str) -> Rule:
    found, claim = compiled(pattern), f"key.matches({cel_text(pattern)})"
    return Rule(
        f"self.all(key, {claim})",
        message,
        lambda entries: all(found.search(key) for key in entries),
    )


def keys_without(pattern: str, message: str) -> Rule:
    found, claim = compiled(pattern), f"key.matches({cel_text(pattern)})"
    return Rule(
        f"!self.exists(key, {claim})",
        message,
        lambda entries: not any(found.search(key) for key in entries),
    )


def values_without(pattern: str, message: str) -> Rule:
    found, claim = compiled(pattern), f"self[key].matches({cel_text(pattern)})"
    return Rule(
        f"!self.exists(key, {claim})",
        message,
        lambda entries: not any(found.search(value) for value in entries.values()),
    )


def unchanged(message: str = "cannot be changed: delete the resource and make another") -> ChangeRule:
    return ChangeRule("self == oldSelf", message, lambda new, old: bool(new == old))


def compiled(pattern: str) -> re.Pattern[str]:
    """As RE2 understands it: $ is the end, not what comes before a last newline."""
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern, re.ASCII)


def cel_text(text: str) -> str:
    escaped = _NOT_OF_CEL.sub(r"\\\\", text).replace("'", r"\'")
    return f"'{escaped}'"


def text(description: str, most: int, *rules: Rule, **more: Any) -> Schema:
    return Schema(Type.TEXT, description, least=more.pop("least", 1), most=most, rules=rules, **more)


def choice(description: str, choices: Sequence[str], **more: Any) -> Schema:
    return Schema(Type.TEXT, description, choices=tuple(str(one) for one in choices), **more)


def whole(description: str, least: int | None = None, most: int | None = None, **more: Any) -> Schema:
    return Schema(Type.WHOLE, description, least=least, most=most, **more)


def claim(description: str, **more: Any) -> Schema:
    return Schema(Type.CLAIM, description, **more)


def group(description: str, fields: Mapping[str, Schema], *rules: Rule, **more: Any) -> Schema:
    return Schema(Type.OBJECT, description, fields, rules=rules, **more)


def time(description: str) -> Schema:
    return Schema(Type.TEXT, description, format="date-time")
