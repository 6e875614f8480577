"""The Lease that makes one operator the leader; after client-go's leader election."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from hudi_operator.kube.client import Client
from hudi_operator.kube.errors import ApiError
from hudi_operator.kube.resources import LEASES
from hudi_operator.launch.cluster import Address, AlreadyThere, Forbidden, Manifest
from hudi_operator.resources.tree import Tree

log = logging.getLogger(__name__)

NAME = "hudi-operator"


class LeaseLost(Exception):
    """Another may lead by now."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Others wait for `duration` after the last renewal that they saw; the holder gives up after `deadline`."""

    duration_seconds: float = 15.0
    deadline_seconds: float = 10.0
    retry_seconds: float = 2.0


@dataclass(slots=True)
class Lease:
    """`identity` is unique to this process. Clocks are never compared: what counts is how long we saw no change."""

    client: Client
    namespace: str
    identity: str
    now: Callable[[], datetime]
    terms: Terms = Terms()
    seconds: Callable[[], float] = time.monotonic
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    _renewed_at: float | None = None
    _seen: Manifest | None = None
    _seen_at: float = 0.0
    _is_doubtful: bool = True

    def is_held(self) -> bool:
        """For sure, for as long as a request takes beyond this moment."""
        if self._renewed_at is None:
            return False
        return self.seconds() - self._renewed_at < self.terms.deadline_seconds

    async def acquire(self) -> None:
        """When it returns the Lease is ours."""
        log.info("waiting lease=%s/%s identity=%s", self.namespace, NAME, self.identity)
        while not await self._tried():
            await self.pause(self.terms.retry_seconds)
        log.info("leading lease=%s/%s identity=%s", self.namespace, NAME, self.identity)

    async def keep(self) -> None:
        """Renews it until it is lost."""
        while True:
            await self.pause(self.terms.retry_seconds)
            await self._tried()
            if not self.is_held():
                raise LeaseLost(f"the Lease {self.namespace}/{NAME} could not be renewed in time, or another has it")

    async def release(self) -> None:
        """So that the next one need not wait."""
        if not self.is_held() or self._seen is None:
            return
        spec = dict(Tree(self._seen).within("spec").tree) | {"holderIdentity": "", "leaseDurationSeconds": 1}
        try:
            async with asyncio.timeout(self.terms.retry_seconds):
                await self.client.replace(self._address, {**self._seen, "spec": spec})
        except (ApiError, TimeoutError) as failed:
            log.info("lease not released error=%s", failed)
        self._renewed_at = None

    @property
    def _address(self) -> Address:
        return Address(LEASES, self.namespace, NAME)

    async def _tried(self) -> bool:
        """Whether it is ours now. A try that takes long is none: what it did, the next one sees."""
        asked_at = self.seconds()
        try:
            async with asyncio.timeout(self.terms.deadline_seconds / 2):
                written = await self._written()
        except (ApiError, AlreadyThere, Forbidden, TimeoutError) as failed:
            log.warning("lease not written error=%s", str(failed) or type(failed).__name__)
            # It may have been written all the same, or by another.
            self._is_doubtful = True
            return False
        if written is None:
            self._renewed_at = None
            return False
        self._seen, self._renewed_at, self._is_doubtful = written, asked_at, False
        return True

    async def _written(self) -> Manifest | None:
        found = self._seen if self.is_held() and not self._is_doubtful else await self.client.find(self._address)
        if found is None:
            return await self.client.create(self._address, self._manifest({}, transitions=0))
        if not self._may_take(found):
            return None
        spec = Tree(found).within("spec")
        is_ours = spec.text_or("holderIdentity", "") == self.identity
        transitions = spec.whole_or("leaseTransitions", 0) + (0 if is_ours else 1)
        return await self.client.replace(self._address, self._manifest(found, transitions))

    def _may_take(self, found: Manifest) -> bool:
        clock = self.seconds()
        spec = Tree(found).within("spec")
        holder = spec.text_or("holderIdentity", "")
        if holder in ("", self.identity):
            return True
        if self._seen is None or _version(self._seen) != _version(found):
            self._seen, self._seen_at = found, clock
        return clock - self._seen_at > spec.whole_or("leaseDurationSeconds", int(self.terms.duration_seconds))

    def _manifest(self, found: Manifest, transitions: int) -> Manifest:
        now = self.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        before = Tree(found).within("spec")
        is_ours = before.text_or("holderIdentity", "") == self.identity
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": found.get("metadata") or {"name": NAME, "namespace": self.namespace},
            "spec": {
                "holderIdentity": self.identity,
                "leaseDurationSeconds": int(self.terms.duration_seconds),
                "acquireTime": before.text_or("acquireTime", now) if is_ours else now,
                "renewTime": now,
                "leaseTransitions": transitions,
            },
        }


def _version(lease: Manifest) -> str:
    return Tree(lease).within("metadata").text_or("resourceVersion", "")
