"""A table in an object store: S3 and what speaks its protocol; Google's and Azure's by the same code, untested."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

import obstore

from hudi_engine.errors import AlreadyExists, CorruptFile, EngineError, OutcomeUnknown, StorageUnavailable
from hudi_engine.storage.object_errors import FAULTS, engine_error, is_absent, was_never_sent
from hudi_engine.storage.paths import require_file_path, require_folder_path, require_range
from hudi_engine.storage.protocol import FileStat

if TYPE_CHECKING:
    from obstore.store import ClientConfig, ObjectStore, RetryConfig

    Connect = Callable[[ClientConfig, RetryConfig], ObjectStore]

_CLAIM = "hudiengineclaim"  # Azure takes identifiers only, and some proxies drop headers with `_`
_SMALL_BYTES = 1 << 20
_LONGEST_OFFSET = (1 << 63) - 1
_PAUSES_SECONDS = (0.2, 1.0)
_PATIENCE_SECONDS = 5.0
_CONNECT = timedelta(seconds=3)
_SILENCE = timedelta(seconds=5)
_NO_RETRY: "RetryConfig" = {"max_retries": 0}
_RETRY: "RetryConfig" = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=6),
    "backoff": {"init_backoff": timedelta(milliseconds=200), "max_backoff": timedelta(seconds=2), "base": 2},
}


class ObjectStorage:
    """`Storage` below one key of a bucket.

    Keys are exactly the path's characters in UTF-8, as Hadoop's `s3a` writes them: `%`, `=`, `#`, spaces and other
    scripts are not encoded. A name with control characters is refused, and so is listing a folder that holds one.
    A folder is what keys have in common; the empty objects by which Hadoop marks folders are not listed.

    `create` is a conditional put, and the library does not repeat it: a repetition of a put that had landed would be
    told that the name is taken, by itself. Each `create` carries a random claim in the object's own metadata instead.
    Whoever is told that the name is taken, or gets no answer, looks whose claim is there. Only if that cannot be seen,
    or nothing is there after a lost answer, is it `OutcomeUnknown`: then the put may even land later.

    A store that is silent is given up after about ten seconds.
    """

    def __init__(self, location: str, base_key: str, connect: "Connect") -> None:
        self._location = location
        self._base_key = base_key
        slow = timedelta(minutes=30)
        self._reads = connect({"connect_timeout": _CONNECT, "read_timeout": _SILENCE, "timeout": slow}, _RETRY)
        # While a body is sent nothing is read, so a put has a limit on the whole and none on silence.
        self._small_puts = connect({"connect_timeout": _CONNECT, "timeout": _SILENCE}, _NO_RETRY)
        self._large_puts = connect({"connect_timeout": _CONNECT, "timeout": slow}, _NO_RETRY)

    @property
    def location(self) -> str:
        return self._location

    def read(self, path: str) -> bytes:
        key = self._key(path)
        with self._errors(path):
            return bytes(obstore.get(self._reads, key).bytes())

    def read_range(self, path: str, start: int, length: int) -> bytes:
        key = self._key(path)
        require_range(path, start, length, _LONGEST_OFFSET)
        with self._errors(path):
            if length == 0:
                require_range(path, start, 0, obstore.get(self._reads, key).meta["size"])
                return b""
            try:
                data = bytes(obstore.get_range(self._reads, key, start=start, end=start + length))
            except FAULTS as fault:
                if isinstance(engine_error(path, fault), CorruptFile):
                    require_range(path, start, length, obstore.get(self._reads, key).meta["size"])
                raise
        require_range(path, start, length, start + len(data))
        return data

    def list(self, folder: str) -> tuple[FileStat, ...]:
        require_folder_path(folder)
        key = "/".join(part for part in (self._base_key, folder) if part)
        above = len(self._base_key) + 1 if self._base_key else 0
        with self._errors(folder):
            found = obstore.list_with_delimiter(self._reads, key or None)
            children = [FileStat(prefix[above:], 0, 0, is_folder=True) for prefix in found["common_prefixes"]]
            for entry in found["objects"]:
                if entry["path"] != key and not entry["path"].endswith("_$folder$"):
                    modified_ms = round(entry["last_modified"].timestamp() * 1000)
                    children.append(FileStat(entry["path"][above:], entry["size"], modified_ms))
        return tuple(sorted(children, key=lambda child: child.path))

    def create(self, path: str, data: bytes) -> None:
        key, claim = self._key(path), secrets.token_hex(16)
        try:
            self._put(path, data, "create", claim)
        except (AlreadyExists, OutcomeUnknown) as refusal:
            # Before believing either, look: the claim in the object tells whose it is.
            found = self._claim_of(key)
            if found is None:
                raise _lost(refusal) from refusal
            if found != claim:
                raise AlreadyExists(f"{self._shown(path)}: exists already") from refusal

    def create_in_parts(self, path: str, parts: Iterable[bytes]) -> None:
        self.create(path, b"".join(parts))

    def replace(self, path: str, data: bytes) -> None:
        self._put(path, data, "overwrite", secrets.token_hex(16))

    def touch(self, path: str) -> None:
        self.replace(path, b"")

    def delete(self, path: str) -> None:
        key = self._key(path)
        with self._errors(path):
            try:
                obstore.delete(self._reads, key)
            except FAULTS as fault:
                if not is_absent(fault):
                    raise

    def _put(self, path: str, data: bytes, mode: Literal["create", "overwrite"], claim: str) -> None:
        """One put, repeated for a few seconds while the store has faults; the same claim makes repeating safe."""
        key = self._key(path)
        store = self._small_puts if len(data) <= _SMALL_BYTES else self._large_puts
        began = time.monotonic()
        may_have_landed = False
        for pause in (*_PAUSES_SECONDS, None):
            try:
                obstore.put(store, key, data, mode=mode, use_multipart=False, attributes={_CLAIM: claim})
            except FAULTS as fault:
                error = engine_error(self._shown(path), fault)
                if isinstance(error, AlreadyExists):
                    raise error from fault
                is_fault = isinstance(error, StorageUnavailable)
                may_have_landed |= is_fault and not was_never_sent(fault)
                if not is_fault or pause is None or time.monotonic() - began > _PATIENCE_SECONDS:
                    raise (_lost(error) if may_have_landed else error) from fault
                time.sleep(pause)
            else:
                return

    def _claim_of(self, key: str) -> str | None:
        """Whose object is there: a claim, empty for another kind of writer; None if it cannot be told."""
        try:
            return str(obstore.get(self._small_puts, key).attributes.get(_CLAIM, ""))
        except FAULTS:
            return None

    def _key(self, path: str) -> str:
        require_file_path(path)
        return f"{self._base_key}/{path}" if self._base_key else path

    def _shown(self, path: str) -> str:
        return f"{self._location}/{path}" if path else self._location

    @contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        try:
            yield
        except FAULTS as fault:
            raise engine_error(self._shown(path), fault) from fault


def _lost(error: EngineError) -> OutcomeUnknown:
    if isinstance(error, OutcomeUnknown):
        return error
    return OutcomeUnknown(f"{error}; the write may have been applied, or may still be: read before deciding anything")
