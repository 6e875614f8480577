"""What stands where a resource should, and is none of ours to understand."""

from dataclasses import dataclass

from hudi_operator.resources.model import Meta, Resource


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A resource whose spec is none, written by other versions of the CRDs; `message` names the field.

    It is there all the same: its runs are its own, and who deletes it waits for its finalizer.
    """

    meta: Meta
    message: str


Stored = Resource | Unreadable
