"""Events as users see them with `kubectl describe`: the same is counted, and no resource can flood the cluster."""

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256

from hudi_operator.kube.client import FIELD_MANAGER, Client
from hudi_operator.kube.errors import ApiError
from hudi_operator.kube.resources import API_VERSION, EVENTS
from hudi_operator.launch.cluster import Address, AlreadyThere, Forbidden, Manifest
from hudi_operator.reconcile.home import Event
from hudi_operator.resources.tree import Tree
from hudi_operator.resources.unreadable import Stored

log = logging.getLogger(__name__)

# A resource has so many events at once, and one more every so many seconds.
_BURST, _REFILL_SECONDS = 25.0, 60.0
_MAX_MESSAGE, _MAX_BUCKETS = 1_024, 2_000


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: datetime


@dataclass(slots=True)
class Recorder:
    """Telling never fails: an event is no reason not to go on."""

    client: Client
    now: Callable[[], datetime]
    instance: str
    _buckets: OrderedDict[str, _Bucket] = field(default_factory=OrderedDict)

    async def tell(self, resource: Stored, event: Event) -> None:
        meta = resource.meta
        if not self._has_token(meta.uid):
            log.info("event left out resource=%s/%s reason=%s", meta.ref.namespace, meta.ref.name, event.reason)
            return
        manifest = self._manifest(resource, event)
        address = Address(EVENTS, meta.ref.namespace, event_name(resource, event))
        try:
            await self._record(address, manifest)
        except (ApiError, Forbidden) as refused:
            log.info("event not told resource=%s/%s error=%s", meta.ref.namespace, meta.ref.name, refused)

    async def _record(self, address: Address, manifest: Manifest) -> None:
        try:
            await self.client.create(address, manifest)
        except AlreadyThere:
            before = await self.client.find(address)
            if before is not None:
                count = Tree(before).whole_or("count", 1) + 1
                await self.client.patch(address, {"count": count, "lastTimestamp": manifest["lastTimestamp"]})

    def _manifest(self, resource: Stored, event: Event) -> Manifest:
        ref, at = resource.meta.ref, self.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": event_name(resource, event), "namespace": ref.namespace},
            "involvedObject": {
                "apiVersion": API_VERSION,
                "kind": ref.kind.value,
                "namespace": ref.namespace,
                "name": ref.name,
                "uid": resource.meta.uid,
            },
            "type": event.type,
            "reason": event.reason,
            "message": event.message[:_MAX_MESSAGE],
            "count": 1,
            "firstTimestamp": at,
            "lastTimestamp": at,
            "source": {"component": FIELD_MANAGER, "host": self.instance},
            "reportingComponent": FIELD_MANAGER,
            "reportingInstance": self.instance,
        }

    def _has_token(self, uid: str) -> bool:
        now = self.now()
        bucket = self._buckets.pop(uid, None) or _Bucket(_BURST, now)
        refilled = (now - bucket.at).total_seconds() / _REFILL_SECONDS
        bucket = _Bucket(min(_BURST, bucket.tokens + refilled), now)
        self._buckets[uid] = bucket
        if len(self._buckets) > _MAX_BUCKETS:
            self._buckets.popitem(last=False)
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True


def event_name(resource: Stored, event: Event) -> str:
    """The same for what is to be counted as the same."""
    said = "/".join((resource.meta.uid, event.type, event.reason, event.message))
    return f"{resource.meta.ref.name}.{sha256(said.encode()).hexdigest()[:16]}"
