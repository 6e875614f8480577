"""What an API server would know of a resource and a manifest cannot say, kept in a file for each resource."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from hudi_operator.local.manifests import Manifest
from hudi_operator.resources.model import Ref, Resource
from hudi_operator.resources.parse import parse
from hudi_operator.resources.refusals import InvalidResource, changes_of
from hudi_operator.words import Kind


@dataclass(frozen=True, slots=True)
class Kept:
    """One resource. `fulfilled` are annotations that the operator would have removed, with the values they had.

    The user's file is never written: an annotation with a value that is fulfilled is as if it were not there.
    """

    manifest: Manifest
    uid: str
    created_at: datetime
    generation: int = 1
    version: int = 1
    finalizers: tuple[str, ...] = ()
    deleting_since: datetime | None = None
    fulfilled: Mapping[str, str] = field(default_factory=dict)
    status: Mapping[str, object] = field(default_factory=dict)

    @property
    def ref(self) -> Ref:
        return self.manifest.ref

    @property
    def resource(self) -> Resource:
        return parse(self.tree())

    def tree(self) -> dict[str, object]:
        """As an API server would show it."""
        named = self.manifest.tree["metadata"]
        assert isinstance(named, Mapping), "a legal manifest"
        annotations = named.get("annotations") or {}
        left = {key: value for key, value in annotations.items() if self.fulfilled.get(key) != value}
        meta = {
            **named,
            "annotations": left,
            "uid": self.uid,
            "generation": self.generation,
            "resourceVersion": str(self.version),
            "creationTimestamp": _written(self.created_at),
            "finalizers": list(self.finalizers),
        }
        if self.deleting_since is not None:
            meta["deletionTimestamp"] = _written(self.deleting_since)
        return {**self.manifest.tree, "metadata": meta, "status": dict(self.status)}

    def file_text(self) -> str:
        given = {"source": str(self.manifest.source), "manifest": self.manifest.tree, "fulfilled": dict(self.fulfilled)}
        return json.dumps({**self.tree(), "given": given}, indent=1, default=str)

    @staticmethod
    def from_text(text: str) -> "Kept":
        """What `file_text` wrote; ValueError, KeyError or TypeError if it is something else."""
        tree = json.loads(text)
        meta, given = tree["metadata"], tree["given"]
        deleting = meta.get("deletionTimestamp")
        ref = Ref(Kind(tree["kind"]), meta["namespace"], meta["name"])
        return Kept(
            manifest=Manifest(ref, given["manifest"], Path(given["source"])),
            uid=meta["uid"],
            created_at=datetime.fromisoformat(meta["creationTimestamp"]),
            generation=meta["generation"],
            version=int(meta["resourceVersion"]),
            finalizers=tuple(meta["finalizers"]),
            deleting_since=datetime.fromisoformat(deleting) if deleting else None,
            fulfilled=given["fulfilled"],
            status=tree["status"],
        )


def applied(manifest: Manifest, before: Kept | None, now: datetime) -> Kept:
    """The resource after the manifest was given, which changes nothing that may not be changed.

    One that is being deleted stays so, as in a cluster: it is made anew once it is gone.
    """
    if before is None:
        return Kept(manifest, str(uuid.uuid4()), now.astimezone(UTC).replace(microsecond=0))
    if before.manifest.tree == manifest.tree:
        return replace(before, manifest=manifest)
    if before.deleting_since is not None:
        return before
    is_other_wish = before.manifest.tree["spec"] != manifest.tree["spec"]
    given = _annotations(manifest)
    return replace(
        before,
        manifest=manifest,
        generation=before.generation + is_other_wish,
        version=before.version + 1,
        fulfilled={name: value for name, value in before.fulfilled.items() if given.get(name) == value},
    )


def faults_of_change(manifest: Manifest, before: Kept | None) -> list[InvalidResource]:
    """Every change of the resource by this manifest that may not be."""
    if before is None or before.deleting_since is not None:
        return []
    return list(changes_of(before.manifest.tree, manifest.tree))


def deleted(before: Kept, now: datetime) -> Kept | None:
    """The resource after its manifest was taken away; None if nothing holds it back."""
    if not before.finalizers:
        return None
    if before.deleting_since is not None:
        return before
    gone_at = now.astimezone(UTC).replace(microsecond=0)
    return replace(before, deleting_since=gone_at, generation=before.generation + 1, version=before.version + 1)


def fulfilled(before: Kept, name: str) -> Kept:
    """The resource after the annotation was taken from it."""
    given = _annotations(before.manifest)
    if name not in given or before.fulfilled.get(name) == given[name]:
        return before
    return replace(before, version=before.version + 1, fulfilled={**before.fulfilled, name: given[name]})


def _annotations(manifest: Manifest) -> Mapping[str, str]:
    meta = manifest.tree["metadata"]
    assert isinstance(meta, Mapping), "a legal manifest"
    return meta.get("annotations") or {}


def _written(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")
