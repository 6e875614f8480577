"""What happens to the golden tables: plain functions of a Lab, each a story with a subject."""

from collections.abc import Iterable

from tests.golden.lab import Lab, Row

EVENT_TIME_PAYLOAD = "org.apache.hudi.common.model.DefaultHoodieRecordPayload"

ORDERS = """
    order_id STRING, line INT, seen BIGINT, region STRING,
    price DECIMAL(12,3), worth DECIMAL(30,10), placed TIMESTAMP, day DATE,
    buyer STRUCT<name: STRING, address: STRUCT<city: STRING, zip: INT>>,
    tags ARRAY<STRING>, amounts MAP<STRING, DOUBLE>, parts ARRAY<STRUCT<sku: STRING, count: INT>>,
    paid BOOLEAN, weight FLOAT, score DOUBLE, note STRING, blob BINARY, _hoodie_is_deleted BOOLEAN
"""
REGIONS = ("eu=west 1", "50% off", "Zürich/北", "plain")


def orders(lab: Lab) -> None:
    """Every type, composite keys, partition values to escape; updates, late events, deletes, a new column."""
    lab.table(
        ORDERS,
        key="order_id,line",
        partition="region",
        datasource__write__hive_style_partitioning="true",
        datasource__write__partitionpath__urlencode="true",
        datasource__write__payload__class=EVENT_TIME_PAYLOAD,
    )
    lab.write([_order(number, seen=100) for number in range(24)], "insert")
    lab.write([_order(number, seen=200, note="second") for number in range(8)])
    lab.remember()
    lab.write([_order(number, seen=50, note="late") for number in (1, 2, 20)] + [_order(24, seen=10, note="new")])
    lab.write([_order(number, seen=300, _hoodie_is_deleted=True) for number in (3, 4)])
    lab.write([_order(number, seen=250) for number in (5, 21)], "delete")
    lab.remember()
    lab.schema += ", discount DECIMAL(5,2), reasons ARRAY<STRING>"
    lab.write([_order(number, seen=400, discount=f"{number}.25", reasons=["é", ""]) for number in (6, 7, 22, 25)])


def _order(number: int, *, seen: int, **changed: object) -> Row:
    row = {
        "order_id": f"order {number // 2}",
        "line": number % 2,
        "seen": seen,
        "region": REGIONS[number % 4],
        "price": f"{number * 7}.125",
        "worth": f"-{number}00000000000.0123456789",
        "placed": f"2024-02-29T23:59:{number:02}.123456Z",
        "day": f"1969-12-{number + 1:02}",
        "buyer": {"name": f"n{number}", "address": {"city": "Łódź", "zip": number}},
        "tags": ["a", f"t{number}"],
        "amounts": {"x": number / 4, "y": None},
        "parts": [{"sku": "s", "count": number}, {"sku": None, "count": None}],
        "paid": number % 3 == 0,
        "weight": number / 8,
        "score": -number / 3,
        "note": "first",
        "blob": "AAH/",
        "_hoodie_is_deleted": False,
    }
    if number % 5 == 0:
        missing = (
            "price",
            "worth",
            "placed",
            "day",
            "buyer",
            "tags",
            "amounts",
            "parts",
            "paid",
            "weight",
            "score",
            "blob",
        )
        row |= dict.fromkeys(missing)
    return {**row, **changed}


JOURNEYS = """
    id INT, country STRING, city STRING, at TIMESTAMP, km DOUBLE, fare DECIMAL(9,2),
    stops ARRAY<STRING>, rider STRUCT<name: STRING, seats: ARRAY<STRUCT<row: INT, letter: STRING>>>
"""
PLACES = (("br", "são paulo"), ("us", "new york & co"), ("us", "50%"))
LISTS_WITH_NULLS = "parquet.avro.write-old-list-structure"


