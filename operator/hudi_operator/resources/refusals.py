"""What the API server refuses by the CRDs is refused here again, in its words: a file has no API server."""

from collections.abc import Iterator, Mapping, Sequence

from hudi_operator.resources.schema.nodes import Rule, Schema, Type
from hudi_operator.resources.schema.specs import SPECS
from hudi_operator.resources.schema.values import MAX_NAME, dns_name
from hudi_operator.words import Kind

LONG_NAME = f"metadata.name must be at most {MAX_NAME} characters, for the names of runs begin with it"

_PYTHON: Mapping[Type, type | tuple[type, ...]] = {
    Type.TEXT: str,
    Type.WHOLE: int,
    Type.CLAIM: bool,
    Type.OBJECT: Mapping,
    Type.FREE: Mapping,
    Type.MAP: Mapping,
    Type.LIST: Sequence,
    Type.QUANTITY: (int, str),
}
_NAMED: Mapping[Type, str] = {Type.MAP: "object", Type.FREE: "object", Type.QUANTITY: "integer or string"}
_SHOWN = 120


def type_of(value: object) -> str:
    """As the API calls it; the value itself is not for messages, for it may be a secret."""
    named = (Type.CLAIM, Type.WHOLE, Type.TEXT, Type.OBJECT, Type.LIST)
    return "null" if value is None else next((of for of in named if isinstance(value, _PYTHON[of])), "unknown")


