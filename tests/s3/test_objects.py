"""Object storage on a real S3 server: promises, races, names, lost answers, refusals."""

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from pyarrow import fs

from hudi_engine.clock import HandClock
from hudi_engine.errors import (
    AccessDenied,
    AlreadyExists,
    Contradiction,
    EngineError,
    NotFound,
    OutcomeUnknown,
    StorageUnavailable,
    UnsafePath,
)
from hudi_engine.storage.open import open_storage
from hudi_engine.storage.protocol import Storage
from hudi_engine.table.properties_file import MAIN, read_properties, update_properties
from tests.kit.create_race import run_race
from tests.kit.storage_contract import AWKWARD_NAMES, PROMISES
from tests.s3.lossy_proxy import LossyProxy, Mishap
from tools.s3_server import S3Server

GOLDEN = Path(__file__).parents[1] / "golden" / "v6_cow_orders"


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
@pytest.mark.parametrize("base", ["", "/tables/a b%20#é"])
def test_a_bucket_keeps_the_promise_that(
    promise: Callable[[Storage], None], base: str, s3: S3Server, bucket: str
) -> None:
    promise(open_storage(bucket + base, s3.options))


def test_of_two_processes_that_create_the_same_names_one_wins_each_and_the_other_is_told(
    s3: S3Server, bucket: str
) -> None:
    race = run_race(bucket, s3.options, rounds=500)

    assert set(race.told) == {("won", "lost"), ("lost", "won")}
    storage = open_storage(bucket, s3.options)
    for number, (first, _) in enumerate(race.told):
        assert storage.read(f"race/{number}") == (b"A" if first == "won" else b"B") * 2000


def test_keys_are_the_paths_characters_and_nothing_else(s3: S3Server, bucket: str) -> None:
    storage = open_storage(f"{bucket}/base %41", s3.options)
    for name in AWKWARD_NAMES:
        storage.create(f"f/{name}", b"ours")

    found = {path.name for path in (s3.folder / bucket.removeprefix("s3://") / "base %41/f").iterdir()}

    assert found == set(AWKWARD_NAMES)


def another_client(s3: S3Server) -> fs.S3FileSystem:
    """A client that knows nothing of ours, and names keys as Hadoop's does. Its own patience is one second."""
    return fs.S3FileSystem(
        access_key=s3.access_key,
        secret_key=s3.secret_key,
        endpoint_override=s3.endpoint,
        region="us-east-1",
        connect_timeout=30,
        request_timeout=60,
        # In one request: of one in parts the last, beside other work, is sometimes refused by this server as no HTTP.
        allow_delayed_open=True,
    )


def test_another_client_reads_what_we_write_and_we_what_it_writes(s3: S3Server, bucket: str) -> None:
    name = "region=eu%2Fwest #1 é"
    storage = open_storage(bucket, s3.options)
    other = another_client(s3)
    storage.create(f"ours/{name}", b"ours")
    with other.open_output_stream(f"{bucket.removeprefix('s3://')}/theirs/{name}") as stream:
        stream.write(b"theirs")

    with other.open_input_file(f"{bucket.removeprefix('s3://')}/ours/{name}") as stream:
        assert stream.read() == b"ours"
    assert storage.read(f"theirs/{name}") == b"theirs"
    assert [child.path for child in storage.list("theirs")] == [f"theirs/{name}"]


def test_the_objects_by_which_others_mark_folders_are_not_listed(s3: S3Server, bucket: str) -> None:
    another_client(s3).create_dir(f"{bucket.removeprefix('s3://')}/table/folder/empty", recursive=True)
    storage = open_storage(f"{bucket}/table", s3.options)
    storage.create("folder/x", b"1")
    storage.create("folder/old_$folder$", b"")

    assert [(child.path, child.is_folder) for child in storage.list("")] == [("folder", True)]
    assert [(child.path, child.is_folder) for child in storage.list("folder")] == [
        ("folder/empty", True),
        ("folder/x", False),
    ]
    assert storage.list("folder/empty") == ()


def test_a_folder_of_more_children_than_one_answer_holds_is_listed_whole(s3: S3Server, bucket: str) -> None:
    folder = s3.folder / bucket.removeprefix("s3://") / "many"
    folder.mkdir()
    for number in range(2_100):
        (folder / f"{number:04}").write_bytes(b"")

    assert len(open_storage(bucket, s3.options).list("many")) == 2_100


def test_the_time_of_a_file_is_the_stores(s3: S3Server, bucket: str) -> None:
    storage = open_storage(bucket, s3.options)
    before = time.time()
    storage.create("x", b"1")

    (child,) = storage.list("")

    assert before - 2 <= child.modified_ms / 1000 <= time.time() + 2


