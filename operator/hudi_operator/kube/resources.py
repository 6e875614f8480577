"""Our kinds and others that we write, by their addresses, and as they come from the API."""

import logging
from collections.abc import Mapping
from typing import cast

from hudi_operator.launch.cluster import Address, Manifest, Sort
from hudi_operator.resources.model import Ref, Resource
from hudi_operator.resources.parse import InvalidResource, parse
from hudi_operator.resources.tree import Tree
from hudi_operator.words import GROUP, VERSION, Kind

log = logging.getLogger(__name__)

API_VERSION = f"{GROUP}/{VERSION}"
SORTS = {kind: Sort(API_VERSION, kind.plural) for kind in Kind}
LEASES = Sort("coordination.k8s.io/v1", "leases")
EVENTS = Sort("v1", "events")
SECRETS = Sort("v1", "secrets")
CONFIG_MAPS = Sort("v1", "configmaps")


def address_of(ref: Ref) -> Address:
    return Address(SORTS[ref.kind], ref.namespace, ref.name)


def resource_of(kind: Kind, manifest: Manifest) -> tuple[Resource, Mapping[str, object]] | None:
    """The resource and its status; None, and a line in the log, of what the schema must have let through by mistake."""
    try:
        # Lists leave out what all their items have in common.
        resource = parse({"apiVersion": API_VERSION, "kind": kind.value, **manifest})
    except (InvalidResource, ValueError) as invalid:
        meta = cast(Mapping[str, object], manifest.get("metadata") or {})
        log.error("unreadable resource=%s/%s/%s error=%s", kind, meta.get("namespace"), meta.get("name"), invalid)
        return None
    return resource, Tree(manifest).within("status").tree
