"""What happens to the golden tables that are about indexes: plain functions of a Lab."""

from collections.abc import Iterable

from tests.golden.lab import Lab, Row

READINGS = "sensor STRING, seen INT, celsius DOUBLE, room STRING"
RECORD_INDEX = {"metadata__record__index__enable": "true", "index__type": "RECORD_INDEX"}
# Without its file service release 1.2.0 cannot update a secondary index: its tasks find no metadata table.
FILE_SERVICE = {"embed__timeline__server": "true"}

PLACES = ("attic", "cellar", "hall")
MANY, FEWER = 205_000, 20_000


def record_index_large(lab: Lab) -> None:
    """A record index of several blocks a shard, compacted; then updates, deletes, moves and returns in its logs."""
    lab.table(
        "id STRING, seen INT, place STRING",
        key="id",
        partition="place",
        metadata__record__index__min__filegroup__count="3",
        metadata__record__index__max__filegroup__count="3",
        metadata__compact__max__delta__commits="2",
        metadata__index__column__stats__enable="false",
        record__index__update__partition__path="true",
        parquet__compression__codec="zstd",
        parquet__small__file__limit="0",
        **RECORD_INDEX,
    )
    lab.hadoop("parquet.compression.codec.zstd.level", "19")
    count = FEWER if lab.recipe.table_version < 9 else MANY
    lab.write(_kept(range(count), seen=1), "bulk_insert", bulkinsert__sort__mode="GLOBAL_SORT")
    lab.write(_kept(range(count, count + 30), seen=2))
    lab.write(_kept([5, count + 1], seen=3) + _kept(range(100, 110), seen=3, place="attic"))
    calm = {"metadata__compact__max__delta__commits": "100"}
    lab.write(_kept(range(200, 240), seen=4), **calm)
    lab.write(_kept([*range(300, 340), 105], seen=5), "delete", **calm)
    lab.write(_kept(range(400, 440), seen=6, place="hall") + _kept([101, 102], seen=6, place="cellar"), **calm)
    lab.write(_kept([*range(300, 305), *range(count + 30, count + 40)], seen=7, place="roof"), **calm)


