"""Names of runs, and of the labels, annotations and finalizers that bear the group's name: each spelt here only."""

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256

from hudi_engine.contract import Action
from hudi_operator.resources.model import Meta
from hudi_operator.words import GROUP, Kind

# What stays of a resource's name: Spark allows 47 characters before what it adds to the names of executors.
LONGEST_RESOURCE_NAME = 36
FINALIZER = f"{GROUP}/drop"


class Annotation(StrEnum):
    """Wishes that a user writes on a resource. The first two are removed once they are fulfilled or cannot be."""

    APPROVE = f"{GROUP}/approve"  # the hash of the plan to carry out
    STOP = f"{GROUP}/stop"  # the run to end
    PAUSE = f"{GROUP}/pause-reconciliation"  # "true": nothing is done, whatever happens


class Label(StrEnum):
    """On what runs leave in a cluster. Owners are found by uid, people look for names."""

    TABLE = f"{GROUP}/table"
    INDEX = f"{GROUP}/index"
    SERVICE = f"{GROUP}/service"
    OWNER = f"{GROUP}/owner-uid"
    RUN = f"{GROUP}/run"
    ACTION = f"{GROUP}/action"
    TRIGGER = f"{GROUP}/trigger"
    ATTEMPT = f"{GROUP}/attempt"
    BASE_PATH = f"{GROUP}/base-path"
    KINDS = f"{GROUP}/kinds"
    ENDED = f"{GROUP}/ended"
    HINDERED = f"{GROUP}/hindered"
    EXECUTOR_TEMPLATE = f"{GROUP}/executor-template"


def run_name(meta: Meta, action: Action, trigger: str, attempt: int) -> str:
    """The one name of this attempt, of at most 47 characters: whoever orders it again orders the same run."""
    ref = meta.ref
    identity = "/".join((ref.namespace, ref.name, meta.uid, action, trigger, str(attempt)))
    return f"{ref.name[:LONGEST_RESOURCE_NAME].rstrip('-.')}-{digest(identity)}"


def digest(text: str) -> str:
    """Ten letters that stand for the text, fit for any name or label."""
    return sha256(text.encode()).hexdigest()[:10]


def approved_hash(annotations: Mapping[str, str]) -> str | None:
    return annotations.get(Annotation.APPROVE, "").strip() or None


def is_paused(annotations: Mapping[str, str]) -> bool:
    return annotations.get(Annotation.PAUSE, "").strip().lower() == "true"


def owner_label(kind: Kind) -> Label:
    """The label under which the owner's name stands."""
    return {Kind.TABLE: Label.TABLE, Kind.INDEX: Label.INDEX, Kind.SERVICE: Label.SERVICE}[kind]
