"""One theatre for the scenarios of a module."""

import pytest

from tests.cluster.faults.theatre import Theatre, require_right
from tests.cluster.kubernetes import Cluster
from tests.golden.unpack import unpack


@pytest.fixture(scope="module")
def theatre(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Theatre:
    """With how many points there are when nothing goes wrong."""
    theatre = Theatre(cluster, unpack("v9_cow_orders", tmp_path_factory.mktemp("faults")))
    (story,) = theatre.play([None])
    require_right("no trouble", [story])
    theatre.numbers = story["numbers"]
    return theatre