def test_control_characters_cannot_be_asked_for(s3: S3Server, bucket: str) -> None:
    storage = open_storage(bucket, s3.options)
    for path in ("new\nline", "tab\t/x", "\x7f"):
        with pytest.raises(UnsafePath, match="control characters"):
            storage.create(path, b"1")
    (s3.folder / bucket.removeprefix("s3://") / "new\nline").write_bytes(b"by somebody else")

    with pytest.raises(UnsafePath, match="control characters"):
        storage.list("")


def test_a_file_larger_than_a_part_is_written_whole(s3: S3Server, bucket: str) -> None:
    storage = open_storage(bucket, s3.options)
    content = bytes(range(256)) * 65_536  # 16 MiB

    storage.create("large", content)
    storage.replace("large again", content)

    assert storage.read("large") == storage.read("large again") == content
    assert storage.read_range("large", 15 << 20, 512) == content[:512]


def test_properties_are_updated_in_a_bucket(s3: S3Server, bucket: str) -> None:
    storage = open_storage(bucket, s3.options)
    storage.create(MAIN, b"hoodie.table.name=t\n")

    update_properties(storage, {"ours": "é"}, HandClock())

    assert read_properties(storage, HandClock()).properties["ours"] == "é"
    assert [child.path for child in storage.list(".hoodie")] == [MAIN]


def through(proxy: LossyProxy, s3: S3Server, bucket: str) -> Storage:
    return open_storage(bucket, s3.options | {"fs.s3a.endpoint": proxy.endpoint})


@pytest.mark.parametrize("mishap", [Mishap.ANSWER_LOST, Mishap.FAULT_AFTER, Mishap.FAULT_BEFORE])
def test_a_create_whose_answer_is_lost_finds_that_it_won(
    mishap: Mishap, proxy: LossyProxy, s3: S3Server, bucket: str
) -> None:
    proxy.mishaps["PUT"] = [mishap]

    through(proxy, s3, bucket).create("x", b"ours")

    assert open_storage(bucket, s3.options).read("x") == b"ours"
    assert proxy.seen.count("PUT") == 2


@pytest.mark.parametrize("mishap", [Mishap.ANSWER_LOST, Mishap.FAULT_AFTER, Mishap.FAULT_BEFORE])
@pytest.mark.parametrize("theirs", [b"theirs", b"same"])
def test_a_create_that_lost_is_told_even_if_the_answer_is_lost_and_the_bytes_are_the_same(
    theirs: bytes, mishap: Mishap, proxy: LossyProxy, s3: S3Server, bucket: str
) -> None:
    open_storage(bucket, s3.options).create("x", theirs)
    proxy.mishaps["PUT"] = [mishap]

    with pytest.raises(AlreadyExists, match="x"):
        through(proxy, s3, bucket).create("x", b"same")

    assert open_storage(bucket, s3.options).read("x") == theirs


def test_a_create_whose_answers_stay_lost_but_whose_object_can_be_seen_won(
    proxy: LossyProxy, s3: S3Server, bucket: str
) -> None:
    proxy.mishaps["PUT"] = [Mishap.ANSWER_LOST] * 3

    through(proxy, s3, bucket).create("x", b"ours")

    assert open_storage(bucket, s3.options).read("x") == b"ours"


def test_a_create_whose_object_cannot_be_looked_for_is_unknown(proxy: LossyProxy, s3: S3Server, bucket: str) -> None:
    proxy.mishaps = {"PUT": [Mishap.ANSWER_LOST] * 3, "GET": [Mishap.ANSWER_LOST]}

    with pytest.raises(OutcomeUnknown, match="read before deciding"):
        through(proxy, s3, bucket).create("x", b"ours")


def test_a_loser_that_cannot_look_whose_object_it_is_does_not_claim_to_know(
    proxy: LossyProxy, s3: S3Server, bucket: str
) -> None:
    open_storage(bucket, s3.options).create("x", b"theirs")
    proxy.mishaps = {"PUT": [Mishap.ANSWER_LOST], "GET": [Mishap.ANSWER_LOST]}

    with pytest.raises(OutcomeUnknown):
        through(proxy, s3, bucket).create("x", b"ours")


def test_a_create_that_never_landed_after_lost_answers_is_unknown(proxy: LossyProxy, s3: S3Server, bucket: str) -> None:
    proxy.mishaps["PUT"] = [Mishap.FAULT_BEFORE] * 3

    with pytest.raises(OutcomeUnknown, match="may still be"):
        through(proxy, s3, bucket).create("x", b"ours")


