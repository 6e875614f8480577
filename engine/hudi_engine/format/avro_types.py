"""Avro schemas as values: parsed once, from text that may come from anybody.

Whatever `parse` lets through, every type of it needs at least one byte per value and no type contains itself. So
a decoder never makes more values than there are bytes and never goes deeper than `DEEPEST`, whatever the data says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hudi_engine.errors import CorruptFile, Unsupported
from hudi_engine.format import json_text

PRIMITIVES: Final = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
DEEPEST: Final = 48
WIDEST_DECIMAL: Final = 38


class NoDefault:
    """The field must be given."""


NO_DEFAULT: Final = NoDefault()


@dataclass(frozen=True, slots=True)
class Logical:
    """What a number or text stands for. `precision` and `scale` are those of a decimal."""

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True, slots=True)
class Primitive:
    name: str
    logical: Logical | None = None


@dataclass(frozen=True, slots=True)
class Fixed:
    name: str
    size: int
    logical: Logical | None = None


@dataclass(frozen=True, slots=True)
class Enumeration:
    name: str
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    items: "AvroType"


@dataclass(frozen=True, slots=True, eq=False)
class MapOf:
    values: "AvroType"


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    branches: "tuple[AvroType, ...]"

    @property
    def is_nullable_type(self) -> bool:
        """Null and one other type: all that Hudi knows but for its ordering and statistics values."""
        return len(self.branches) == 2 and NULL in self.branches


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """`default` is the JSON value of the schema."""

    name: str
    type: "AvroType"
    default: object = NO_DEFAULT


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    name: str
    fields: tuple[Field, ...]


AvroType = Primitive | Fixed | Enumeration | Array | MapOf | Union | Record
NULL: Final = Primitive("null")


def branch_name(branch: AvroType) -> str:
    """The name by which a value says which branch of a union it takes."""
    match branch:
        case Array():
            return "array"
        case MapOf():
            return "map"
        case Union():
            return "union"
        case _:
            return branch.name


def parse(text: str | bytes, offset: int) -> AvroType:
    """The type that a schema in JSON describes; `offset` is where in its file the text stands."""
    try:
        tree = json_text.parse(text, "the Avro schema")
    except CorruptFile as wrong:
        raise CorruptFile(wrong.what, offset + wrong.offset) from wrong
    return _Parser(offset).type_of(tree, "", 0)


class _Parser:
    def __init__(self, offset: int) -> None:
        self._offset = offset
        self._named: dict[str, AvroType | None] = {}
        self._heights: dict[str, int] = {}

    def type_of(self, tree: object, namespace: str, depth: int) -> AvroType:
        if depth > DEEPEST:
            raise Unsupported(f"an Avro schema nested deeper than {DEEPEST} levels")
        match tree:
            case str():
                return self._reference(tree, namespace, depth)
            case list():
                return self._union(tree, namespace, depth)
            case dict() if "type" in tree:
                return self._described(tree, namespace, depth)
            case _:
                raise self._corrupt(f"the Avro schema has {type(tree).__name__} where a type should be")

    def _described(self, tree: dict[str, object], namespace: str, depth: int) -> AvroType:
        match tree["type"]:
            case "array" if "items" in tree:
                return Array(self._sized(tree["items"], namespace, depth))
            case "map" if "values" in tree:
                return MapOf(self._sized(tree["values"], namespace, depth))
            case "record" | "error" | "fixed" | "enum":
                return self._define(tree, namespace, depth)
            case str(name) if name in PRIMITIVES:
                return Primitive(name, self._logical(tree, is_number_of_bytes=name == "bytes"))
            case inner:
                return self.type_of(inner, namespace, depth + 1)

    def _sized(self, tree: object, namespace: str, depth: int) -> AvroType:
        found = self.type_of(tree, namespace, depth + 1)
        if found == NULL:
            raise Unsupported("an Avro schema with values of type null alone, which take no bytes")
        return found

    def _reference(self, name: str, namespace: str, depth: int) -> AvroType:
        if name in PRIMITIVES:
            return Primitive(name)
        full = name if "." in name or not namespace else f"{namespace}.{name}"
        full = full if full in self._named else name
        if full not in self._named:
            raise self._corrupt(f"the Avro schema names a type {name!r} that it does not define")
        if (known := self._named[full]) is None:
            raise Unsupported(f"an Avro schema in which {full} contains itself")
        if depth + self._heights[full] > DEEPEST:
            raise Unsupported(f"an Avro schema nested deeper than {DEEPEST} levels")
        return known

    def _union(self, trees: list[object], namespace: str, depth: int) -> AvroType:
        branches = tuple(self.type_of(tree, namespace, depth + 1) for tree in trees)
        names = [branch_name(branch) for branch in branches]
        if not branches or len(set(names)) < len(names) or "union" in names:
            raise self._corrupt("the Avro schema has a union that is empty, nested or ambiguous")
        return Union(branches)

    def _define(self, tree: Mapping[str, object], namespace: str, depth: int) -> AvroType:
        name, inner = self._full_name(tree, namespace)
        if name in self._named:
            raise self._corrupt(f"the Avro schema defines {name} twice")
        self._named[name] = None
        match tree["type"]:
            case "fixed":
                made: AvroType = self._fixed(tree, name)
            case "enum":
                made = self._enumeration(tree, name)
            case _:
                made = self._record(tree, name, inner, depth)
        self._named[name] = made
        self._heights[name] = self._height(made)
        return made

    def _full_name(self, tree: Mapping[str, object], namespace: str) -> tuple[str, str]:
        name, own = tree.get("name"), tree.get("namespace", namespace)
        if not isinstance(name, str) or not name or not isinstance(own, str):
            raise self._corrupt("the Avro schema has a type without a name")
        full = name if "." in name or not own else f"{own}.{name}"
        return full, full.rpartition(".")[0]

    def _record(self, tree: Mapping[str, object], name: str, namespace: str, depth: int) -> Record:
        trees = tree.get("fields")
        if not isinstance(trees, list):
            raise self._corrupt(f"the Avro schema's record {name} has no fields")
        if not trees:
            raise Unsupported(f"an Avro schema with the empty record {name}, whose values take no bytes")
        fields = tuple(self._field(each, namespace, depth) for each in trees)
        if len({field.name for field in fields}) < len(fields):
            raise self._corrupt(f"the Avro schema's record {name} has two fields of one name")
        return Record(name, fields)

    def _field(self, tree: object, namespace: str, depth: int) -> Field:
        match tree:
            case {"name": str(name), "type": inner, **others}:
                found = self._sized(inner, namespace, depth)
                return Field(name, found, others.get("default", NO_DEFAULT))
            case _:
                raise self._corrupt("the Avro schema has a field without name or type")

    def _fixed(self, tree: Mapping[str, object], name: str) -> Fixed:
        size = tree.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise Unsupported(f"an Avro schema whose fixed type {name} has the size {size!r}")
        return Fixed(name, size, self._logical(tree, is_number_of_bytes=True))

    def _enumeration(self, tree: Mapping[str, object], name: str) -> Enumeration:
        symbols = tree.get("symbols")
        if not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
            raise self._corrupt(f"the Avro schema's enum {name} has no symbols")
        return Enumeration(name, tuple(symbols))

    def _logical(self, tree: Mapping[str, object], *, is_number_of_bytes: bool) -> Logical | None:
        name = tree.get("logicalType")
        # A logical type on a type that it does not fit is passed over, as Avro says.
        if not isinstance(name, str) or (name == "decimal" and not is_number_of_bytes):
            return None
        if name != "decimal":
            return Logical(name)
        precision, scale = tree.get("precision"), tree.get("scale", 0)
        if not isinstance(precision, int) or not isinstance(scale, int) or not 0 <= scale <= precision:
            raise self._corrupt(f"the Avro schema has a decimal of precision {precision!r} and scale {scale!r}")
        if not 1 <= precision <= WIDEST_DECIMAL:
            raise Unsupported(f"a decimal of {precision} digits; {WIDEST_DECIMAL} is the most")
        return Logical(name, precision, scale)

    def _height(self, made: AvroType) -> int:
        match made:
            case Array(inner) | MapOf(inner):
                return 1 + self._height(inner)
            case Union(branches):
                return 1 + max(self._height(branch) for branch in branches)
            case Record(name, fields):
                if name not in self._heights:
                    self._heights[name] = 1 + max(self._height(field.type) for field in fields)
                return self._heights[name]
            case _:
                return 0

    def _corrupt(self, what: str) -> CorruptFile:
        return CorruptFile(what, self._offset)
