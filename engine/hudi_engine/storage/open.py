"""From the name of a place to its storage."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from obstore.store import AzureStore, GCSStore, S3Store

from hudi_engine.errors import NotATable, NotFound, UnsafePath, Unsupported
from hudi_engine.storage.hadoop_options import ACCESS_KEY, endpoint_of, is_unsigned, require_part_of_host, s3_settings
from hudi_engine.storage.local import LocalStorage
from hudi_engine.storage.objects import ObjectStorage
from hudi_engine.storage.protocol import Storage

if TYPE_CHECKING:
    from obstore.store import AzureConfig, ClientConfig, GCSConfig, ObjectStore, RetryConfig, S3Config

_S3 = {"s3", "s3a", "s3n"}
_AZURE = {"abfs", "abfss", "az"}
_BUCKET = re.compile(r"[$A-Za-z0-9][A-Za-z0-9._-]*")
_SUPPORTED = "a local path, file:, s3://, s3a://, s3n://, gs://, abfs://, abfss:// or az://"


def open_storage(location: str, options: Mapping[str, str]) -> Storage:
    """The storage whose base is `location`: a local path or a URL as Hadoop writes it, in which nothing is decoded.

    `options` are Hadoop's (`fs.s3a.…`, see `hadoop_options`); what they leave out comes from the environment
    (`AWS_…`, `GOOGLE_…`, `AZURE_…`), unless they say `UNSIGNED`. Only a local folder is looked for at once: a bucket
    that is not there shows at the first use.
    """
    scheme, rest = _split(location)
    if not scheme:
        return _open_local(rest)
    authority, key = _authority_and_key(location, scheme, rest)
    unsigned = {"skip_signature": "true"} if is_unsigned(options) else {}
    if scheme in _S3:
        settings = s3_settings(authority, options)

        def connect(client: "ClientConfig", retry: "RetryConfig") -> "ObjectStore":
            # Whoever writes http:// into the options or the environment means it.
            client["allow_http"] = True
            return S3Store(authority, config=cast("S3Config", settings), client_options=client, retry_config=retry)

    elif scheme == "gs":

        def connect(client: "ClientConfig", retry: "RetryConfig") -> "ObjectStore":
            config = cast("GCSConfig", unsigned)
            return GCSStore(authority, config=config, client_options=client, retry_config=retry)

    else:
        container, _, host = authority.partition("@")
        account = _account(location, host, options) | unsigned

        def connect(client: "ClientConfig", retry: "RetryConfig") -> "ObjectStore":
            return AzureStore(container, config=cast("AzureConfig", account), client_options=client, retry_config=retry)

    return ObjectStorage(location.rstrip("/"), key, connect)


def is_sent_unsigned(location: str, options: Mapping[str, str]) -> bool:
    """Whether requests to the location's store carry no signature."""
    scheme, _ = _split(location)
    has_keys = scheme in _S3 and bool(options.get(ACCESS_KEY))
    return bool(scheme) and is_unsigned(options) and not has_keys


def store_of(location: str, options: Mapping[str, str]) -> str:
    """Stands for the address that the location is asked at; it tells nobody what that is, which may be a secret."""
    scheme, _ = _split(location)
    endpoint = endpoint_of(options) if scheme in _S3 else ""
    return hashlib.sha256(endpoint.lower().encode()).hexdigest()[:16]


def _split(location: str) -> tuple[str, str]:
    """Scheme and the rest; no scheme for a local path, however it was written."""
    scheme, colon, rest = location.partition(":")
    if not colon or "/" in scheme or not scheme:
        return "", location
    if scheme == "file":
        return "", "/" + rest.lstrip("/")
    if scheme not in _S3 | _AZURE | {"gs"}:
        raise Unsupported(f"{location}: the scheme {scheme!r} is not supported; expected {_SUPPORTED}")
    return scheme, rest


def _account(location: str, host: str, options: Mapping[str, str]) -> dict[str, str]:
    """The account of Azure that the location names; without a host the environment's."""
    if not host and is_unsigned(options):
        raise NotFound(f"{location}: names no account; expected abfss://container@account.dfs.core.windows.net/path")
    if not host:
        return {}
    account = host.partition(".")[0]
    require_part_of_host(f"the account of {location}", account)
    return {"account_name": account}


def _authority_and_key(location: str, scheme: str, rest: str) -> tuple[str, str]:
    authority, _, key = rest.removeprefix("//").partition("/")
    parts = [part for part in key.split("/") if part]
    if not rest.startswith("//") or not authority:
        raise NotFound(f"{location}: names no bucket; expected scheme://bucket/path")
    bucket = authority.partition("@")[0] if scheme in _AZURE else authority
    # It becomes a part of an address: other characters would lead requests elsewhere.
    if not _BUCKET.fullmatch(bucket):
        raise UnsafePath(f"{location}: the bucket is {bucket!r}; expected letters, digits, '.', '_' and '-'")
    if {".", ".."} & set(parts):
        raise UnsafePath(f"{location}: '.' and '..' mean nothing in an object store; write the path without them")
    return authority, "/".join(parts)


def _open_local(folder: str) -> Storage:
    try:
        if not Path(folder).exists():
            raise NotFound(f"{folder}: no such folder")
        if not Path(folder).is_dir():
            raise NotATable(f"{folder}: a file; expected the folder of a table")
    except OSError as error:
        raise NotFound(f"{folder}: {error.strerror}") from error
    return LocalStorage(folder)
