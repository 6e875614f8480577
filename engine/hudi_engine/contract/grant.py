"""What a program that asks for others lets the engine open for them."""

from dataclasses import dataclass

from hudi_engine.contract.fields import (
    MAX_LOCATION,
    Fields,
    a_claim,
    a_text,
    list_of,
    require_locations,
    require_name,
)

ANY = "*"
"""As a path or an endpoint of a grant: whatever is asked for."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Places at and below `path`. Requests go to one of `endpoints`, or to the store's own where none is asked for.

    Without `has_identity` requests are signed with keys of the request's own properties, or not at all. With it they
    are signed with what the engine's environment has.
    """

    path: str
    endpoints: tuple[str, ...] = ()
    has_identity: bool = False

    def __post_init__(self) -> None:
        require_name("grant.path", self.path, MAX_LOCATION)
        require_locations("grant.endpoints", self.endpoints)

    @staticmethod
    def of_tree(tree: object, what: str) -> "Grant":
        given = Fields.of(tree, what)
        grant = Grant(
            path=given.take("path", a_text),
            endpoints=tuple(given.take_or("endpoints", list_of(a_text), [])),
            has_identity=given.take_or("has_identity", a_claim, False),
        )
        given.require_no_more()
        return grant


def without_grant_of_none(tree: dict[str, object]) -> dict[str, object]:
    """An engine of an older release knows no such field, and runs have no grant in a pod of their own."""
    return {name: value for name, value in tree.items() if name != "grant" or value is not None}


def a_grant(tree: object, what: str) -> Grant:
    return Grant.of_tree(tree, what)
