"""What the API server refuses by the CRDs is refused here again, in its words: a file has no API server."""

from collections.abc import Mapping, Sequence

from hudi_operator.resources.schema.nodes import Rule, Schema, Type
from hudi_operator.resources.schema.specs import SPECS
from hudi_operator.resources.schema.values import MAX_NAME, dns_name
from hudi_operator.words import Kind

LONG_NAME = f"metadata.name must be at most {MAX_NAME} characters, for the names of runs begin with it"

_PYTHON: Mapping[Type, type | tuple[type, ...]] = {
    Type.TEXT: str,
    Type.WHOLE: int,
    Type.NUMBER: (int, float),
    Type.CLAIM: bool,
    Type.OBJECT: Mapping,
    Type.MAP: Mapping,
    Type.LIST: Sequence,
    Type.QUANTITY: (int, str),
}
_NAMED: Mapping[Type, str] = {Type.MAP: "object", Type.QUANTITY: "integer or string"}
_SHOWN = 120


def type_of(value: object) -> str:
    """As the API calls it; the value itself is not for messages, for it may be a secret."""
    named = (Type.CLAIM, Type.WHOLE, Type.NUMBER, Type.TEXT, Type.OBJECT, Type.LIST)
    return "null" if value is None else next((of for of in named if isinstance(value, _PYTHON[of])), "unknown")


