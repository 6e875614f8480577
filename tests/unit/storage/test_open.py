"""From locations and Hadoop's options to storages and to what hudi-rs is told."""

from pathlib import Path

import pytest

from hudi_engine.errors import Contradiction, NotATable, NotFound, UnsafePath, Unsupported
from hudi_engine.storage.hadoop_options import UNSIGNED, s3_settings
from hudi_engine.storage.local import LocalStorage
from hudi_engine.storage.objects import ObjectStorage
from hudi_engine.storage.open import open_storage

OPTIONS = {
    "fs.s3a.endpoint": "http://127.0.0.1:9",
    "fs.s3a.endpoint.region": "eu-west-1",
    "fs.s3a.access.key": "key",
    "fs.s3a.secret.key": "secret",
    "fs.s3a.session.token": "token",
    "fs.s3a.path.style.access": "true",
    "hoodie.write.lock.provider": "not ours",
}


@pytest.mark.parametrize("prefix", ["", "file:", "file://"])
def test_a_local_folder_is_opened_however_it_is_written(prefix: str, tmp_path: Path) -> None:
    folder = tmp_path / "a%20b #c:d"
    folder.mkdir()

    storage = open_storage(f"{prefix}{folder}", {})

    assert isinstance(storage, LocalStorage)
    assert storage.location == str(folder)


def test_a_local_folder_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nothing: no such folder"):
        open_storage(str(tmp_path / "nothing"), {})


def test_a_file_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")

    with pytest.raises(NotATable, match="file: a file"):
        open_storage(str(tmp_path / "file"), {})


@pytest.mark.parametrize(
    "location",
    [
        *("s3://bucket/a/b", "s3a://bucket/a/b/", "s3n://bucket//a/b", "s3://bucket"),
        *("gs://bucket/a", "abfs://box@account.dfs.core.windows.net/a", "abfss://box@account.dfs.core.windows.net/a"),
        "az://box/a",
    ],
)
def test_object_stores_are_opened_without_being_asked(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")

    storage = open_storage(location, OPTIONS)

    assert isinstance(storage, ObjectStorage)
    assert storage.location == location.rstrip("/")


@pytest.mark.parametrize("location", ["hdfs://host/a", "http://host/a", "dbfs:/a", "memory:table"])
def test_another_scheme_is_refused_and_the_good_ones_named(location: str) -> None:
    with pytest.raises(Unsupported, match=r"not supported; expected a local path, .*s3a://"):
        open_storage(location, {})


@pytest.mark.parametrize("location", ["s3://", "s3:/bucket/a", "s3:bucket", "gs:///a"])
def test_a_location_without_a_bucket_is_refused(location: str) -> None:
    with pytest.raises(NotFound, match="names no bucket"):
        open_storage(location, {})


@pytest.mark.parametrize("location", ["s3://bucket/../a", "s3a://bucket/a/./b", "gs://bucket/.."])
def test_dots_in_the_key_of_a_table_are_refused(location: str) -> None:
    with pytest.raises(UnsafePath):
        open_storage(location, {})


def test_hadoops_names_become_the_stores_own() -> None:
    assert s3_settings("bucket", OPTIONS) == {
        "endpoint": "http://127.0.0.1:9",
        "region": "eu-west-1",
        "access_key_id": "key",
        "secret_access_key": "secret",
        "session_token": "token",
    }


def test_what_the_options_leave_out_is_left_to_the_environment() -> None:
    assert s3_settings("bucket", {}) == {}
    assert s3_settings("bucket", {"fs.s3a.endpoint": "", "fs.s3a.access.key": ""}) == {}


@pytest.mark.parametrize(
    ("endpoint", "encrypted", "expected"),
    [
        ("host", "", "https://host"),
        ("host:9000", "true", "https://host:9000"),
        ("host:9000", "false", "http://host:9000"),
        ("http://host:9000/", "true", "http://host:9000"),
        ("https://host", "false", "https://host"),
    ],
)
def test_an_endpoint_without_a_scheme_gets_the_one_that_encryption_says(
    endpoint: str, encrypted: str, expected: str
) -> None:
    options = {"fs.s3a.endpoint": endpoint, "fs.s3a.connection.ssl.enabled": encrypted}

    assert s3_settings("bucket", options) == {"endpoint": expected}


def test_the_bucket_goes_into_the_host_where_path_style_is_switched_off() -> None:
    options = {"fs.s3a.endpoint": "https://host:9000", "fs.s3a.path.style.access": "false"}

    assert s3_settings("bucket", options) == {
        "endpoint": "https://bucket.host:9000",
        "virtual_hosted_style_request": "true",
    }


@pytest.mark.parametrize(
    "endpoint", ["ftp://host", "http://", "http://ho st", "http://host:port", "http://host:99999", "a\nb"]
)
def test_an_endpoint_that_is_no_address_is_refused(endpoint: str) -> None:
    with pytest.raises(Contradiction, match=r"fs\.s3a\.endpoint is"):
        open_storage("s3://bucket/a", {"fs.s3a.endpoint": endpoint})


def test_a_switch_that_is_neither_on_nor_off_is_refused() -> None:
    with pytest.raises(Contradiction, match=r"fs\.s3a\.path\.style\.access is 'maybe'"):
        s3_settings("bucket", {"fs.s3a.endpoint": "host", "fs.s3a.path.style.access": "maybe"})


@pytest.mark.parametrize("region", ["x@host/#", "eu-west-1.evil", "EU", "eu west", "a/b", "eu-west-1\n"])
def test_a_region_that_would_lead_to_another_host_is_refused(region: str) -> None:
    with pytest.raises(Contradiction, match=r"fs\.s3a\.endpoint\.region is .*; expected letters a-z, digits and '-'"):
        s3_settings("lake", {"fs.s3a.endpoint.region": region})


@pytest.mark.parametrize(
    "location", ["abfss://c@2130706433:80#/t", "abfss://c@host:80/t", "abfs://c@a%23b.dfs.core.windows.net/t"]
)
def test_an_account_that_would_lead_to_another_host_is_refused(location: str) -> None:
    with pytest.raises(Contradiction, match=r"the account of .*; expected letters a-z, digits and '-'"):
        open_storage(location, {})


@pytest.mark.parametrize("location", ["s3a://host:80#lake/t", "s3a://user@lake/t", "gs://lake%2F/t", "s3a://.lake/t"])
def test_a_bucket_that_would_lead_to_another_host_is_refused(location: str) -> None:
    with pytest.raises(UnsafePath, match=r"expected letters, digits, '.', '_' and '-'"):
        open_storage(location, {})


def test_options_that_say_unsigned_sign_with_both_keys_or_not_at_all() -> None:
    unsigned = {UNSIGNED: "true"}
    keys = {"fs.s3a.access.key": "key", "fs.s3a.secret.key": "secret"}

    assert s3_settings("lake", unsigned) == {"skip_signature": "true"}
    assert s3_settings("lake", {**unsigned, "fs.s3a.session.token": "token"}) == {"skip_signature": "true"}
    assert s3_settings("lake", {**unsigned, **keys}) == {"access_key_id": "key", "secret_access_key": "secret"}
    for name, value in keys.items():
        with pytest.raises(Contradiction, match="only one of"):
            s3_settings("lake", {**unsigned, name: value})


def test_a_location_without_an_account_is_not_completed_by_the_environment_if_it_may_not_be() -> None:
    with pytest.raises(NotFound, match="names no account"):
        open_storage("abfss://container/t", {UNSIGNED: "true"})
