"""The state folder of `hudi-operator local`, which keeps of each resource what an API server would show."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hudi_operator.names import Annotation
from hudi_operator.plugin.documents import Document, document_of
from hudi_operator.plugin.place import CannotLook, NotThere, Refused, Surroundings
from hudi_operator.resources.model import Ref
from hudi_operator.words import Kind


@dataclass(frozen=True, slots=True)
class Folder:
    """Looked at without the operator's help, and whether it runs or not. `namespace` None: all of them."""

    state: Path
    namespace: str | None = None

    def documents(self) -> list[Document]:
        if not self.state.is_dir():
            raise CannotLook(f"{self.state}: no such folder; --state is what hudi-operator local was given")
        found = [_read(file) for file in sorted(self.state.glob(f"resources/*/{self.namespace or '*'}/*.json"))]
        return [document for document in found if document is not None]

    def index(self, name: str) -> Document:
        for document in self.documents():
            if (document.ref.kind, document.ref.name) == (Kind.INDEX, name):
                return document
        raise NotThere(f"{self.state} has no MetadataIndex {name}")

    def approve(self, ref: Ref, plan_hash: str) -> None:
        """In local mode a manifest is the user's file, which no program of ours writes: always `Refused`."""
        source = next(
            (each.tree.text("given", "source") for each in self.documents() if each.ref == ref), "the index's manifest"
        )
        raise Refused(
            f"in local mode wishes stand in the manifest: write '{Annotation.APPROVE}: \"{plan_hash}\"' below "
            f"metadata.annotations in {source}"
        )

    def surroundings(self) -> Surroundings:
        """There is no lease: one operator has the folder, by a lock."""
        maps = self.state.glob("configmaps/*/*")
        return Surroundings(leases=(), writer_maps=frozenset((each.parent.name, each.name) for each in maps))


def _read(file: Path) -> Document | None:
    """None of what is gone meanwhile, or no resource."""
    try:
        tree = json.loads(file.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as unreadable:
        raise CannotLook(f"{file}: {unreadable}") from unreadable
    return document_of(tree) if isinstance(tree, Mapping) else None