def journeys(lab: Lab) -> None:
    """Partitions two folders deep, not encoded; logs of parquet blocks; ordered by a timestamp; nulls in lists."""
    lab.table(
        JOURNEYS,
        key="id",
        partition="country,city",
        ordering="at",
        datasource__write__payload__class=EVENT_TIME_PAYLOAD,
        logfile__data__block__format="parquet",
        parquet__small__file__limit="0",
    )
    # Release 0.15.0 writes a null in a list when told to, and then cannot read it back.
    hole = "no hole" if lab.hudi == "0.15.0" else None
    lab.hadoop(LISTS_WITH_NULLS, str(lab.hudi == "0.15.0").lower())
    lab.write(_journeys(range(16), hole, minute=10), "bulk_insert")
    lab.write(_journeys([0, 1, 2, 3, 16, 17], hole, minute=30, km=1.5))
    lab.remember()
    lab.write(_journeys([1, 2, 4], hole, minute=20, km=2.5))
    lab.write(_journeys([3, 5], hole, minute=40), "delete")
    lab.remember()
    lab.write(_journeys([6, 18], hole, minute=50, km=None))
    lab.hadoop(LISTS_WITH_NULLS, "true")


def _journeys(numbers: Iterable[int], hole: str | None, *, minute: int, **changed: object) -> list[Row]:
    return [
        {
            "id": number,
            "country": PLACES[number % 3][0],
            "city": PLACES[number % 3][1],
            "at": f"2025-06-01T12:{minute}:00.00000{number % 10}Z",
            "km": number / 2,
            "fare": None if number % 4 == 3 else f"{number}.99",
            "stops": None if number % 4 == 2 else [hole, f"s{number}"],
            "rider": {"name": "ß", "seats": [{"row": number, "letter": None}, {"row": None, "letter": "é"}]},
            **changed,
        }
        for number in numbers
    ]


READINGS = "sensor STRING, seen INT, celsius DOUBLE, room STRING"


def compacted(lab: Lab) -> None:
    """No partitions. One compaction done by a writer, another planned and not begun, logs before and after it."""
    lab.table(READINGS, key="sensor", datasource__write__payload__class=EVENT_TIME_PAYLOAD)
    lab.write(_readings(range(20), seen=10), "insert")
    lab.write(_readings(range(5), seen=20))
    lab.write(_readings([1, 6], seen=30), compact__inline="true", compact__inline__max__delta__commits="2")
    lab.remember()
    lab.write(_readings([2, 7], seen=40))
    lab.write(_readings([8], seen=5))
    lab.client(compact__inline__max__delta__commits="1").scheduleCompaction(lab.none())
    lab.write(_readings([2, 9, 30], seen=50))
    lab.write(_readings([2], seen=45))
    lab.remember()
    lab.write(_readings([10, 11], seen=60), "delete")


def _readings(numbers: Iterable[int], *, seen: int, room: str = "hall") -> list[Row]:
    return [
        {"sensor": f"s-{number:02}", "seen": seen, "celsius": number + seen / 100, "room": room} for number in numbers
    ]


VISITS = "visitor STRING, seen BIGINT, day DATE, page STRING"


def services(lab: Lab) -> None:
    """Clustering, an overwritten partition, a deleted partition, a clean: all finished."""
    lab.table(
        VISITS,
        key="visitor",
        partition="day",
        datasource__write__hive_style_partitioning="true",
        parquet__small__file__limit="0",
        clean__commits__retained="2",
        cleaner__commits__retained="2",
    )
    lab.write(_visits(range(12), seen=10), "insert")
    lab.write(_visits(range(12, 18), seen=10), "insert")
    lab.write(_visits([0, 1, 12], seen=20))
    lab.write(_visits([2], seen=30), clustering__inline="true", clustering__inline__max__commits="1")
    lab.write(_visits([0, 3, 15], seen=40))
    lab.write([_visit(number, seen=50, day="2024-01-02") for number in (40, 41)], "insert_overwrite")
    lab.remember()
    lab.write(_visits([2], seen=60), "delete_partition", datasource__write__partitions__to__delete="day=2024-01-03")
    lab.remember()
    lab.client().clean()
    lab.write(_visits([3, 42], seen=70))


def _visits(numbers: Iterable[int], *, seen: int) -> list[Row]:
    return [_visit(number, seen=seen, day=f"2024-01-0{number % 3 + 1}") for number in numbers]


