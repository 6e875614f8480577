"""What is ordered, and what writers are told: keys as the engine and Hudi read them."""

from dataclasses import replace
from typing import Any

import pytest

from hudi_engine.concurrency.file_system import EXPIRE_KEY
from hudi_engine.concurrency.heartbeat import INTERVAL_KEY, MISSES_KEY
from hudi_engine.concurrency.lock import PROVIDER_KEY, SINGLE_WRITER_KEY
from hudi_engine.concurrency.zookeeper_settings import (
    BASE_PATH_KEY,
    CONNECTION_KEY,
    LOCK_KEY_KEY,
    SESSION_KEY,
    URL_KEY,
)
from hudi_engine.contract import Action, ComputeKind, DuplicateKeys, IndexState, JobRequest
from hudi_operator.decision import Defaults
from hudi_operator.orders import Wanted, are_alike, conf_of, order_of, secrets_of, with_others, writer_properties
from hudi_operator.orders.writer import FILE_NAME
from hudi_operator.resources.model import (
    Concurrency,
    ConcurrencyMode,
    DeletionPolicy,
    Duplicates,
    Execution,
    ExecutionMode,
    FileSystemLock,
    IndexType,
    Resources,
    Storage,
    Validate,
    ZooKeeperLock,
)
from tests.unit.operator.decide.worlds import COMPLETE, a_service, a_table, an_index, found, seen

ZOOKEEPER = ZooKeeperLock("zk:2181", "/hudi", "orders", 30, 5, "zk-login")
BUILD = Wanted(Action.BUILD, "g1.1", 2)
LOCKED = a_table(
    concurrency=Concurrency(ConcurrencyMode.OPTIMISTIC, ZOOKEEPER, 5, 4),
    storage=Storage("s3-login", {"fs.s3a.endpoint": "http://store"}),
)


def test_a_lock_in_zookeeper_is_told_in_the_keys_that_the_engine_reads() -> None:
    conf = conf_of(LOCKED)

    assert conf == {
        "fs.s3a.endpoint": "http://store",
        PROVIDER_KEY: "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider",
        URL_KEY: "zk:2181",
        BASE_PATH_KEY: "/hudi",
        LOCK_KEY_KEY: "orders",
        SESSION_KEY: "30000",
        CONNECTION_KEY: "5000",
        INTERVAL_KEY: "5000",
        MISSES_KEY: "4",
    }


@pytest.mark.parametrize(("path", "more"), [(None, {}), ("/locks", {"hoodie.write.lock.filesystem.path": "/locks"})])
def test_a_lock_file_is_told_with_its_folder_where_there_is_one(path: str | None, more: dict[str, str]) -> None:
    conf = conf_of(a_table(concurrency=Concurrency(ConcurrencyMode.OPTIMISTIC, FileSystemLock(path))))

    assert conf == {PROVIDER_KEY: "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"} | more
    assert EXPIRE_KEY not in conf


def test_a_single_writer_needs_no_lock_and_says_so() -> None:
    assert conf_of(a_table(concurrency=Concurrency(ConcurrencyMode.SINGLE_WRITER))) == {SINGLE_WRITER_KEY: "true"}


def test_a_single_writer_with_a_lock_takes_the_lock() -> None:
    conf = conf_of(a_table(concurrency=Concurrency(ConcurrencyMode.SINGLE_WRITER, FileSystemLock())))

    assert SINGLE_WRITER_KEY not in conf
    assert PROVIDER_KEY in conf


def test_without_a_lock_nobody_says_that_there_is_but_one_writer() -> None:
    assert conf_of(a_table(concurrency=Concurrency(ConcurrencyMode.OPTIMISTIC))) == {}


def test_nothing_overrides_the_tables_lock() -> None:
    hostile = Execution(hudi_conf={PROVIDER_KEY: "none", URL_KEY: "elsewhere"}, hadoop_conf={LOCK_KEY_KEY: "other"})

    conf = order_of(an_index(execution=hostile), LOCKED, BUILD, Defaults()).request.conf

    assert conf[PROVIDER_KEY].endswith("ZookeeperBasedLockProvider")
    assert (conf[URL_KEY], conf[LOCK_KEY_KEY]) == ("zk:2181", "orders")


