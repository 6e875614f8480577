"""Our kinds and others that we write, by their addresses, and as they come from the API."""

from collections.abc import Mapping

from hudi_operator.launch.cluster import Address, Manifest, Sort
from hudi_operator.resources.model import Ref
from hudi_operator.resources.parse import meta_of, parse
from hudi_operator.resources.tree import Tree
from hudi_operator.resources.unreadable import Stored, Unreadable
from hudi_operator.words import GROUP, VERSION, Kind

API_VERSION = f"{GROUP}/{VERSION}"
SORTS = {kind: Sort(API_VERSION, kind.plural) for kind in Kind}
LEASES = Sort("coordination.k8s.io/v1", "leases")
EVENTS = Sort("v1", "events")
SECRETS = Sort("v1", "secrets")
CONFIG_MAPS = Sort("v1", "configmaps")


def address_of(ref: Ref) -> Address:
    return Address(SORTS[ref.kind], ref.namespace, ref.name)


def resource_of(kind: Kind, manifest: Manifest) -> tuple[Stored, Mapping[str, object]]:
    """The resource and its status; `Unreadable` of what other CRDs than ours have let through."""
    tree = Tree(manifest)
    status = tree.within("status").tree
    try:
        # Lists leave out what all their items have in common.
        return parse({"apiVersion": API_VERSION, "kind": kind.value, **manifest}), status
    except ValueError as invalid:
        return Unreadable(meta_of(kind, tree.within("metadata")), str(invalid)), status