def _visit(number: int, *, seen: int, day: str) -> Row:
    return {"visitor": f"v{number}", "seen": seen, "day": day, "page": f"/p{number}?seen={seen}"}


def rolled_back(lab: Lab) -> None:
    """A completed commit rolled back, a failed one rolled back by the next writer, a savepoint, and a restore to it."""
    lab.table(VISITS, key="visitor", partition="day", parquet__small__file__limit="0")
    lab.write(_visits(range(9), seen=10), "insert")
    lab.write(_visits([0, 1], seen=20))
    unwanted = lab.write(_visits([0, 2, 9], seen=30))
    assert lab.client().rollback(unwanted)
    lab.write(_visits([3, 4], seen=40))
    lab.forget_completion(lab.write(_visits([4, 5, 10], seen=50)))
    kept = lab.write(_visits([5], seen=60))
    lab.client().savepoint(kept, "a tester", "before the mistake")
    lab.remember()
    lab.write(_visits([6, 11], seen=70))
    lab.write(_visits([7], seen=80), "delete")
    lab.client().restoreToSavepoint(kept)
    lab.write(_visits([8, 12], seen=90))


def archived(lab: Lab) -> None:
    """Many small commits, most of them cleaned and archived (into several files where the layout has them)."""
    lab.table(
        READINGS,
        key="sensor",
        partition="room",
        clean__automatic="true",
        clean__commits__retained="2",
        cleaner__commits__retained="2",
        archive__automatic="true",
        keep__min__commits="3",
        keep__max__commits="4",
        commits__archival__batch="1",
        timeline__compaction__batch__size="3",
        metadata__compact__max__delta__commits="2",
        compact__inline=str(lab.recipe.table_type == "MERGE_ON_READ").lower(),
        compact__inline__max__delta__commits="3",
    )
    lab.write(_readings(range(8), seen=1), "insert")
    for seen in range(2, 13):
        lab.write(
            _readings([seen % 8, (seen + 1) % 8], seen=seen) + _readings([20 + seen % 3], seen=seen, room="attic")
        )
    lab.write(_readings([0, 1], seen=20), "delete")
    lab.remember()
    lab.write(_readings([2], seen=30))


def killed(lab: Lab) -> None:
    """The last writer died before it completed its instant: its data files and its inflight file are there.

    The metadata table is committed to first, so the dead instant is complete there. Nobody is killed really: the
    completed file of the last commit is removed again, which leaves what such a writer leaves.
    """
    lab.table(VISITS, key="visitor", partition="day", parquet__small__file__limit="0")
    lab.write(_visits(range(9), seen=10), "insert")
    lab.write(_visits([0, 1], seen=20))
    lab.remember()
    fresh = [_visit(number, seen=30, day="2024-05-05") for number in (50, 51)]
    lab.forget_completion(lab.write(_visits([1, 2, 20], seen=30) + fresh))


def aged(lab: Lab) -> None:
    """The life of a table before its upgrade: logs, a rollback, archived instants."""
    lab.table(
        VISITS,
        key="visitor",
        partition="day",
        archive__automatic="true",
        keep__min__commits="3",
        keep__max__commits="4",
        clean__automatic="true",
        clean__commits__retained="2",
        cleaner__commits__retained="2",
        metadata__compact__max__delta__commits="5",
    )
    lab.write(_visits(range(9), seen=10), "insert")
    lab.client().rollback(lab.write(_visits([0], seen=15)))
    for seen in range(20, 27):
        lab.write(_visits([seen % 9, (seen + 1) % 9], seen=seen))
    lab.write(_visits([1, 2], seen=40))


def upgraded(lab: Lab) -> None:
    """A newer release writes to it and upgrades it, without having been asked."""
    lab.table(VISITS, key="visitor", partition="day", write__auto__upgrade="true")
    lab.remember()
    lab.write(_visits([2, 3, 20], seen=50))
    lab.remember()
    lab.write(_visits([3, 4], seen=45))
    lab.write(_visits([5], seen=60), "delete")