def _kept(numbers: Iterable[int], *, seen: int, place: str = "") -> list[Row]:
    # Neighbours live together, so that both the rows and the index compress well.
    return [
        {"id": f"k-{number:07}", "seen": seen, "place": place or PLACES[number // 10_000 % 3]} for number in numbers
    ]


def partitioned_record_index(lab: Lab) -> None:
    """A record index of its own for each partition: the same keys in several, names to escape, a partition added."""
    lab.table(
        "id STRING, seen INT, country STRING, city STRING",
        key="id",
        partition="country,city",
        index__type="RECORD_LEVEL_INDEX",
        metadata__record__level__index__enable="true",
        metadata__record__level__index__min__filegroup__count="3",
        metadata__record__level__index__max__filegroup__count="3",
        metadata__index__column__stats__enable="false",
        # So that there are HFiles, whose names have the partitions' characters in them.
        metadata__compact__max__delta__commits="2",
        parquet__small__file__limit="0",
    )
    lab.write([_lodger(n, place, seen=1) for n in range(20) for place in CITIES[:3]], "insert")
    lab.write([_lodger(n, CITIES[0], seen=2) for n in (0, 1, 30)])
    # Not in one commit with the others: releases up to 1.2.0 join what they looked up by the key alone, so that the row
    # of one partition is written to the other.
    lab.write([_lodger(1, CITIES[1], seen=2)])
    lab.remember()
    lab.write([_lodger(n, CITIES[3], seen=3) for n in range(5)])
    lab.write([_lodger(2, CITIES[0], seen=4), _lodger(3, CITIES[2], seen=4)], "delete")


CITIES = (("eu-west-1", "new york"), ("eu-west-1", "50% off"), ("eu", "west-1"), ("a$b", "plain"))


def _lodger(number: int, place: tuple[str, str], *, seen: int) -> Row:
    return {"id": f"id-{number}", "seen": seen, "country": place[0], "city": place[1]}


LONGEST_KEY = 20_000  # HBase, which writes for the older releases, ends at 32,767 bytes.


def strange_keys(lab: Lab) -> None:
    """Record keys that begin with each other, of one byte, of many, with every kind of odd character."""
    lab.table(
        "id STRING, seen INT",
        key="id",
        metadata__record__index__min__filegroup__count="4",
        metadata__record__index__max__filegroup__count="4",
        metadata__compact__max__delta__commits="3",
        metadata__index__column__stats__enable="false",
        **RECORD_INDEX,
    )
    keys = STRANGE_KEYS if lab.recipe.table_version > 6 else [key for key in STRANGE_KEYS if not _stops_hbase(key)]
    lab.write(_named(keys, seen=1), "insert")
    lab.write(_named(keys[::3], seen=2))
    lab.write(_named(("k", "k10", "a:b", "a", "😀", "é", "z" * LONGEST_KEY), seen=3), "delete")
    lab.remember()
    lab.write(_named(("k10", "k00", "a", "z" * (LONGEST_KEY - 3)), seen=4))


STRANGE_KEYS = (
    *("k", "k1", "k10", "k100", "k1000", "k ", "k\x00", "K", "kk"),
    *("a", "0", " ", "\x00", "\x01", "\x7f", "$", "\\", "'", '"', "%", ".", "\n"),
    *("a,b", "a:b", "id:a,seen:b", "a$b", "a\\$b", "\\\\", "a/b", "a%2Fb", "__all_partitions__", "null", "\t\r\n"),
    *("é", "e\u0301", "Łódź", "北京", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\ufeff", "\ufffd", "\uffff"),
    *("😀", "😀1", "\U00010000", "\U0010ffff", "\ue0001", "\uff21", "x😀", "x\ue000", "x\uffff"),
    *("z" * LONGEST_KEY, "z" * (LONGEST_KEY - 1), "z" * 5000 + "é", "北" * 3000),
)


def _stops_hbase(key: str) -> bool:
    """Java orders by UTF-16, in which pairs of surrogates come before these; HBase's writer wants UTF-8's order."""
    return any("\ue000" <= char <= "\uffff" for char in key)


def _named(keys: Iterable[str], *, seen: int) -> list[Row]:
    return [{"id": key, "seen": seen} for key in keys]


ACCOUNTS = "id STRING, seen INT, owner STRING, amount BIGINT, ratio DOUBLE, opened DATE"


def secondary(lab: Lab) -> None:
    """Four secondary indexes; values to escape, empty, shared and, where allowed, null; updated and deleted."""
    lab.table(
        ACCOUNTS,
        key="id",
        metadata__index__column__stats__enable="false",
        metadata__compact__max__delta__commits="6",
        # Streaming, release 1.2.0 keeps only the first of several secondary indexes up to date where there are logs.
        metadata__streaming__write__enabled="false",
        parquet__small__file__limit="0",
        **RECORD_INDEX,
        **FILE_SERVICE,
    )
    lab.write(_accounts(range(24), lab, seen=1), "insert")
    lab.create_index("by_owner", "owner")
    # Between two new indexes there must be a write: the second would wipe out the first.
    lab.write(_accounts([0, 24], lab, seen=2))
    lab.create_index("by_amount", "amount")
    lab.write(_accounts([1, 25], lab, seen=3))
    lab.create_index("by_ratio", "ratio")
    lab.write(_accounts([2, 26], lab, seen=4))
    lab.create_index("by_opened", "opened")
    lab.write(_accounts([3, 7], lab, seen=5, owner="$", amount=-7, ratio=2.5, opened="1969-12-31"))
    lab.write(_accounts([4, 11, 19], lab, seen=6), "delete")
    lab.remember()
    lab.write(_accounts([4, 5, 6, 30], lab, seen=7, owner="cost $5\\", amount=9_007_199_254_740_993, ratio=-0.0))


OWNERS = ("ann", "ann$", "$", "\\", "a\\$b", "", "Łódź 😀", None)


def _accounts(numbers: Iterable[int], lab: Lab, *, seen: int, **changed: object) -> list[Row]:
    # A null stops the secondary index of release 1.0.2.
    hole = "none" if lab.hudi == "1.0.2" else None
    return [
        {
            "id": f"acc${number}" if number % 4 == 0 else f"acc\\{number}" if number % 4 == 1 else f"acc {number}",
            "seen": seen,
            "owner": OWNERS[number % 8] if OWNERS[number % 8] is not None else hole,
            "amount": (number % 5) * 10_000_000_000 - 3,
            "ratio": number / 4 if number % 6 else 1e21 * number,
            "opened": f"20{number:02}-02-28",
            **changed,
        }
        for number in numbers
    ]


MEASURES = """
    id STRING, seen INT, part STRING, flag BOOLEAN, small INT, big BIGINT, near FLOAT, far DOUBLE, name STRING,
    note STRING, blob BINARY, price DECIMAL(12,3), worth DECIMAL(30,10), day DATE, at TIMESTAMP,
    tags ARRAY<STRING>, amounts MAP<STRING, INT>, place STRUCT<city: STRING, zip: INT>, never STRING, nothing INT
"""


def statistics(lab: Lab) -> None:
    """Column and partition statistics and bloom filters of every type, with odd and missing values."""
    lab.table(
        MEASURES,
        key="id",
        partition="part",
        metadata__index__column__stats__enable="true",
        metadata__index__bloom__filter__enable="true",
        metadata__compact__max__delta__commits="4",
        parquet__small__file__limit="0",
    )
    # Release 0.15.0 stops at a decimal that does not fit into its statistics, 15 digits on each side.
    fit = {"worth": "-123456789012345.0123456789"} if lab.recipe.table_version == 6 else {}
    gone = dict.fromkeys(("price", "worth", "day", "at", "blob"))
    nothing = dict.fromkeys(("flag", "small", "big", "near", "far", "name"))
    lab.write(_measures(range(12), seen=1, **fit), "insert")
    lab.write(_measures([0, 1, 12], seen=2, name="z" * 3000 + "😀", far=1e308, near=-1e38, **fit))
    lab.remember()
    lab.write(_measures([2, 5], seen=3, **fit), "delete")
    lab.write(_measures([3, 4], seen=4, far="NaN", near="NaN", **gone))
    lab.write(_measures([20, 21], seen=5, **nothing, **fit))


def _measures(numbers: Iterable[int], *, seen: int, **changed: object) -> list[Row]:
    return [
        {
            "id": f"m-{number}",
            "seen": seen,
            "part": ("a b", "ü/1")[number % 2],
            "flag": number % 3 == 0,
            "small": number - 5,
            "big": (number - 6) * 2**40,
            "near": (0.1, -0.0, "NaN", 3.5)[number % 4],
            "far": (-0.0, 0.0, 1e-300, "Infinity")[number // 2 % 4],
            "name": ("", "北京", "😀", "\uffff", "ascii")[number % 5],
            "note": "n" * (number * 20),
            "blob": ("AP8=", "gAE=", "", None)[number % 4],
            "price": f"{number - 3}.125",
            "worth": f"{number - 6}2345678901234567890.{number:02}34567891",
            "day": f"{1960 + number}-02-28",
            "at": f"{1965 + number}-12-31T23:59:59.123456Z",
            "tags": [f"t{number}", ""],
            "amounts": {"x": number},
            "place": {"city": f"c{number}", "zip": None if number % 2 else number},
            "never": None,
            "nothing": None,
            **changed,
        }
        for number in numbers
    ]


def pending(lab: Lab) -> None:
    """The last writer died after it had committed to every index and before it completed its own instant."""
    _settle_pending(lab)
    lab.forget_completion(lab.write(_readings([1, 3, 50], seen=40) + _readings([60], seen=40, room="roof")))


def pending_rolled_back(lab: Lab) -> None:
    """The writer after the one that died rolled the dead instant back, in the metadata table as well."""
    _settle_pending(lab)
    lab.forget_completion(lab.write(_readings([1, 3, 50], seen=40) + _readings([60], seen=40, room="roof")))
    lab.write(_readings([4, 50, 51], seen=50))


def _settle_pending(lab: Lab) -> None:
    lab.table(
        READINGS,
        key="sensor",
        partition="room",
        metadata__index__column__stats__enable="true",
        metadata__index__bloom__filter__enable="true",
        parquet__small__file__limit="0",
        **RECORD_INDEX,
    )
    lab.write(_readings(range(12), seen=10), "insert")
    lab.write(_readings([0, 20], seen=20))
    lab.write(_readings([2], seen=30), "delete")
    lab.remember()


def index_in_flight(lab: Lab) -> None:
    """A record index is built and not declared ready, as while its indexer catches up; writers log to it meanwhile.

    No indexer stops there by itself: it runs to its end, and then its last step is taken back.
    """
    lab.table(
        READINGS,
        key="sensor",
        partition="room",
        metadata__index__column__stats__enable="false",
        write__concurrency__mode="optimistic_concurrency_control",
        write__lock__provider="org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    )
    lab.write(_readings(range(12), seen=10), "insert")
    lab.write(_readings([0, 20], seen=20))
    lab.index_in_flight("RECORD_INDEX", **ASYNCHRONOUS)
    lab.write(_readings([1, 21], seen=30), **ASYNCHRONOUS)


ASYNCHRONOUS = {"metadata__record__index__enable": "true", "metadata__index__async": "true"}


def expression_index(lab: Lab) -> None:
    """Indexes over expressions: column statistics of a day; where there are no logs, bloom filters of capitals."""
    lab.table(
        "id STRING, seen BIGINT, name STRING, part STRING",
        key="id",
        partition="part",
        metadata__index__column__stats__enable="true",
        parquet__small__file__limit="0",
        **FILE_SERVICE,
    )
    lab.write(_visitors(range(12), seen=1_700_000_000), "insert")
    lab.create_index("by_day", "seen", "USING column_stats", "OPTIONS (expr='from_unixtime', format='yyyy-MM-dd')")
    lab.write(_visitors([0, 20], seen=1_710_000_000))
    # Release 1.2.0 stops at the first log when it has an expression's bloom filters to keep.
    if lab.recipe.table_type == "COPY_ON_WRITE":
        lab.create_index("by_capitals", "name", "USING bloom_filters", "OPTIONS (expr='upper')")
    lab.write(_visitors([1, 21], seen=1_720_000_000))
    lab.remember()
    lab.write(_visitors([2, 3], seen=1_730_000_000), "delete")
    lab.write(_visitors([4], seen=1_740_000_000))


def _visitors(numbers: Iterable[int], *, seen: int) -> list[Row]:
    return [{"id": f"v{n}", "seen": seen + n * 40_000, "name": f"name {n} ß", "part": f"p {n % 2}"} for n in numbers]


def _readings(numbers: Iterable[int], *, seen: int, room: str = "hall") -> list[Row]:
    return [
        {"sensor": f"s-{number:02}", "seen": seen, "celsius": number + seen / 100, "room": room} for number in numbers
    ]