def test_secrets_are_named_once_and_nowhere_else() -> None:
    order = order_of(an_index(), LOCKED, BUILD, Defaults())

    assert order.secrets == secrets_of(LOCKED) == ("s3-login", "zk-login")
    assert "login" not in order.request.to_json()
    same = replace(LOCKED, storage=Storage("zk-login"))
    assert secrets_of(same) == ("zk-login",)


def test_the_same_wish_is_the_same_order() -> None:
    assert order_of(an_index(), LOCKED, BUILD, Defaults()) == order_of(an_index(), LOCKED, BUILD, Defaults())


@pytest.mark.parametrize(
    "wanted",
    [replace(BUILD, attempt=3), replace(BUILD, trigger="g2.1"), replace(BUILD, action=Action.DROP)],
    ids=["attempt", "trigger", "action"],
)
def test_another_wish_has_another_name(wanted: Wanted) -> None:
    assert order_of(an_index(), LOCKED, wanted, Defaults()).name != order_of(an_index(), LOCKED, BUILD, Defaults()).name


def test_an_order_for_others_as_well_asks_for_all_of_them_under_its_own_name() -> None:
    first = order_of(an_index(), LOCKED, BUILD, Defaults())
    stats = an_index("stats", index_type=IndexType.COLUMN_STATS, columns=("price",))
    customer = an_index("by-customer", index_type=IndexType.SECONDARY_INDEX, columns=("customer",))

    whole = with_others(first, [order_of(index, LOCKED, BUILD, Defaults()) for index in (stats, customer)])

    names = ("record_index", "column_stats", "secondary_index_by_customer")
    columns = {"column_stats": ("price",), "secondary_index_by_customer": ("customer",)}
    assert whole == replace(first, request=replace(first.request, kinds=names, columns=columns))
    assert JobRequest.from_json(whole.request.to_json()) == whole.request


@pytest.mark.parametrize(
    ("fields", "is_alike"),
    [
        ({}, True),
        ({"index_type": IndexType.COLUMN_STATS, "columns": ("price",)}, True),
        ({"deletion_policy": DeletionPolicy.DROP, "rebuild_token": "t"}, True),
        ({"catch_up_timeout_seconds": 60}, False),
        ({"is_partitioned": True}, False),
        ({"execution": Execution(hudi_conf={"hoodie.x": "1"})}, False),
        ({"execution": Execution(driver=Resources(limits={"memory": "8Gi"}))}, False),
        ({"execution": Execution(active_deadline_seconds=60)}, False),
    ],
    ids=str,
)
def test_orders_are_alike_if_one_run_can_do_both_as_each_of_them_says(fields: Any, is_alike: bool) -> None:
    orders = [order_of(index, LOCKED, BUILD, Defaults()) for index in (an_index(), an_index("other", **fields))]

    assert are_alike(*orders) is are_alike(*reversed(orders)) is is_alike


def test_another_resource_of_the_same_name_has_other_runs() -> None:
    names = {order_of(an_index(uid=uid), LOCKED, BUILD, Defaults()).name for uid in ("a", "b")}

    assert len(names) == 2


def test_a_long_name_leaves_room_for_what_spark_adds() -> None:
    name = order_of(an_index("a" * 36), LOCKED, BUILD, Defaults()).name

    assert len(name) == 47


def test_a_request_for_an_index_says_which_and_how() -> None:
    index = an_index(is_partitioned=True, catch_up_timeout_seconds=90)

    request = order_of(index, LOCKED, replace(BUILD, plan_hash="abcdef0123"), Defaults()).request

    assert request.kinds == ("record_index",)
    assert request.plan_hash == "abcdef0123"
    assert request.conf["hoodie.metadata.record.level.index.enable"] == "true"
    assert request.conf["hoodie.metadata.index.check.timeout.seconds"] == "90"
    assert JobRequest.from_json(request.to_json()) == request