def commit_time(lab: Lab) -> None:
    """The last write wins, however old it says it is. Buckets, so that some file groups are logs alone."""
    lab.table(
        VISITS,
        key="visitor",
        partition="day",
        index__type="BUCKET",
        bucket__index__num__buckets="2",
        **({} if lab.recipe.table_version == 6 else {"write__record__merge__mode": "COMMIT_TIME_ORDERING"}),
    )
    lab.write(_visits(range(12), seen=50), "insert")
    lab.write(_visits([0, 1, 2, 3], seen=60))
    lab.remember()
    lab.write(_visits([1, 2, 4], seen=40))
    lab.write(_visits([2, 5], seen=30), "delete")
    lab.remember()
    lab.write(_visits([5, 6, 30], seen=20))


def indexed(lab: Lab) -> None:
    """A metadata table with record index, column statistics, bloom filters; where there are any, a secondary index."""
    lab.table(
        READINGS,
        key="sensor",
        partition="room",
        metadata__record__index__enable="true",
        metadata__index__column__stats__enable="true",
        metadata__index__bloom__filter__enable="true",
        metadata__compact__max__delta__commits="4",
        # Without its file service release 1.2.0 cannot update a secondary index: its tasks find no metadata table.
        embed__timeline__server="true",
        index__type="RECORD_INDEX",
    )
    lab.write(_readings(range(12), seen=10) + _readings(range(30, 36), seen=10, room="attic"), "insert")
    lab.write(_readings([0, 1], seen=20))
    if lab.recipe.table_version > 6:
        lab.create_index("by_celsius", "celsius")
    lab.write(_readings([2, 40], seen=30) + _readings([30, 41], seen=30, room="attic"))
    lab.remember()
    lab.write(_readings([3, 4], seen=40), "delete")
    lab.write(_readings([5], seen=50))


def partial(lab: Lab) -> None:
    """`MERGE INTO` logs rows that carry some columns only; whole rows and deletions before and after them."""
    lab.table(READINGS, key="sensor", datasource__write__payload__class=EVENT_TIME_PAYLOAD)
    lab.write(_readings(range(12), seen=10), "insert")
    lab.write(_readings([1, 2], seen=20, room="attic"))
    lab.sql("CREATE TABLE {table} USING hudi LOCATION '{folder}'")
    for numbers, seen, celsius in (((0, 1, 3), 30, 99.5), ((1, 4), 25, 88.5), ((0, 5), 40, 77.5)):
        values = ", ".join(f"('s-{number:02}', {seen}, {celsius}D)" for number in numbers)
        lab.sql(
            f"MERGE INTO {{table}} t USING (SELECT * FROM VALUES {values} AS v(sensor, seen, celsius)) s "
            "ON t.sensor = s.sensor WHEN MATCHED THEN UPDATE SET seen = s.seen, celsius = s.celsius"
        )
    lab.remember()
    lab.write(_readings([5, 6], seen=50), "delete")
    lab.write(_readings([0, 4, 30], seen=45, room="cellar"))


def deletions(lab: Lab) -> None:
    """Deletions, late and overtaken ones, by block and by row; keys that come back."""
    lab.table(
        READINGS + ", _hoodie_is_deleted BOOLEAN",
        key="sensor",
        datasource__write__payload__class=EVENT_TIME_PAYLOAD,
        combine__before__insert="false",
    )
    lab.write(_live(range(16), seen=50), "insert")
    lab.write(_live([1, 2, 3, 4, 5], seen=60))
    lab.write(_live([1, 6], seen=40), "delete")
    lab.write(_live([2, 7], seen=70), "delete")
    lab.remember()
    lab.write(_live([3, 8], seen=55, gone=True))
    lab.write(_live([4, 9], seen=80, gone=True))
    lab.write(_live([2, 4, 7], seen=65))
    lab.write(_live([1, 9], seen=90))
    lab.remember()
    lab.write(_live([10, 11], seen=0), "delete")
    lab.write(_live([10], seen=45))


def _live(numbers: Iterable[int], *, seen: int, gone: bool = False) -> list[Row]:
    return [{**row, "_hoodie_is_deleted": gone} for row in _readings(numbers, seen=seen)]
