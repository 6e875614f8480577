"""Writes `crds/`, the chart's copies and `docs/resources.md` from the schemas in `hudi_operator.resources.schema`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from hudi_operator.resources.refusals import LONG_NAME
from hudi_operator.resources.schema.nodes import ChangeRule, Rule, Schema, Type, rules_of
from hudi_operator.resources.schema.specs import SPECS
from hudi_operator.resources.schema.statuses import STATUSES
from hudi_operator.resources.schema.values import MAX_NAME
from hudi_operator.words import GROUP, VERSION, Kind
from tools.crd_names import NAMES, Column
from tools.resource_page import reference

ROOT: Final = Path(__file__).parents[1]

_TYPES: Final[Mapping[Type, Mapping[str, object]]] = {
    Type.MAP: {"type": "object"},
    Type.FREE: {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    Type.QUANTITY: {"x-kubernetes-int-or-string": True},
}
_BOUNDS: Final = {
    Type.TEXT: ("minLength", "maxLength"),
    Type.WHOLE: ("minimum", "maximum"),
    Type.LIST: ("minItems", "maxItems"),
    Type.MAP: ("minProperties", "maxProperties"),
}


def definition(kind: Kind) -> dict[str, object]:
    """The CustomResourceDefinition of that kind."""
    names = NAMES[kind]
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [_column(column) for column in names.columns],
        **({"selectableFields": [{"jsonPath": path} for path in names.selectable]} if names.selectable else {}),
        "schema": {"openAPIV3Schema": _root(kind)},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.value,
                "listKind": f"{kind.value}List",
                "plural": kind.plural,
                "singular": kind.value.lower(),
                "shortNames": [names.short],
                "categories": ["hudi"],
            },
            "versions": [version],
        },
    }


def files() -> dict[Path, str]:
    """What is to stand in which file."""
    folders = (ROOT / "crds", ROOT / "charts/hudi-operator/files/crds")
    crds = {folder / f"{kind.plural}.yaml": _yaml(definition(kind)) for folder in folders for kind in Kind}
    return {**crds, ROOT / "docs" / "resources.md": reference()}


def _root(kind: Kind) -> dict[str, object]:
    return {
        "type": "object",
        "description": NAMES[kind].description,
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": _schema(SPECS[kind]),
            "status": _schema(STATUSES[kind]),
        },
        "x-kubernetes-validations": [{"rule": f"size(self.metadata.name) <= {MAX_NAME}", "message": LONG_NAME}],
    }


def _column(column: Column) -> dict[str, object]:
    shown: dict[str, object] = {"name": column.name, "type": column.type, "jsonPath": column.path}
    return {**shown, "priority": 1} if column.is_wide else shown


def _schema(schema: Schema, *, is_told: bool = True) -> dict[str, object]:
    made: dict[str, object] = {"description": schema.description} if schema.description and is_told else {}
    made |= _TYPES.get(schema.type, {"type": schema.type.value})
    made |= _details(schema)
    is_told = is_told and not schema.is_terse
    if schema.fields:
        made["properties"] = {name: _schema(of, is_told=is_told) for name, of in schema.fields.items()}
    if schema.entry is not None:
        entry = _schema(schema.entry, is_told=is_told)
        made["items" if schema.type is Type.LIST else "additionalProperties"] = entry
    if schema.rules or schema.changes:
        made["x-kubernetes-validations"] = [_rule(rule) for rule in rules_of(schema)]
    return made


def _details(schema: Schema) -> dict[str, object]:
    least = schema.least if schema.type is Type.WHOLE else schema.least or None
    given = {
        **dict(zip(_BOUNDS.get(schema.type, ()), (least, schema.most), strict=False)),
        "format": schema.format or None,
        "enum": list(schema.choices) or None,
        "required": list(schema.required) or None,
        "default": _default(schema),
        "x-kubernetes-list-type": _list_type(schema),
        "x-kubernetes-list-map-keys": list(schema.keys) or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _default(schema: Schema) -> object:
    """Without {} above it a default is not filled in."""
    return (
        {} if any(of.default is not None for of in schema.fields.values()) and not schema.required else schema.default
    )


def _list_type(schema: Schema) -> str | None:
    if schema.type is Type.LIST:
        return "map" if schema.keys else "set" if schema.is_set else None  # atomic
    return None


def _rule(rule: Rule | ChangeRule) -> dict[str, object]:
    return {"rule": rule.cel, "message": rule.message}


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _yaml(tree: Mapping[str, object]) -> str:
    dumped: str = yaml.dump(tree, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=False)
    return f"# Written by `python -m tools.crds`.\n{dumped}"


def main() -> None:
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
