"""One real S3 server for all tests of a run, and a bucket for each."""

from collections.abc import Iterator
from itertools import count

import pytest

from tests.s3.lossy_proxy import LossyProxy
from tools.s3_server import S3Server, s3_server

_NUMBERS = count()


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture
def bucket(s3: S3Server) -> str:
    """The URL of an empty bucket of the test's own."""
    return s3.make_bucket(f"bucket-{next(_NUMBERS)}")


@pytest.fixture
def proxy(s3: S3Server) -> Iterator[LossyProxy]:
    with LossyProxy(s3.endpoint) as running:
        yield running
