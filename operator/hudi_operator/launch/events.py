"""Why a run has no pod, or a pod that does not start, as the events of the Job and of the pod tell."""

import re
from collections.abc import Sequence

from hudi_operator.launch.cluster import Manifest
from hudi_operator.launch.pod_sight import Trouble, cut
from hudi_operator.resources.tree import Tree

# The Job controller's word for a pod that the API server refuses, and the kubelet's for a volume that it cannot make.
_TELLING = ("FailedCreate", "FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox")
# What is missing, in the words of the API server's admission and of the kubelet.
_MISSING = (
    (re.compile(r'serviceaccount "[^"]+" not found'), "ServiceAccountMissing"),
    (re.compile(r'secret "[^"]+" not found'), "SecretMissing"),
    (re.compile(r'configmap "[^"]+" not found'), "ConfigMapMissing"),
    (re.compile(r"exceeded quota|failed quota"), "QuotaExceeded"),
)


def trouble_in(events: Sequence[Manifest]) -> Trouble | None:
    """The newest that says what is wrong; None if none does."""
    told = [event for event in map(Tree, events) if event.text_or("reason", "") in _TELLING]
    if not told:
        return None
    newest = max(told, key=_at)
    message = newest.text_or("message", "")
    return Trouble(missing_in(message) or newest.text("reason"), cut(message))


def missing_in(message: str) -> str:
    """One word for what the message says is missing; empty if the message names nothing."""
    return next((word for pattern, word in _MISSING if pattern.search(message)), "")


def _at(event: Tree) -> str:
    """Times of the API are of one form, and so their texts are in their order."""
    series = event.within("series").text_or("lastObservedTime", "")
    last = event.text_or("lastTimestamp", "") or series or event.text_or("eventTime", "")
    return last or event.within("metadata").text_or("creationTimestamp", "")
