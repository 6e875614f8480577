"""From the text of a file to the resources and secrets in it, with every fault that it has."""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from hudi_operator.resources.model import Ref
from hudi_operator.resources.parse import parse
from hudi_operator.resources.refusals import InvalidResource, faults_of
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
    faults = list(_faults_of(document))
    if not faults:
        assert isinstance(document, Mapping), "what is none has a fault"
        try:
            _add_legal(found, source, place, document)
        except InvalidResource as invalid:
            faults.append(invalid)
    for fault in faults:
        found.add_fault(source, place, str(fault))


def _faults_of(document: object) -> Iterator[InvalidResource]:
    """All that is wrong with a document by itself."""
    if not isinstance(document, Mapping):
        yield InvalidResource("document", f"found {type(document).__name__}, expected an object with a kind")
        return
    version, kind = document.get("apiVersion"), document.get("kind")
    if (version, kind) == ("v1", "Secret"):
        yield from _faults_of_secret(document)
    elif _is_of_ours(version):
        if version != f"{GROUP}/{VERSION}":
            yield InvalidResource("apiVersion", f"found {version!r}, expected {GROUP}/{VERSION}")
        if kind not in set(Kind):
            yield InvalidResource("kind", f"found {kind!r}, expected one of {', '.join(Kind)}")
        elif version == f"{GROUP}/{VERSION}":
            yield from faults_of(Kind(kind), document)
    elif not (isinstance(version, str) and isinstance(kind, str)):
        yield InvalidResource("apiVersion", f"found {version!r} and kind {kind!r}, expected {GROUP}/{VERSION}")


def _is_of_ours(version: object) -> bool:
    return isinstance(version, str) and version.partition("/")[0] == GROUP


def _add_legal(found: Found, source: Path, place: str, document: Mapping[str, object]) -> None:
    version, kind = document["apiVersion"], document["kind"]
    if (version, kind) == ("v1", "Secret"):
        _add_secret(found, document)
    elif _is_of_ours(version):
        _add_manifest(found, source, document)
    else:
        found.ignored.append(f"{place}: {kind} of {version}")


def _add_manifest(found: Found, source: Path, document: Mapping[str, object]) -> None:
    kind = Kind(str(document["kind"]))
    named = _named(document)
    # The API server alone gives these; what a file says of them is of another cluster.
    meta = {key: value for key, value in named.items() if key in {"name", "namespace", "labels", "annotations"}}
    tree = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind.value, "metadata": meta, "spec": document["spec"]}
    resource = parse(tree)
    before = found.manifests.get(resource.meta.ref)
    if before is not None:
        raise InvalidResource("metadata.name", f"{_shown(resource.meta.ref)} stands in {before.source.name} already")
    found.manifests[resource.meta.ref] = Manifest(resource.meta.ref, tree, source)


def _add_secret(found: Found, document: Mapping[str, object]) -> None:
    named = _named(document)
    ref = (str(named["namespace"]), str(named["name"]))
    if ref in found.secrets:
        raise InvalidResource("metadata.name", f"the Secret {ref[1]} is given twice")
    decoded = {key: base64.b64decode(value, validate=True) for key, value in _texts(document, "data").items()}
    found.secrets[ref] = decoded | {key: value.encode() for key, value in _texts(document, "stringData").items()}


def _named(document: Mapping[str, object]) -> dict[str, object]:
    named = document["metadata"]
    assert isinstance(named, Mapping), "a legal manifest"
    return {**named, "namespace": named.get("namespace") or DEFAULT_NAMESPACE}


def _faults_of_secret(document: Mapping[str, object]) -> Iterator[InvalidResource]:
    """No value is shown, whatever is wrong with it."""
    named = document.get("metadata")
    if not isinstance(named, Mapping):
        yield InvalidResource("metadata", "Required value")
    elif not isinstance(named.get("name"), str) or not named["name"]:
        yield InvalidResource("metadata.name", "Required value")
    for part in ("data", "stringData"):
        entries = document.get(part) or {}
        if not isinstance(entries, Mapping):
            yield InvalidResource(part, f"must be of type object, found {type(entries).__name__}")
            continue
        for key, value in entries.items():
            if not isinstance(key, str) or not isinstance(value, str):
                yield InvalidResource(f"{part}[{key}]", f"must be of type string, found {type(value).__name__}")
            elif part == "data" and not _is_base64(value):
                yield InvalidResource(f"data[{key}]", "no base64; text as it is belongs into stringData")


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except ValueError:
        return False
    return True


def _texts(document: Mapping[str, object], name: str) -> dict[str, str]:
    entries = document.get(name) or {}
    assert isinstance(entries, Mapping), "a legal manifest"
    return dict(entries)


def _shown(ref: Ref) -> str:
    return f"{ref.kind} {ref.namespace}/{ref.name}"