@pytest.mark.parametrize(
    ("action", "asked"),
    [
        (Action.PLAN, DuplicateKeys.NEWEST),
        (Action.BUILD, DuplicateKeys.NEWEST),
        (Action.DROP, DuplicateKeys.REFUSE),
        (Action.ABORT, DuplicateKeys.REFUSE),
    ],
)
def test_only_what_makes_an_index_is_told_what_to_do_with_duplicate_keys(action: Action, asked: DuplicateKeys) -> None:
    index = an_index(duplicates=Duplicates.NEWEST)

    request = order_of(index, LOCKED, replace(BUILD, action=action), Defaults()).request

    assert request.duplicates is asked


def test_files_is_asked_for_by_the_engines_name() -> None:
    assert order_of(an_index(index_type=IndexType.FILES), LOCKED, BUILD, Defaults()).request.kinds == ("files",)


@pytest.mark.parametrize("action", [Action.PLAN, Action.BUILD])
def test_a_request_that_makes_a_secondary_index_names_it_and_its_column(action: Action) -> None:
    index = an_index("by-customer.eu", index_type=IndexType.SECONDARY_INDEX, columns=("customer.id",))

    request = order_of(index, LOCKED, replace(BUILD, action=action), Defaults()).request

    assert request.kinds == ("secondary_index_by_customer_eu",)
    assert request.columns == {"secondary_index_by_customer_eu": ("customer.id",)}
    assert JobRequest.from_json(request.to_json()) == request


def test_a_secondary_index_is_called_on_the_table_as_its_resource_says() -> None:
    index = an_index(index_type=IndexType.SECONDARY_INDEX, columns=("customer",), index_name="who_4")

    assert order_of(index, LOCKED, BUILD, Defaults()).request.kinds == ("secondary_index_who_4",)


@pytest.mark.parametrize("columns", [(), ("price", "address.city")])
def test_column_stats_are_of_the_columns_given_or_of_those_that_writers_choose(columns: tuple[str, ...]) -> None:
    index = an_index(index_type=IndexType.COLUMN_STATS, columns=columns)

    request = order_of(index, LOCKED, BUILD, Defaults()).request

    assert request.columns == ({"column_stats": columns} if columns else {})


def test_what_is_dropped_is_named_without_its_columns() -> None:
    index = an_index(index_type=IndexType.SECONDARY_INDEX, columns=("customer",))

    request = order_of(index, LOCKED, replace(BUILD, action=Action.DROP), Defaults()).request

    assert (request.kinds, request.columns) == (("secondary_index_by_key",), {})


def test_a_request_to_validate_says_what_and_how_much() -> None:
    service = a_service(validate=Validate(("record_index",), 20))

    request = order_of(service, LOCKED, Wanted(Action.VALIDATE, "token-x", 1), Defaults()).request

    assert (request.kinds, request.sample, request.plan_hash) == (("record_index",), 20, None)


@pytest.mark.parametrize(
    ("limits", "memory_bytes"),
    [
        ({}, Defaults().memory_bytes),
        ({"memory": "4Gi"}, 2 << 30),
        ({"memory": "1500M"}, 750_000_000),
        ({"memory": "64Mi"}, 64 << 20),
    ],
)
def test_the_engine_gets_half_of_what_the_driver_may_have(limits: dict[str, str], memory_bytes: int) -> None:
    index = an_index(execution=Execution(driver=Resources(limits=limits)))

    assert order_of(index, LOCKED, BUILD, Defaults()).request.memory_bytes == memory_bytes


@pytest.mark.parametrize(
    ("mode", "compute"),
    [
        (None, ComputeKind.LOCAL),
        (ExecutionMode.DRIVER_ONLY, ComputeKind.LOCAL),
        (ExecutionMode.SPARK, ComputeKind.SPARK),
    ],
)
def test_only_the_mode_spark_spreads_the_work(mode: ExecutionMode | None, compute: ComputeKind) -> None:
    index = an_index(execution=Execution(mode=mode))

    assert order_of(index, LOCKED, BUILD, Defaults()).request.compute is compute


