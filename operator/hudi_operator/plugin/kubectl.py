"""A cluster, seen and changed by running kubectl: its credentials, contexts and proxies are all it takes."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from hudi_operator.names import Annotation
from hudi_operator.plugin.documents import Document, Tree, document_of
from hudi_operator.plugin.place import CannotLook, NotThere, Surroundings
from hudi_operator.resources.model import Ref
from hudi_operator.words import GROUP, Kind

_SECONDS = 60
_LEASE = "hudi-operator"


@dataclass(frozen=True, slots=True)
class Cluster:
    """What kubectl sees with these options; `namespace` None: the context's own."""

    namespace: str | None = None
    context: str | None = None
    is_everywhere: bool = False

    def documents(self) -> list[Document]:
        kinds = ",".join(f"{kind.plural}.{GROUP}" for kind in Kind)
        listed = Tree(self._asked("get", kinds, *self._scope())).trees("items")
        found = (document_of(item.value) for item in listed)
        return [document for document in found if document is not None]

    def index(self, name: str) -> Document:
        kind = f"{Kind.INDEX.plural}.{GROUP}"
        found = document_of(self._asked("get", kind, name, *self._one()))
        if found is None:
            raise NotThere(f"kubectl answered with something else than the MetadataIndex {name}")
        return found

    def approve(self, ref: Ref, plan_hash: str) -> None:
        wish = f"{Annotation.APPROVE}={plan_hash}"
        here = ("--namespace", ref.namespace, *self._context())
        self._run("annotate", f"{Kind.INDEX.plural}.{GROUP}", ref.name, wish, "--overwrite", *here)

    def surroundings(self) -> Surroundings:
        """Leases of operators and the names of ConfigMaps for writers; None of what we may not look at."""
        return Surroundings(self._leases(), self._writer_maps())

    def _leases(self) -> tuple[Tree, ...] | None:
        chosen = ("--field-selector", f"metadata.name={_LEASE}", "--all-namespaces")
        try:
            listed = Tree(self._asked("get", "leases.coordination.k8s.io", *chosen, *self._context()))
        except CannotLook:
            return None
        return tuple(listed.trees("items"))

    def _writer_maps(self) -> frozenset[tuple[str, str]] | None:
        try:
            listed = Tree(self._asked("get", "configmaps", *self._scope())).trees("items")
        except CannotLook:
            return None
        return frozenset((each.text("metadata", "namespace"), each.text("metadata", "name")) for each in listed)

    def _scope(self) -> tuple[str, ...]:
        return ("--all-namespaces", *self._context()) if self.is_everywhere else self._one()

    def _one(self) -> tuple[str, ...]:
        return (*(("--namespace", self.namespace) if self.namespace else ()), *self._context())

    def _context(self) -> tuple[str, ...]:
        return ("--context", self.context) if self.context else ()

    def _asked(self, *arguments: str) -> dict[str, object]:
        printed = self._run(*arguments, "--output", "json")
        try:
            answer = json.loads(printed)
        except ValueError as broken:
            raise CannotLook(f"kubectl {' '.join(arguments)} printed no JSON: {printed[:200]!r}") from broken
        if not isinstance(answer, dict):
            raise CannotLook(f"kubectl {' '.join(arguments)} printed {printed[:200]!r}, expected a JSON object")
        return answer

    def _run(self, *arguments: str) -> str:
        program = shutil.which("kubectl")
        if program is None:
            raise CannotLook(
                "kubectl is not on the PATH: install it (kubernetes.io/docs/tasks/tools), or give --state, the "
                "state folder of a local operator"
            )
        try:
            done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired as late:
            raise CannotLook(f"kubectl {' '.join(arguments)} did not answer in {_SECONDS} s") from late
        if done.returncode == 0:
            return done.stdout
        raise _failure(arguments, done.stderr.strip())


def _failure(arguments: Sequence[str], said: str) -> CannotLook:
    if "(NotFound)" in said:
        return NotThere(said)
    if "the server doesn't have a resource type" in said:
        return CannotLook(f"{said}: the cluster does not have our kinds; kubectl apply -f crds/ brings them")
    return CannotLook(f"kubectl {' '.join(arguments)}: {said}")
