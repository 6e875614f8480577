"""From the text of a file to the resources and secrets in it, with every fault that it has."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from hudi_operator.resources.model import Ref
from hudi_operator.resources.parse import parse
from hudi_operator.resources.refusals import InvalidResource, refuse_if_illegal
from hudi_operator.words import GROUP, VERSION, Kind

DEFAULT_NAMESPACE = "default"

SecretRef = tuple[str, str]
"""Namespace and name."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A legal manifest of ours; `tree` has apiVersion, kind, metadata and spec, its namespace filled in."""

    ref: Ref
    tree: Mapping[str, object]
    source: Path


@dataclass(slots=True)
class Found:
    """What files hold. `ignored` are documents of kinds that are no concern of ours; a fault begins with its place."""

    manifests: dict[Ref, Manifest] = field(default_factory=dict)
    secrets: dict[SecretRef, Mapping[str, bytes]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    faulty: set[Path] = field(default_factory=set)

    def add_fault(self, source: Path, place: str, message: str) -> None:
        self.faults.append(f"{place}: {message}")
        self.faulty.add(source)


def add_text(found: Found, source: Path, text: str) -> None:
    """Adds what the documents of one file hold, each with its faults."""
    try:
        documents = list(enumerate(yaml.safe_load_all(text), start=1))
    except (yaml.YAMLError, ValueError) as unreadable:
        # What follows a document that is no YAML cannot be told apart from it.
        found.add_fault(source, str(source), " ".join(f"no YAML: {unreadable}".split()))
        return
    for number, document in documents:
        if document is not None:
            _add(found, source, f"{source}, document {number}", document)


def _add(found: Found, source: Path, place: str, document: object) -> None:
    try:
        if not isinstance(document, Mapping):
            raise InvalidResource("document", f"found {type(document).__name__}, expected an object with a kind")
        version, kind = document.get("apiVersion"), document.get("kind")
        if (version, kind) == ("v1", "Secret"):
            _add_secret(found, document)
        elif isinstance(version, str) and version.partition("/")[0] == GROUP:
            _add_manifest(found, source, document)
        elif isinstance(version, str) and isinstance(kind, str):
            found.ignored.append(f"{place}: {kind} of {version}")
        else:
            raise InvalidResource("apiVersion", f"found {version!r} and kind {kind!r}, expected {GROUP}/{VERSION}")
    except InvalidResource as invalid:
        found.add_fault(source, place, str(invalid))


def _add_manifest(found: Found, source: Path, document: Mapping[str, object]) -> None:
    if document.get("kind") not in set(Kind):
        raise InvalidResource("kind", f"found {document.get('kind')!r}, expected one of {', '.join(Kind)}")
    kind = Kind(str(document["kind"]))
    refuse_if_illegal(kind, document)
    named = _named(document)
    # The API server alone gives these; what a file says of them is of another cluster.
    meta = {key: value for key, value in named.items() if key in {"name", "namespace", "labels", "annotations"}}
    tree = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind.value, "metadata": meta, "spec": document["spec"]}
    resource = parse({**tree, "apiVersion": document["apiVersion"]})
    before = found.manifests.get(resource.meta.ref)
    if before is not None:
        raise InvalidResource("metadata.name", f"{_shown(resource.meta.ref)} stands in {before.source.name} already")
    found.manifests[resource.meta.ref] = Manifest(resource.meta.ref, tree, source)


def _add_secret(found: Found, document: Mapping[str, object]) -> None:
    named = _named(document)
    name = named.get("name")
    if not isinstance(name, str) or not name:
        raise InvalidResource("metadata.name", "Required value")
    ref = (str(named["namespace"]), name)
    if ref in found.secrets:
        raise InvalidResource("metadata.name", f"the Secret {name} is given twice")
    found.secrets[ref] = dict([*_decoded(document), *_encoded(document)])


def _named(document: Mapping[str, object]) -> dict[str, object]:
    named = document.get("metadata")
    if not isinstance(named, Mapping):
        raise InvalidResource("metadata", "Required value")
    return {**named, "namespace": named.get("namespace") or DEFAULT_NAMESPACE}


def _decoded(document: Mapping[str, object]) -> Iterator[tuple[str, bytes]]:
    for key, value in _entries(document, "data").items():
        try:
            yield key, base64.b64decode(value, validate=True)
        except binascii.Error:
            # The value itself is not shown.
            raise InvalidResource(f"data[{key}]", "no base64; text as it is belongs into stringData") from None


def _encoded(document: Mapping[str, object]) -> Iterator[tuple[str, bytes]]:
    return ((key, value.encode()) for key, value in _entries(document, "stringData").items())


def _entries(document: Mapping[str, object], name: str) -> dict[str, str]:
    entries = document.get(name) or {}
    if not isinstance(entries, Mapping):
        raise InvalidResource(name, f"must be of type object, found {type(entries).__name__}")
    for key, value in entries.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise InvalidResource(f"{name}[{key}]", f"must be of type string, found {type(value).__name__}")
    return dict(entries)


def _shown(ref: Ref) -> str:
    return f"{ref.kind} {ref.namespace}/{ref.name}"
