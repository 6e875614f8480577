"""Numbers that Spark's shuffle sends to the task that is meant."""

import numpy as np
import pytest

from hudi_engine.spark.placing import spark_hash, tickets


def test_the_hash_is_that_of_sparks_sql_function() -> None:
    numbers = np.array([1, 0, -5], np.int32)

    assert spark_hash(numbers).tolist() == [-559580957, 933211791, 1369497261]


@pytest.mark.parametrize("tasks", [1, 2, 3, 10, 1000, 10_000])
def test_each_ticket_leads_to_its_own_task(tasks: int) -> None:
    assert (spark_hash(tickets(tasks)).astype(np.int64) % tasks).tolist() == list(range(tasks))
