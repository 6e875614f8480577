"""What an object store's refusals mean."""

import re
from typing import Final

from obstore.exceptions import AlreadyExistsError, BaseError, InvalidPathError

from hudi_engine.errors import (
    AccessDenied,
    AlreadyExists,
    Contradiction,
    CorruptFile,
    EngineError,
    NoSpaceLeft,
    NotFound,
    StorageUnavailable,
    UnsafePath,
    Unsupported,
)

FAULTS: Final = (BaseError, OSError, ValueError, OverflowError)
"""All that the client library raises."""

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_NEVER_SENT = re.compile(r"kind: Connect\b|builder error")
_ABSENT = {"NoSuchKey", "NoSuchBucket", "BlobNotFound", "ContainerNotFound"}
_NO_BUCKET = {"NoSuchBucket", "ContainerNotFound", "InvalidBucketName"}
_WRONG_REGION = {"AuthorizationHeaderMalformed", "PermanentRedirect"}
_REGION_ADVICE = "the bucket is in another region; set fs.s3a.endpoint.region to its own"
_REFUSED = {"InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "XAdminUserNotFound"}


def was_never_sent(fault: Exception) -> bool:
    """Whether the request cannot have reached the store: there was none, or no connection to send it on."""
    return _NEVER_SENT.search(str(fault)) is not None


def is_absent(fault: Exception) -> bool:
    """Whether the store said that the object, not the bucket, is not there."""
    return _code(fault) in _ABSENT - _NO_BUCKET


def engine_error(where: str, fault: Exception) -> EngineError:
    """The error of ours that says what `fault` says; the library keeps status and code in its text only."""
    if isinstance(fault, InvalidPathError | ValueError) and "path" in str(fault).lower():
        return UnsafePath(
            f"{where}: holds a name with control characters or empty parts, which no store can be asked for"
        )
    text = str(fault)
    if "169.254.169.254" in text or "metadata.google.internal" in text:
        return AccessDenied(f"{where}: no credentials: set fs.s3a.access.key and fs.s3a.secret.key, or the environment")
    if "incorrectly configured region" in text:
        return Contradiction(f"{where}: {_REGION_ADVICE}")
    status = _STATUS.search(text)
    if status is None:
        return StorageUnavailable(f"{where}: no answer from the store: {_first_line(text)}")
    return _of_answer(where, int(status[1]), _code(fault), fault)


def _of_answer(where: str, status: int, code: str, fault: Exception) -> EngineError:
    if status == 416:
        return CorruptFile("the file ends before the range that was wanted", 0, where)
    kind: type[EngineError]
    if code in _NO_BUCKET:
        kind, advice = NotFound, "no such bucket"
    elif code in _WRONG_REGION:
        kind, advice = Contradiction, _REGION_ADVICE
    elif code in _REFUSED or status in {401, 403}:
        kind, advice = AccessDenied, "check the access key, its secret and its rights"
    elif isinstance(fault, AlreadyExistsError) or status in {409, 412}:
        kind, advice = AlreadyExists, "exists already"
    elif status == 404 and code in _ABSENT:
        kind, advice = NotFound, "no such object"
    elif status == 507:
        kind, advice = NoSpaceLeft, "the store is full"
    elif status in {404, 408, 425, 429} or status >= 500:
        # A 404 that does not name what is missing comes from a proxy or a wrong address: it proves nothing absent.
        kind, advice = StorageUnavailable, "repeat, and check the endpoint if it stays so"
    else:
        kind, advice = Unsupported, "it does not take this request; check the endpoint and the options"
    return kind(f"{where}: {advice} (the store answered {status}{' ' if code else ''}{code})")


def _code(fault: Exception) -> str:
    code = _CODE.search(str(fault))
    return code[1] if code else ""


def _first_line(text: str) -> str:
    return text.partition("\n")[0].strip()[:300]