def test_executors_without_a_mode_are_started_and_not_ignored() -> None:
    table = replace(LOCKED, execution=Execution(executor_instances=4))

    order = order_of(an_index(), table, BUILD, Defaults())

    assert order.request.compute is ComputeKind.SPARK
    assert (order.execution.mode, order.execution.executor_instances) == (ExecutionMode.SPARK, 4)


def properties(text: str) -> dict[str, str]:
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return dict(line.split("=", 1) for line in lines)


def test_writers_are_told_the_lock_and_what_goes_with_it() -> None:
    told = properties(writer_properties(LOCKED, [], None)[FILE_NAME])

    assert told["hoodie.write.concurrency.mode"] == "optimistic_concurrency_control"
    assert told["hoodie.cleaner.policy.failed.writes"] == "LAZY"
    assert told[URL_KEY] == "zk:2181"
    assert "hoodie.metadata.record.index.enable" not in told


def test_writers_with_a_lock_of_files_are_told_to_ask_for_it_soon_again_and_for_as_long_as_by_default() -> None:
    locks = (FileSystemLock(), LOCKED.concurrency.lock)
    tables = [replace(LOCKED, concurrency=Concurrency(ConcurrencyMode.OPTIMISTIC, lock)) for lock in locks]

    by_files, by_zookeeper = (properties(writer_properties(table, [], None)[FILE_NAME]) for table in tables)

    wait, tries = (f"hoodie.write.lock.client.{name}" for name in ("wait_time_ms_between_retry", "num_retries"))
    assert int(by_files[wait]) * int(by_files[tries]) == 50 * 5_000
    assert not {wait, tries} & by_zookeeper.keys()


@pytest.mark.parametrize(
    ("version", "state", "streaming", "keep"),
    [
        (6, IndexState.ABSENT, None, None),
        (6, IndexState.COMPLETE, None, None),
        (8, IndexState.ABSENT, "false", "false"),
        (8, IndexState.COMPLETE, None, "false"),
        (9, IndexState.IN_FLIGHT, "false", "false"),
        (9, IndexState.COMPLETE, None, "false"),
    ],
)
def test_writers_are_told_what_their_release_needs_for_a_record_index(
    version: int, state: IndexState, streaming: str | None, keep: str | None
) -> None:
    look = seen(found(state), version=version)

    told = properties(writer_properties(LOCKED, [an_index()], look)[FILE_NAME])

    assert told["hoodie.metadata.record.index.enable"] == "true"
    assert told["hoodie.metadata.index.async"] == "true"
    assert told.get("hoodie.metadata.streaming.write.enabled") == streaming
    assert told.get("hoodie.metadata.auto.delete.partitions") == keep


_STATS, _RECORDS = "hoodie.metadata.index.column.stats.enable", "hoodie.metadata.record.index.enable"
_PARTITIONS, _SECONDARY = "hoodie.metadata.index.partition.stats.enable", "hoodie.metadata.index.secondary.enable"
_BLOOM = "hoodie.metadata.index.bloom.filter.enable"


@pytest.mark.parametrize(
    ("index_type", "enabled"),
    [
        (IndexType.FILES, set()),
        (IndexType.COLUMN_STATS, {_STATS}),
        (IndexType.PARTITION_STATS, {_STATS, _PARTITIONS}),
        (IndexType.BLOOM_FILTERS, {_BLOOM}),
        (IndexType.RECORD_INDEX, {_RECORDS}),
        (IndexType.SECONDARY_INDEX, {_RECORDS, _SECONDARY}),
    ],
)
def test_writers_are_told_what_keeps_an_index_of_each_type(index_type: IndexType, enabled: set[str]) -> None:
    index = an_index(index_type=index_type)

    told = properties(writer_properties(LOCKED, [index], seen(version=9))[FILE_NAME])

    assert {key for key in told if key.endswith(".enable")} == enabled
    assert told.get("hoodie.metadata.index.async") == ("true" if enabled else None)
    assert told.get("hoodie.metadata.streaming.write.enabled") == ("false" if enabled else None)


