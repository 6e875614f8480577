"""Of two executions the nearer one's fields are taken, and maps are merged key by key."""

from dataclasses import fields

import pytest

from hudi_operator.resources.execution import effective
from hudi_operator.resources.model import DynamicAllocation, Execution, ExecutionMode, PodTemplate, Resources, Retry

_OWN = Execution(
    mode=ExecutionMode.SPARK,
    image="own",
    image_pull_policy="Never",
    image_pull_secrets=("own",),
    service_account_name="own",
    spark_conf={"spark.own": "1", "spark.both": "own"},
    hudi_conf={"hoodie.both": "own"},
    hadoop_conf={"fs.own": "1"},
    driver=Resources({"cpu": "1"}, {"memory": "1Gi"}),
    executor_instances=1,
    executor=Resources({"cpu": "1"}),
    dynamic_allocation=DynamicAllocation(3),
    executor_service_account_name="own",
    driver_template=PodTemplate(labels={"own": "1", "both": "own"}, tolerations=({"key": "own"},)),
    executor_template=PodTemplate(priority_class_name="own"),
    start_timeout_seconds=11,
    active_deadline_seconds=11,
    termination_grace_period_seconds=11,
    ttl_seconds_after_finished=0,
    retry=Retry(limit=0),
)
_TABLE = Execution(
    mode=ExecutionMode.SPARK,
    image="table",
    image_pull_policy="Always",
    image_pull_secrets=("table",),
    service_account_name="table",
    spark_conf={"spark.table": "1", "spark.both": "table"},
    hudi_conf={"hoodie.both": "table"},
    hadoop_conf={"fs.table": "1"},
    driver=Resources({"memory": "2Gi"}, {"memory": "4Gi"}),
    executor_instances=2,
    executor=Resources(limits={"cpu": "2"}),
    dynamic_allocation=DynamicAllocation(9, 2),
    executor_service_account_name="table",
    driver_template=PodTemplate(labels={"table": "1", "both": "table"}, tolerations=({"key": "table"},)),
    executor_template=PodTemplate(priority_class_name="table", node_selector={"disk": "fast"}),
    start_timeout_seconds=22,
    active_deadline_seconds=22,
    termination_grace_period_seconds=22,
    ttl_seconds_after_finished=22,
    retry=Retry(limit=2, backoff_seconds=2),
)

_TEMPLATES = {"driver_template", "executor_template"}
_MERGED = {"spark_conf", "hudi_conf", "hadoop_conf", "driver", "executor", "retry"} | _TEMPLATES
_PLAIN = sorted({one.name for one in fields(Execution)} - _MERGED)


def test_what_a_resource_leaves_out_is_as_its_table_says() -> None:
    assert effective(Execution(), _TABLE) == _TABLE
    assert effective(_OWN, Execution()) == _OWN


def test_maps_are_merged_and_the_nearer_key_wins() -> None:
    merged = effective(_OWN, _TABLE)

    assert merged.spark_conf == {"spark.own": "1", "spark.table": "1", "spark.both": "own"}
    assert merged.hudi_conf == {"hoodie.both": "own"}
    assert merged.hadoop_conf == {"fs.own": "1", "fs.table": "1"}
    assert merged.driver == Resources({"cpu": "1", "memory": "2Gi"}, {"memory": "1Gi"})
    assert merged.executor == Resources({"cpu": "1"}, {"cpu": "2"})
    assert merged.retry == Retry(limit=0, backoff_seconds=2)
    assert merged.driver_template == PodTemplate(
        labels={"own": "1", "table": "1", "both": "own"}, tolerations=({"key": "own"},)
    )
    assert merged.executor_template == PodTemplate(priority_class_name="own", node_selector={"disk": "fast"})


@pytest.mark.parametrize("name", _PLAIN)
def test_of_any_other_field_the_nearer_one_wins_even_if_it_is_nought(name: str) -> None:
    assert getattr(effective(_OWN, _TABLE), name) == getattr(_OWN, name)


def test_a_driver_alone_has_none_of_the_tables_executors() -> None:
    merged = effective(Execution(mode=ExecutionMode.DRIVER_ONLY), _TABLE)

    assert (merged.executor, merged.executor_instances, merged.dynamic_allocation) == (None, None, None)
    assert (merged.executor_service_account_name, merged.executor_template) == (None, PodTemplate())
    assert merged.driver_template == _TABLE.driver_template


@pytest.mark.parametrize(
    ("own", "table", "mode"),
    [
        (Execution(), Execution(), None),
        (Execution(executor_instances=3), Execution(), ExecutionMode.SPARK),
        (Execution(executor=Resources({"cpu": "1"})), Execution(), ExecutionMode.SPARK),
        (Execution(), Execution(executor_instances=3), ExecutionMode.SPARK),
        (Execution(dynamic_allocation=DynamicAllocation(3)), Execution(), ExecutionMode.SPARK),
        (Execution(executor_template=PodTemplate(priority_class_name="x")), Execution(), ExecutionMode.SPARK),
        (Execution(driver_template=PodTemplate(priority_class_name="x")), Execution(), None),
        (Execution(executor_instances=3), Execution(mode=ExecutionMode.DRIVER_ONLY), ExecutionMode.SPARK),
        (Execution(mode=ExecutionMode.DRIVER_ONLY), Execution(executor_instances=3), ExecutionMode.DRIVER_ONLY),
        (Execution(mode=ExecutionMode.SPARK), Execution(), ExecutionMode.SPARK),
    ],
)
def test_a_run_without_mode_is_spark_where_the_nearer_one_that_says_anything_gives_executors(
    own: Execution, table: Execution, mode: ExecutionMode | None
) -> None:
    assert effective(own, table).mode is mode


def test_a_resource_may_have_executors_where_its_table_has_none() -> None:
    own = Execution(mode=ExecutionMode.SPARK, executor_instances=3)

    merged = effective(own, Execution(mode=ExecutionMode.DRIVER_ONLY))

    assert (merged.mode, merged.executor_instances) == (ExecutionMode.SPARK, 3)
