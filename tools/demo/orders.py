"""The table of the demo, as its writer and its judge both know it."""

from collections.abc import Iterable

KEYS_AT_FIRST = 100_000
# Orders come in batches of one region each.
BATCH = 100
REGIONS = ("east", "north", "south", "west")
LOCK = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "200",
    "hoodie.write.lock.client.num_retries": "1250",
}
# No setting of an index, and Hudi's own default: this job's commit takes the index for unwanted and deletes it.
WRONG_SETTINGS: dict[str, str] = {}


def key_of(number: int) -> str:
    return f"order-{number:09}"


def region_of(number: int) -> str:
    return REGIONS[number // BATCH % len(REGIONS)]


def wrong_places(found: Iterable[tuple[str, str | None]], keys: int) -> list[str]:
    """Those of the first so many keys that are not found, or in another region than the writer put them into."""
    places = dict(found)
    return [key_of(number) for number in range(keys) if places.get(key_of(number)) != region_of(number)]