def test_a_replace_and_a_read_outlive_a_fault(proxy: LossyProxy, s3: S3Server, bucket: str) -> None:
    storage = through(proxy, s3, bucket)
    proxy.mishaps = {"PUT": [Mishap.FAULT_AFTER, Mishap.FAULT_BEFORE], "GET": [Mishap.FAULT_BEFORE]}

    storage.replace("x", b"new")

    assert storage.read("x") == b"new"


def test_a_replace_whose_answers_stay_lost_is_unknown(proxy: LossyProxy, s3: S3Server, bucket: str) -> None:
    proxy.mishaps["PUT"] = [Mishap.ANSWER_LOST] * 3

    with pytest.raises(OutcomeUnknown):
        through(proxy, s3, bucket).replace("x", b"new")


EVERY_CALL: list[Callable[[Storage], object]] = [
    lambda storage: storage.read("x"),
    lambda storage: storage.read_range("x", 0, 1),
    lambda storage: storage.list(""),
    lambda storage: storage.create("x", b"1"),
    lambda storage: storage.replace("x", b"1"),
    lambda storage: storage.delete("x"),
]


@pytest.mark.parametrize("call", EVERY_CALL)
def test_a_missing_bucket_is_not_found(call: Callable[[Storage], object], s3: S3Server) -> None:
    with pytest.raises(NotFound, match="no such bucket"):
        call(open_storage("s3://not-there/table", s3.options))


@pytest.mark.parametrize("wrong", ["fs.s3a.secret.key", "fs.s3a.access.key"])
@pytest.mark.parametrize("call", EVERY_CALL)
def test_a_wrong_key_is_refused_and_not_taken_for_a_missing_table(
    call: Callable[[Storage], object], wrong: str, s3: S3Server, bucket: str
) -> None:
    with pytest.raises(AccessDenied, match="access key"):
        call(open_storage(bucket, s3.options | {wrong: "wrong"}))


@pytest.mark.parametrize("call", EVERY_CALL)
def test_a_wrong_region_is_named(call: Callable[[Storage], object], s3: S3Server, bucket: str) -> None:
    with pytest.raises(Contradiction, match=r"set fs\.s3a\.endpoint\.region"):
        call(open_storage(bucket, s3.options | {"fs.s3a.endpoint.region": "eu-west-1"}))


def test_keys_come_from_the_environment_where_the_options_have_none(
    s3: S3Server, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3.secret_key)
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.endpoint)

    open_storage(bucket, {}).create("x", b"1")

    assert open_storage(bucket, s3.options).read("x") == b"1"


@pytest.mark.parametrize("call", EVERY_CALL)
def test_a_store_that_is_not_there_is_unavailable(call: Callable[[Storage], object], s3: S3Server) -> None:
    began = time.monotonic()

    with pytest.raises(StorageUnavailable, match="no answer"):
        call(open_storage("s3://bucket/x", s3.options | {"fs.s3a.endpoint": "http://127.0.0.1:1"}))

    assert time.monotonic() - began < 8


def told_by(call: Callable[[Storage], object], storage: Storage) -> type[Exception] | None:
    try:
        call(storage)
    except EngineError as refusal:
        return type(refusal)
    return None


def test_a_silent_store_is_given_up_after_some_ten_seconds(s3: S3Server) -> None:
    began = time.monotonic()

    with socket.create_server(("127.0.0.1", 0), backlog=50) as listener, ThreadPoolExecutor(len(EVERY_CALL)) as pool:
        endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
        storage = open_storage("s3://bucket/x", s3.options | {"fs.s3a.endpoint": endpoint})
        told = [future.result() for future in [pool.submit(told_by, call, storage) for call in EVERY_CALL]]

    unavailable, unknown = StorageUnavailable, OutcomeUnknown
    assert told == [unavailable, unavailable, unavailable, unknown, unknown, unavailable]
    assert time.monotonic() - began < 20


class NothingHere(BaseHTTPRequestHandler):
    """A web server that knows nothing of S3."""

    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Say nothing: the test does."""


def test_a_web_server_that_is_no_store_proves_nothing_absent(s3: S3Server) -> None:
    with HTTPServer(("127.0.0.1", 0), NothingHere) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            with pytest.raises(StorageUnavailable, match="check the endpoint"):
                open_storage("s3://bucket/x", s3.options | {"fs.s3a.endpoint": endpoint}).read("x")
        finally:
            server.shutdown()
            thread.join()
