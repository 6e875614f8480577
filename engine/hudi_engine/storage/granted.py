"""A grant, held against all properties of a request: those that come from a Secret are known here and not before."""

import os
from collections.abc import Mapping

from hudi_engine.contract import ANY, Grant, is_within, place_of
from hudi_engine.errors import NotAllowed
from hudi_engine.storage.hadoop_options import ACCESS_KEY, ENDPOINT, UNSIGNED, endpoint_of, with_scheme

_WAY_OUT = "Ask whoever runs the operator to change its policy"


def granted(location: str, options: Mapping[str, str], grant: Grant) -> Mapping[str, str]:
    """The options by which the location may be opened; `NotAllowed` if the grant does not cover it."""
    _require_place(location, grant)
    endpoint = endpoint_of(options)
    if endpoint and ANY not in grant.endpoints and endpoint not in map(with_scheme, grant.endpoints):
        allowed = ", ".join(grant.endpoints) or "none, that is the store's own"
        raise NotAllowed(
            f"{location}: {ENDPOINT} is {endpoint}, and the operator's policy allows {allowed}. {_WAY_OUT}"
        )
    if not grant.has_identity:
        return {**options, UNSIGNED: "true"}
    if options.get(ACCESS_KEY):
        # Half of the environment's identity would be mixed with these keys: a session token, say.
        raise NotAllowed(
            f"{location}: {ACCESS_KEY} is set, and the operator's policy opens this place with the operator's own "
            f"identity. Remove the keys from the Secret. {_WAY_OUT} if they are to be used"
        )
    return options


def _require_place(location: str, grant: Grant) -> None:
    if grant.path == ANY:
        return
    place, folder = place_of(location), place_of(grant.path)
    # A link inside of the folder leads out of it.
    is_local = place.startswith("/")
    is_inside = is_within(place, folder) and (
        not is_local or is_within(os.path.realpath(place), os.path.realpath(folder))
    )
    if not is_inside:
        raise NotAllowed(f"{location}: the operator's policy allows places below {grant.path} only. {_WAY_OUT}")