def test_writers_are_told_what_keeps_a_record_index_by_partition() -> None:
    told = properties(writer_properties(LOCKED, [an_index(is_partitioned=True)], seen(version=9))[FILE_NAME])

    assert {key for key in told if key.endswith(".enable")} == {"hoodie.metadata.record.level.index.enable"}


def test_writers_are_told_the_columns_of_column_stats_where_some_are_wanted() -> None:
    stats = an_index(index_type=IndexType.COLUMN_STATS, columns=("price", "address.city"))

    told = [
        properties(writer_properties(LOCKED, [each], seen(version=9))[FILE_NAME])
        for each in (stats, replace(stats, columns=()))
    ]

    lists = [each.get("hoodie.metadata.index.column.stats.column.list") for each in told]
    assert lists == ["price,address.city", None]


def test_writers_of_an_old_table_are_not_told_of_indexes_that_it_cannot_have() -> None:
    indexes = [
        an_index(index_type=IndexType.SECONDARY_INDEX, columns=("customer",)),
        an_index("stats", index_type=IndexType.PARTITION_STATS),
    ]

    told = properties(writer_properties(LOCKED, indexes, seen(version=6))[FILE_NAME])

    assert not [key for key in told if key.startswith("hoodie.metadata.")]


def test_streaming_stays_off_until_all_that_is_wanted_is_complete() -> None:
    indexes = [an_index(), an_index("filters", index_type=IndexType.BLOOM_FILTERS)]
    looks = [seen(COMPLETE, version=9), seen(COMPLETE, replace(COMPLETE, name="bloom_filters"), version=9)]

    told = [properties(writer_properties(LOCKED, indexes, look)[FILE_NAME]) for look in looks]

    assert [each.get("hoodie.metadata.streaming.write.enabled") for each in told] == ["false", None]


def test_streaming_stays_off_for_good_beside_several_secondary_indexes() -> None:
    names = ("by_customer", "by_date")
    indexes = [an_index(name, index_type=IndexType.SECONDARY_INDEX, columns=("x",)) for name in names]
    look = seen(*(replace(COMPLETE, name=f"secondary_index_{name}") for name in names), version=9)

    told = [properties(writer_properties(LOCKED, some, look)[FILE_NAME]) for some in (indexes, indexes[:1])]

    assert [each.get("hoodie.metadata.streaming.write.enabled") for each in told] == ["false", None]


def test_writers_of_a_table_that_was_not_seen_are_told_what_is_safe_everywhere() -> None:
    told = properties(writer_properties(LOCKED, [an_index()], None)[FILE_NAME])

    assert told["hoodie.metadata.streaming.write.enabled"] == "false"
    assert told["hoodie.metadata.auto.delete.partitions"] == "false"


@pytest.mark.parametrize("index_type", IndexType)
def test_every_property_for_writers_is_one_of_the_documented(
    request: pytest.FixtureRequest, index_type: IndexType
) -> None:
    page = "".join((request.config.rootpath / "docs" / name).read_text() for name in ("writers.md", "operator.md"))
    index = an_index(index_type=index_type, columns=("price",))
    table = replace(LOCKED, concurrency=Concurrency(ConcurrencyMode.OPTIMISTIC, FileSystemLock()))
    text = writer_properties(table, [index], seen(COMPLETE, version=9))[FILE_NAME]

    for key in properties(text):
        if key.startswith(
            ("hoodie.metadata.", "hoodie.write.concurrency", "hoodie.write.lock.client", "hoodie.cleaner")
        ):
            assert key in page


def test_no_secret_is_told_to_writers() -> None:
    assert "login" not in writer_properties(LOCKED, [an_index()], None)[FILE_NAME]