class InvalidResource(ValueError):
    """`path` is where in the manifest, `message` what was found there and what was expected."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


def refuse_if_illegal(kind: Kind, manifest: Mapping[str, object]) -> None:
    """Raises the first `InvalidResource` unless name and spec are as the schema and its rules have them."""
    _refuse(faults_of(kind, manifest))


def faults_of(kind: Kind, manifest: Mapping[str, object]) -> Iterator[InvalidResource]:
    """Every fault of name and spec, in the order in which the schema is gone through; rules come last."""
    for name in ("metadata", "spec"):
        part = manifest.get(name)
        if part is None:
            yield InvalidResource(name, "Required value")
        elif not isinstance(part, Mapping):
            yield InvalidResource(name, f"must be of type object, found {type_of(part)}")
        else:
            yield from _faults_of_name(part) if name == "metadata" else _faults(SPECS[kind], part, "spec")


def refuse_if_changed(old: Mapping[str, object], new: Mapping[str, object]) -> None:
    """Raises the first `InvalidResource` where a legal manifest changes what may not be changed in the one before."""
    _refuse(changes_of(old, new))


def changes_of(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[InvalidResource]:
    """Every change of a legal manifest, from the one before, that may not be."""
    return _changes(SPECS[Kind(str(new["kind"]))], new["spec"], old["spec"], "spec")


def refuse_unfit(schema: Schema, value: object, path: str) -> None:
    """Raises the first `InvalidResource` unless types, fields and bounds fit the schema; rules are not looked at."""
    _refuse(_unfit(schema, value, path))


def _refuse(faults: Iterator[InvalidResource]) -> None:
    for fault in faults:
        raise fault


def _faults(schema: Schema, value: object, path: str) -> Iterator[InvalidResource]:
    """A rule is asked only about a part that fits: it relies on the types of what it looks at."""
    yield from _unfit(schema, value, path)
    yield from _broken_rules(schema, value, path)


def _unfit(schema: Schema, value: object, path: str) -> Iterator[InvalidResource]:
    if not _is_of_type(schema, value):
        expected = _NAMED.get(schema.type, schema.type.value)
        yield InvalidResource(path, f"must be of type {expected}, found {type_of(value)}")
        return
    match schema.type:
        case Type.OBJECT:
            yield from _unfit_fields(schema, value, path)
        case Type.MAP | Type.LIST:
            yield from _unfit_entries(schema, value, path)
        case Type.TEXT | Type.WHOLE:
            yield from _out_of_bounds(schema, value, path)


def _is_of_type(schema: Schema, value: object) -> bool:
    fits = isinstance(value, _PYTHON[schema.type]) and isinstance(value, bool) is (schema.type is Type.CLAIM)
    return fits and not (isinstance(value, str) and schema.type is Type.LIST)


def _unfit_fields(schema: Schema, value: object, path: str) -> Iterator[InvalidResource]:
    given = _given(value)
    for name in given:
        if name not in schema.fields:
            known = ", ".join(sorted(schema.fields))
            yield InvalidResource(path, f'unknown field "{path}.{name[:_SHOWN]}": expected {known}')
    for name in schema.required:
        if name not in given:
            yield InvalidResource(f"{path}.{name}", "Required value")
    for name, part in given.items():
        if name in schema.fields:
            yield from _unfit(schema.fields[name], part, f"{path}.{name}")


def _unfit_entries(schema: Schema, value: object, path: str) -> Iterator[InvalidResource]:
    entries = _entries(value, path)
    if schema.most is not None and len(entries) > schema.most:
        yield InvalidResource(path, f"Too many: {len(entries)}: must have at most {schema.most} items")
        return
    for where, entry in entries:
        if schema.entry is not None:
            yield from _unfit(schema.entry, entry, where)
    if schema.type is Type.LIST:
        yield from _duplicates(schema, entries)


def _duplicates(schema: Schema, entries: Sequence[tuple[str, object]]) -> Iterator[InvalidResource]:
    if not (schema.keys or schema.is_set):
        return
    seen: list[object] = []
    for where, entry in entries:
        identity = [entry.get(key) for key in schema.keys] if isinstance(entry, Mapping) else entry
        if identity in seen:
            yield InvalidResource(where, f"Duplicate value: {_shown(entry)}")
        seen.append(identity)


def _out_of_bounds(schema: Schema, value: object, path: str) -> Iterator[InvalidResource]:
    if schema.choices and value not in schema.choices:
        choices = ", ".join(f'"{name}"' for name in schema.choices)
        yield InvalidResource(path, f'Unsupported value: "{_cut(str(value))}": supported values: {choices}')
    elif isinstance(value, str):
        if schema.least is not None and len(value) < schema.least:
            yield InvalidResource(path, f"should be at least {schema.least} chars long")
        if schema.most is not None and len(value) > schema.most:
            yield InvalidResource(path, f"Too long: may not be more than {schema.most} characters")
    elif isinstance(value, int):
        if schema.least is not None and value < schema.least:
            yield InvalidResource(path, f"should be greater than or equal to {schema.least}, found {value}")
        if schema.most is not None and value > schema.most:
            yield InvalidResource(path, f"should be less than or equal to {schema.most}, found {value}")


def _broken_rules(schema: Schema, value: object, path: str) -> Iterator[InvalidResource]:
    for where, part, of in _parts(schema, value, path):
        yield from _broken_rules(of, part, where)
    if schema.rules and _fits(schema, value, path):
        for rule in schema.rules:
            if not rule.holds(value):
                which = f"{_breaking(rule, value)}: " if isinstance(value, Mapping) and schema.type is Type.MAP else ""
                yield InvalidResource(path, which + rule.message)


def _fits(schema: Schema, value: object, path: str) -> bool:
    return next(_unfit(schema, value, path), None) is None


def _breaking(rule: Rule, entries: Mapping[str, object]) -> str:
    return ", ".join(_cut(key) for key, entry in entries.items() if not rule.holds({key: entry}))


def _changes(schema: Schema, new: object, old: object, path: str) -> Iterator[InvalidResource]:
    before = {where: part for where, part, _ in _parts(schema, old, path)}
    for where, part, of in _parts(schema, new, path):
        if where in before:
            yield from _changes(of, part, before[where], where)
    for rule in schema.changes:
        if not rule.holds(new, old):
            yield InvalidResource(path, rule.message)


def _parts(schema: Schema, value: object, path: str) -> list[tuple[str, object, Schema]]:
    """The parts of the value, each with its path and schema: defaults are included, unknown fields are not."""
    if schema.type is Type.OBJECT and isinstance(value, Mapping):
        defaults = {name: of.default for name, of in schema.fields.items() if of.default is not None}
        given = {**defaults, **_given(value)}
        return [(f"{path}.{name}", part, schema.fields[name]) for name, part in given.items() if name in schema.fields]
    if schema.entry is not None and _is_of_type(schema, value):
        return [(where, entry, schema.entry) for where, entry in _entries(value, path)]
    return []


def _given(value: object) -> dict[str, object]:
    """To give null is not to give it, as the API has it."""
    return {str(name): part for name, part in value.items() if part is not None} if isinstance(value, Mapping) else {}


def _entries(value: object, path: str) -> list[tuple[str, object]]:
    if isinstance(value, Mapping):
        return [(f"{path}.{name}", entry) for name, entry in value.items()]
    return [(f"{path}[{place}]", entry) for place, entry in enumerate(value)] if isinstance(value, Sequence) else []


def _faults_of_name(meta: Mapping[str, object]) -> Iterator[InvalidResource]:
    """Names become parts of paths in local mode, where no API server has looked at them."""
    for field in ("name", "namespace"):
        if meta.get(field) is not None:
            yield from _faults(dns_name(""), meta[field], f"metadata.{field}")
        elif field == "name":
            yield InvalidResource("metadata.name", "Required value")
    if len(str(meta.get("name"))) > MAX_NAME:
        yield InvalidResource("metadata.name", LONG_NAME)


def _shown(value: object) -> str:
    return _cut(ascii(value))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
