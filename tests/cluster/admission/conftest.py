"""One namespace for all of these: nothing acts on what is in it."""

from collections.abc import Iterator

import pytest

from tests.cluster.kubernetes import Cluster


@pytest.fixture(scope="module")
def shared(cluster: Cluster) -> Iterator[str]:
    cluster.make_namespace("admission")
    yield "admission"
    cluster.empty_namespace("admission")
