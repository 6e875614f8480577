"""The page about all fields of the three kinds."""

from collections.abc import Iterator

from hudi_operator.resources.schema.nodes import Schema, Type, rules_of
from hudi_operator.resources.schema.specs import SPECS
from hudi_operator.resources.schema.statuses import STATUSES
from hudi_operator.words import GROUP, VERSION, Kind
from tools.crd_names import NAMES

_HEAD = "| field | type | meaning |\n|---|---|---|\n"
_EXECUTION = "execution"


def reference() -> str:
    """In Markdown: what users write, what the operator says, and the sentences of what is refused."""
    text = (
        "# Resources\n\nAll fields of the three kinds, written by `python -m tools.crds` from the schemas of `crds/`. "
        f"API version `{GROUP}/{VERSION}`. Beside the bounds given here, each rule is checked by the API server when a "
        "manifest is applied and again by the operator; that takes Kubernetes 1.31 or later.\n"
    )
    for kind in Kind:
        names = NAMES[kind]
        text += f"\n## {kind} (`{names.short}`)\n\n{names.description}\n\n{_HEAD}{''.join(_rows(SPECS[kind], 'spec'))}"
        text += f"\nRules:\n\n{_listed(SPECS[kind], 'spec')}"
        text += f"\nStatus:\n\n{_HEAD}{''.join(_rows(STATUSES[kind], 'status'))}"
    execution = SPECS[Kind.TABLE].fields[_EXECUTION]
    rows = "".join(_rows(execution, f"spec.{_EXECUTION}"))
    text += "\n## How runs are carried out\n\nThe fields of `spec.execution`, the same on all kinds. Of each field the "
    text += f"resource's own beats its table's; maps are merged key by key.\n\n{_HEAD}{rows}"
    return text + f"\nRules:\n\n{_listed(execution, f'spec.{_EXECUTION}')}"


def _rows(schema: Schema, path: str) -> Iterator[str]:
    for name, of in schema.fields.items():
        here = f"{path}.{name}" + ("[]" if of.type is Type.LIST else "")
        yield f"| `{here}` | {_words(of, is_required=name in schema.required)} | {of.description} |\n"
        if name != _EXECUTION:
            yield from _rows(of if of.type is Type.OBJECT else of.entry or of, here)


def _words(schema: Schema, *, is_required: bool) -> str:
    entry = schema.entry.choices if schema.entry is not None else ()
    words = [" \\| ".join(f"`{choice}`" for choice in schema.choices or entry) or _type(schema)]
    if schema.type is Type.WHOLE and schema.most is not None:
        words.append(f"{schema.least} to {schema.most}")
    elif schema.most is not None:
        words.append(f"at most {schema.most}")
    if schema.default is not None:
        words.append(f"default `{str(schema.default).lower() if isinstance(schema.default, bool) else schema.default}`")
    return ", ".join([*words, *(["**required**"] if is_required else [])])


def _type(schema: Schema) -> str:
    return {
        Type.MAP: "map of texts",
        Type.FREE: "object of Kubernetes",
        Type.TEXT: schema.format or "text",
        Type.WHOLE: "whole number",
    }.get(schema.type, schema.type.value)


def _listed(schema: Schema, path: str) -> str:
    return "".join(f"* `{where}`: {message}\n" for where, message in _sentences(schema, path))


def _sentences(schema: Schema, path: str) -> Iterator[tuple[str, str]]:
    for rule in rules_of(schema):
        yield path, rule.message
    for name, of in schema.fields.items():
        if name != _EXECUTION:
            yield from _sentences(of, f"{path}.{name}")
    if schema.entry is not None:
        yield from _sentences(schema.entry, f"{path}[]")
