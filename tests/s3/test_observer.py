"""Tables in a real S3 server are observed as on a disk."""

from dataclasses import replace

import pytest

from hudi_engine.cli.observer import Observer
from hudi_engine.clock import SystemClock
from hudi_engine.contract import ObserveRequest, TableSeen, TableUnseen, UnseenReason
from hudi_engine.storage.open import open_storage
from tests.s3.test_tables import put
from tools.s3_server import S3Server, s3_server


@pytest.mark.parametrize("name", ["v6_cow_indexed", "v9_mor_indexed"])
def test_a_table_is_seen_is_unchanged_and_a_change_is_seen(name: str, s3: S3Server, bucket: str) -> None:
    observer = Observer(SystemClock())
    request = ObserveRequest(1, put(s3, bucket, name), s3.options)

    before = observer.answer(request).found
    assert isinstance(before, TableSeen)
    known = replace(request, known=before.fingerprint)
    still = observer.answer(known).found
    folder = ".hoodie" if before.layout == 1 else ".hoodie/timeline"
    open_storage(request.table, s3.options).create(f"{folder}/20991231000000000.clean.requested", b"")
    after = observer.answer(known).found

    assert still is None
    assert isinstance(after, TableSeen)
    assert after.timeline.counts["clean/requested"] == 1


@pytest.mark.parametrize(
    ("table", "key", "value", "reason"),
    [
        ("s3a://no-such-bucket/table", "", "", UnseenReason.NOT_FOUND),
        ("s3a://{bucket}/nothing", "", "", UnseenReason.NOT_A_TABLE),
        ("s3a://{bucket}/table", "fs.s3a.secret.key", "wrong-secret", UnseenReason.ACCESS_DENIED),
        ("s3a://{bucket}/table", "fs.s3a.endpoint", "http://127.0.0.1:1", UnseenReason.STORAGE_UNAVAILABLE),
    ],
)
def test_a_table_that_cannot_be_seen_is_told_of_by_its_reason(
    table: str, key: str, value: str, reason: UnseenReason, s3: S3Server, bucket: str
) -> None:
    conf = {**s3.options, **({key: value} if key else {})}
    location = table.format(bucket=bucket.removeprefix("s3://"))

    found = Observer(SystemClock()).answer(ObserveRequest(1, location, conf)).found

    assert isinstance(found, TableUnseen)
    assert (found.reason, found.retry) == (reason, reason is UnseenReason.STORAGE_UNAVAILABLE)
    assert location in found.message
    assert "wrong-secret" not in found.message


def test_a_table_of_the_same_name_in_another_store_does_not_hide_a_change(s3: S3Server, bucket: str) -> None:
    """Of two tenants that name one location, with stores of their own behind it."""
    location = put(s3, bucket, "v9_mor_indexed")
    observer, victim = Observer(SystemClock()), ObserveRequest(1, location, s3.options)
    with s3_server() as theirs:
        put(theirs, theirs.make_bucket(bucket.removeprefix("s3://")), "v6_cow_indexed")
        other = ObserveRequest(2, location, theirs.options)

        elsewhere = observer.answer(other).found
        assert isinstance(elsewhere, TableSeen)
        before = observer.answer(victim).found
        assert isinstance(before, TableSeen)
        assert before.store != elsewhere.store
        open_storage(location, s3.options).create(".hoodie/timeline/20991231000000000.clean.requested", b"")
        assert isinstance(observer.answer(other).found, TableSeen)
        after = observer.answer(replace(victim, known=before.fingerprint)).found

    assert isinstance(after, TableSeen)
    assert after.timeline.counts["clean/requested"] == 1
