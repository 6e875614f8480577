"""The schema and what is made of a manifest have the same fields, and `crds/` is that schema."""

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from hudi_operator.resources.model import Resource
from hudi_operator.resources.parse import parse
from hudi_operator.resources.refusals import refuse_if_changed
from hudi_operator.resources.schema.nodes import Schema, Type
from hudi_operator.resources.schema.specs import SPECS
from hudi_operator.resources.schema.statuses import STATUSES
from hudi_operator.words import Kind
from tests.kit.admission.edits import edits_of, leaves, random_edits, ways_to_set
from tests.kit.admission.manifests import manifest
from tools.crds import ROOT, definition, files

_LEAVES = [(kind, path) for kind in Kind for path in leaves(kind)]


@pytest.mark.parametrize(("kind", "path"), _LEAVES, ids=str)
def test_each_field_of_the_schema_makes_a_difference(kind: Kind, path: str) -> None:
    made = [_spec(parse(manifest(kind, edits))) for edits in ways_to_set(kind, path)]

    assert all(one != another for one, another in pairwise(made))
    assert len(made) > 1 or path == "spec.type"


def test_each_field_of_the_values_can_be_set() -> None:
    varied: dict[str, set[str]] = {}

    for kind, path in _LEAVES:
        for edits in ways_to_set(kind, path):
            for name, found in _flat(kind.value, parse(manifest(kind, edits))):
                varied.setdefault(name, set()).add(repr(found))

    single = [name for name, found in varied.items() if len(found) == 1]
    # A part that can be left out is None, else its own fields are looked at.
    never = {name for name in single if not any(other.startswith(f"{name}.") for other in varied)}
    assert never == {"TableService.type"}


@pytest.mark.parametrize("kind", Kind)
def test_every_edit_by_itself_is_legal(kind: Kind) -> None:
    standing = manifest(kind)

    for edits in edits_of(kind):
        new = manifest(kind, edits)
        parse(new)
        refuse_if_changed(standing, new)


def test_two_hundred_random_edits_are_legal_one_after_another() -> None:
    standing: dict[Kind, dict[str, object]] = {}

    for kind, new in random_edits(seed=6, count=200):
        parse(new)
        refuse_if_changed(standing.get(kind, new), new)
        standing[kind] = new

    assert set(standing) == set(Kind)


def test_what_stands_in_crds_and_docs_is_what_the_schemas_make() -> None:
    written = {path: path.read_text() for path in files()}

    assert written == files(), "run: python -m tools.crds"
    assert {path.name for path in Path(ROOT, "crds").iterdir()} == {f"{kind.plural}.yaml" for kind in Kind}


@pytest.mark.parametrize("kind", Kind)
def test_a_crd_stays_far_below_what_one_annotation_holds_however_it_is_written(kind: Kind) -> None:
    assert len(json.dumps(definition(kind), separators=(",", ":"))) < 30_000
    assert len(json.dumps(definition(kind))) < 30 << 10


@pytest.mark.parametrize("kind", Kind)
def test_each_field_is_described_and_each_text_and_list_is_bounded(kind: Kind) -> None:
    for path, schema in (*_all(SPECS[kind], "spec"), *_all(STATUSES[kind], "status")):
        assert schema.description, path
        bounded = schema.most or schema.choices or schema.format
        assert bounded or schema.type not in (Type.TEXT, Type.LIST, Type.MAP), path


@pytest.mark.parametrize("kind", Kind)
def test_an_execution_has_no_defaults_for_they_would_beat_the_tables(kind: Kind) -> None:
    of = dict(_all(SPECS[kind], "spec"))

    assert [path for path, schema in of.items() if "execution" in path and schema.default is not None] == []


@pytest.mark.parametrize("kind", Kind)
def test_a_default_of_the_schema_is_what_is_read_where_nothing_is_given(kind: Kind) -> None:
    defaults = {path: schema.default for path, schema in leaves(kind).items() if schema.default is not None}

    assert parse(manifest(kind, defaults)) == parse(manifest(kind))
    assert defaults


def test_all_examples_are_legal() -> None:
    documents = [
        tree for file in Path(ROOT, "examples").glob("*.yaml") for tree in yaml.safe_load_all(file.read_text())
    ]
    ours = [parse(tree) for tree in documents if tree["kind"] != "Secret"]

    assert {resource.meta.ref.kind for resource in ours} == set(Kind)
    assert [tree["metadata"]["name"] for tree in documents if tree["kind"] == "Secret"] == ["lake"]


def _spec(resource: Resource) -> dict[str, object]:
    return dict(_flat("", resource))


def _flat(path: str, value: object) -> Iterator[tuple[str, object]]:
    """The fields of a resource but those of its metadata, by their paths."""
    if not is_dataclass(value):
        yield path, value
        return
    for field in fields(value):
        if field.name != "meta":
            yield from _flat(f"{path}.{field.name}", getattr(value, field.name))


def _all(schema: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    for name, of in schema.fields.items():
        yield f"{path}.{name}", of
        yield from _all(of, f"{path}.{name}")
        if of.entry is not None:
            yield from _all(of.entry, f"{path}.{name}[]")