class InvalidResource(ValueError):
    """`path` is where in the manifest, `message` what was found there and what was expected."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


def refuse_if_illegal(kind: Kind, manifest: Mapping[str, object]) -> None:
    """Raises `InvalidResource` unless name and spec are as the schema and its rules have them."""
    meta, spec = (_required(manifest, name) for name in ("metadata", "spec"))
    _refuse_name(meta)
    refuse_unfit(SPECS[kind], spec, "spec")
    _refuse_rules(SPECS[kind], spec, "spec")


def refuse_if_changed(old: Mapping[str, object], new: Mapping[str, object]) -> None:
    """Raises `InvalidResource` where a legal manifest changes what may not be changed in the one before."""
    _refuse_changes(SPECS[Kind(str(new["kind"]))], new["spec"], old["spec"], "spec")


def refuse_unfit(schema: Schema, value: object, path: str) -> None:
    """Raises `InvalidResource` unless types, fields and bounds are as the schema has them; rules are not looked at."""
    _refuse_type(schema, value, path)
    match schema.type:
        case Type.OBJECT:
            _refuse_fields(schema, value, path)
        case Type.MAP | Type.LIST:
            _refuse_entries(schema, value, path)
        case Type.TEXT | Type.WHOLE:
            _refuse_bounds(schema, value, path)


def _required(manifest: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = manifest.get(name)
    if part is None:
        raise InvalidResource(name, "Required value")
    if not isinstance(part, Mapping):
        raise InvalidResource(name, f"must be of type object, found {type_of(part)}")
    return part


def _refuse_type(schema: Schema, value: object, path: str) -> None:
    is_claim = isinstance(value, bool)
    is_text = isinstance(value, str)
    fits = isinstance(value, _PYTHON[schema.type])
    if not fits or is_claim != (schema.type is Type.CLAIM) or (is_text and schema.type is Type.LIST):
        expected = _NAMED.get(schema.type, schema.type.value)
        raise InvalidResource(path, f"must be of type {expected}, found {type_of(value)}")


def _refuse_fields(schema: Schema, value: object, path: str) -> None:
    given = _given(value)
    for name in given:
        if name not in schema.fields:
            known = ", ".join(sorted(schema.fields))
            raise InvalidResource(path, f'unknown field "{path}.{name[:_SHOWN]}": expected {known}')
    for name in schema.required:
        if name not in given:
            raise InvalidResource(f"{path}.{name}", "Required value")
    for name, part in given.items():
        refuse_unfit(schema.fields[name], part, f"{path}.{name}")


def _refuse_entries(schema: Schema, value: object, path: str) -> None:
    entries = _entries(value, path)
    if schema.most is not None and len(entries) > schema.most:
        raise InvalidResource(path, f"Too many: {len(entries)}: must have at most {schema.most} items")
    for where, entry in entries:
        if schema.entry is not None:
            refuse_unfit(schema.entry, entry, where)
    if schema.type is Type.LIST:
        _refuse_duplicates(schema, entries)


def _refuse_duplicates(schema: Schema, entries: Sequence[tuple[str, object]]) -> None:
    if not (schema.keys or schema.is_set):
        return
    seen: list[object] = []
    for where, entry in entries:
        identity = [entry.get(key) for key in schema.keys] if isinstance(entry, Mapping) else entry
        if identity in seen:
            raise InvalidResource(where, f"Duplicate value: {_shown(entry)}")
        seen.append(identity)


def _refuse_bounds(schema: Schema, value: object, path: str) -> None:
    if schema.choices and value not in schema.choices:
        choices = ", ".join(f'"{name}"' for name in schema.choices)
        raise InvalidResource(path, f'Unsupported value: "{_cut(str(value))}": supported values: {choices}')
    if isinstance(value, str):
        if schema.least is not None and len(value) < schema.least:
            raise InvalidResource(path, f"should be at least {schema.least} chars long")
        if schema.most is not None and len(value) > schema.most:
            raise InvalidResource(path, f"Too long: may not be more than {schema.most} characters")
    elif isinstance(value, int):
        if schema.least is not None and value < schema.least:
            raise InvalidResource(path, f"should be greater than or equal to {schema.least}, found {value}")
        if schema.most is not None and value > schema.most:
            raise InvalidResource(path, f"should be less than or equal to {schema.most}, found {value}")


def _refuse_rules(schema: Schema, value: object, path: str) -> None:
    for where, part, of in _parts(schema, value, path):
        _refuse_rules(of, part, where)
    for rule in schema.rules:
        if not rule.holds(value):
            which = f"{_breaking(rule, value)}: " if isinstance(value, Mapping) and schema.type is Type.MAP else ""
            raise InvalidResource(path, which + rule.message)


def _breaking(rule: Rule, entries: Mapping[str, object]) -> str:
    return next(_cut(key) for key, entry in entries.items() if not rule.holds({key: entry}))


def _refuse_changes(schema: Schema, new: object, old: object, path: str) -> None:
    before = {where: part for where, part, _ in _parts(schema, old, path)}
    for where, part, of in _parts(schema, new, path):
        if where in before:
            _refuse_changes(of, part, before[where], where)
    for rule in schema.changes:
        if not rule.holds(new, old):
            raise InvalidResource(path, rule.message)


def _parts(schema: Schema, value: object, path: str) -> list[tuple[str, object, Schema]]:
    """What the value consists of, defaults included."""
    if schema.type is Type.OBJECT:
        defaults = {name: of.default for name, of in schema.fields.items() if of.default is not None}
        given = {**defaults, **_given(value)}
        return [(f"{path}.{name}", part, schema.fields[name]) for name, part in given.items()]
    if schema.entry is not None:
        return [(where, entry, schema.entry) for where, entry in _entries(value, path)]
    return []


def _given(value: object) -> dict[str, object]:
    """To give null is not to give it, as the API has it."""
    return {str(name): part for name, part in value.items() if part is not None} if isinstance(value, Mapping) else {}


def _entries(value: object, path: str) -> list[tuple[str, object]]:
    if isinstance(value, Mapping):
        return [(f"{path}.{name}", entry) for name, entry in value.items()]
    return [(f"{path}[{place}]", entry) for place, entry in enumerate(value)] if isinstance(value, Sequence) else []


def _refuse_name(meta: Mapping[str, object]) -> None:
    """Names become parts of paths in local mode, where no API server has looked at them."""
    name = dns_name("")
    for field in ("name", "namespace"):
        if meta.get(field) is not None:
            refuse_unfit(name, meta[field], f"metadata.{field}")
            _refuse_rules(name, meta[field], f"metadata.{field}")
        elif field == "name":
            raise InvalidResource("metadata.name", "Required value")
    if len(str(meta["name"])) > MAX_NAME:
        raise InvalidResource("metadata.name", LONG_NAME)


def _shown(value: object) -> str:
    return _cut(ascii(value))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
