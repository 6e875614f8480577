"""Bad input to a build of any kind of index: one clear error, its exit code, and a table that is as it was."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from hudi_engine.cli.jobs import carry_out
from hudi_engine.contract import Action, JobRequest, Outcome
from tests.cli.test_bad_input import require_refusal
from tests.cli.test_index_commands import ALONE, NO_LOCKS, PROPERTIES, ZOOKEEPER_IS_DOWN, conf, file_lock, files
from tests.golden.unpack import unpack
from tests.kit.commands import Ran

Run = Callable[..., Ran]
Stand = Callable[[str], Path]
SECONDARY: Final = "secondary_index_by_note"
KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "record_index": ("--type", "record_index"),
    "column_stats": ("--type", "column_stats"),
    "partition_stats": ("--type", "partition_stats"),
    "bloom_filters": ("--type", "bloom_filters"),
    SECONDARY: ("--type", SECONDARY, "--column", "note"),
}
STANDS: Final[Mapping[str, tuple[str, tuple[tuple[Action, str], ...]]]] = {
    "plain": ("v9_mor_orders", ()),
    "no statistics": ("v9_mor_orders", ((Action.DROP, "partition_stats"), (Action.DROP, "column_stats"))),
    "ready": ("v9_mor_orders", ((Action.BUILD, "record_index"), (Action.DROP, "partition_stats"))),
    "version 6": ("v6_mor_orders", ()),
    "no partitions": ("v9_mor_secondary", ()),
}
"""Tables of real Hudi, and what the engine went on to do to them."""
STAND_OF: Final = {"column_stats": "no statistics", "partition_stats": "ready", SECONDARY: "ready"}
"""Where all is there that the kind is built upon, and itself is not."""
GIVEN: Final = ".hoodie/.index_attempts/given-"
"""What remembers which attempts there were, so that no number is ever given twice: it stays."""
OTHERS: Final = [kind for kind in KINDS if kind != "record_index"]  # which has the same tests in test_index_commands
each_kind = pytest.mark.parametrize("kind", KINDS)
each_other_kind = pytest.mark.parametrize("kind", OTHERS)
of_rows = pytest.mark.parametrize("kind", ["record_index", SECONDARY])
SHARDS: Final = {
    "record_index": "hoodie.metadata.global.record.level.index.min.filegroup.count",
    "column_stats": "hoodie.metadata.index.column.stats.file.group.count",
    "partition_stats": "hoodie.metadata.index.partition.stats.file.group.count",
    "bloom_filters": "hoodie.metadata.index.bloom.filter.file.group.count",
    SECONDARY: "hoodie.metadata.global.record.level.index.min.filegroup.count",
}
BY_IT: Final = ("--type", "secondary_index_by_it")
REFUSED: Final[Mapping[str, tuple[str, tuple[str, ...], int, tuple[str, ...]]]] = {
    "secondary: no such column": ("ready", (*BY_IT, "--column", "nope"), 10, ("'nope'", "order_id", "Name one")),
    "secondary: no such part": ("ready", (*BY_IT, "--column", "buyer.zip"), 10, ("'buyer.zip'", "Name one")),
    "secondary: a decimal": ("ready", (*BY_IT, "--column", "price"), 18, ("price is decimal128(12, 3)", "Choose")),
    "secondary: a struct": ("ready", (*BY_IT, "--column", "buyer"), 18, ("buyer is struct", "Choose another")),
    "secondary: a list": ("ready", (*BY_IT, "--column", "tags"), 18, ("tags is list", "Choose another")),
    "secondary: no column": ("ready", BY_IT, 18, ("secondary_index_by_it: no column", "--column")),
    "secondary: two columns": ("ready", (*BY_IT, "--column", "note,day"), 18, ("2 columns (note, day)", "of each")),
    "secondary: version 6": ("version 6", (*BY_IT, "--column", "note"), 18, ("version 6", "Upgrade")),
    "secondary: no record index": ("plain", (*BY_IT, "--column", "note"), 20, ("Build record_index first",)),
    "secondary: record index to be by partition": (
        "plain",
        ("--type", "record_index", "--partitioned", *BY_IT, "--column", "note"),
        18,
        ("kept by partition", "global"),
    ),
    "partition_stats: no column_stats": (
        "no statistics",
        ("--type", "partition_stats"),
        20,
        ("Build column_stats first",),
    ),
    "partition_stats: version 6": (
        "version 6",
        ("--type", "partition_stats", "--type", "column_stats"),
        18,
        ("needs table version 8, this table has 6", "Leave this index out"),
    ),
    "partition_stats: no partitions": (
        "no partitions",
        ("--type", "partition_stats", "--type", "column_stats"),
        18,
        ("has no partitions", "column_stats does"),
    ),
    "column_stats: no such column": (
        "no statistics",
        ("--type", "column_stats", "--column", "note", "--column", "nope"),
        10,
        ("'nope'", "order_id", "Name one"),
    ),
    "column_stats: no such part": (
        "no statistics",
        ("--type", "column_stats", "--column", "buyer.zip"),
        10,
        ("'buyer.zip'", "Name one"),
    ),
    "column_stats: a struct": (
        "no statistics",
        ("--type", "column_stats", "--column", "buyer"),
        18,
        ("buyer is struct", "Leave it out"),
    ),
    "column_stats: a limit that is no number": (
        "no statistics",
        ("--type", "column_stats", "--conf", "hoodie.metadata.index.column.stats.max.columns.to.index=many"),
        18,
        ("max.columns.to.index='many'", "a number", "set it right"),
    ),
}
"""What is asked of which table, how it ends, and what is said."""
SENSELESS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "a column twice": (("--type", "column_stats", "--column", "note", "--column", "note"), "'note' is given twice"),
    "two columns of a secondary index": (
        (*BY_IT, "--column", "note", "--column", "day"),
        "2 columns, expected exactly",
    ),
    "a column without a name": ((*BY_IT, "--column", ""), "columns['secondary_index_by_it']: empty"),
    "a column of an index that is not asked for": ((*BY_IT, "--column", "column_stats=note"), "not among kinds"),
    "a column of bloom filters": (("--type", "bloom_filters", "--column", "note"), "0 of the indexes"),
    **{
        f"columns of {kind}": (("--type", kind, "--column", f"{kind}=note"), "no other index has columns")
        for kind in ("record_index", "partition_stats", "bloom_filters")
    },
    **{
        f"an index named {name}": (("--type", name, "--column", f"{name}=note"), "NAME of letters, digits and '_'")
        for name in ("secondary_index_", "secondary_index_a/b", "secondary_index_../x", "secondary_index_a.b")
    },
}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The table of that name, made once."""
    found: dict[str, Path] = {}

    def made(name: str) -> Path:
        if name not in found:
            golden, jobs = STANDS[name]
            found[name] = unpack(golden, tmp_path_factory.mktemp("stand"))
            for action, kind in jobs:
                job = JobRequest(str(found[name]), action, (kind,), conf={"hudi.engine.single.writer": "true"})
                assert carry_out(job).outcome in {Outcome.READY, Outcome.DROPPED}
        return found[name]

    return made


@pytest.fixture
def stand(made: Callable[[str], Path], tmp_path: Path) -> Stand:
    """A copy of the table of that name, or for that kind, for a test to damage."""
    return lambda name: shutil.copytree(
        made(name if name in STANDS else STAND_OF.get(name, "plain")), tmp_path / "table"
    )


@each_kind
def test_what_is_refused_here_is_built_where_nothing_is_wrong(kind: str, stand: Stand, run: Run) -> None:
    assert run("index", "build", stand(kind), *KINDS[kind], ALONE).code == 0


@each_other_kind
@pytest.mark.parametrize(("settings", "code", "words"), NO_LOCKS)
def test_lock_settings_that_do_not_lock_are_refused_naming_what_to_set(
    kind: str, settings: Mapping[str, str], code: int, words: list[str], stand: Stand, run: Run
) -> None:
    table = stand(kind)
    before = files(table)

    require_refusal(run("index", "build", table, *KINDS[kind], *conf(settings)), code, *words)
    assert files(table) == before


@each_other_kind
@pytest.mark.parametrize(
    ("settings", "code", "word"),
    [(ZOOKEEPER_IS_DOWN, 28, "127.0.0.1:1"), (file_lock(wait_ms=100), 22, ".hoodie/lock")],
    ids=["ZooKeeper is down", "another has the lock"],
)
def test_a_lock_that_is_not_to_be_had_is_waited_for_and_refused(
    kind: str, settings: Mapping[str, str], code: int, word: str, stand: Stand, run: Run
) -> None:
    table = stand(kind)
    if settings is not ZOOKEEPER_IS_DOWN:
        (table / ".hoodie/lock").write_text("{}")
    before = files(table)

    ran = run("index", "build", table, *KINDS[kind], *conf(settings), "--json")

    assert (ran.code, ran.document["outcome"], ran.document["retry"]) == (code, "failed", True)
    assert word in ran.document["reason"]
    assert files(table) == before


@each_kind
@pytest.mark.parametrize("arguments", [(ALONE,), conf(ZOOKEEPER_IS_DOWN)], ids=["no lock", "ZooKeeper"])
def test_another_lock_than_the_one_that_somebody_holds_is_refused_naming_both(
    kind: str, arguments: tuple[str, ...], stand: Stand, run: Run
) -> None:
    table = stand(kind)
    (table / ".hoodie/lock").write_text("")
    before = files(table)

    ran = run("index", "build", table, *KINDS[kind], *arguments)

    require_refusal(ran, 20, ".hoodie/lock", "FileSystemBasedLockProvider")
    assert files(table) == before


@each_kind
def test_a_promise_to_be_alone_is_refused_where_a_writers_heart_beats(kind: str, stand: Stand, run: Run) -> None:
    table = stand(kind)
    (table / ".hoodie/timeline/20261118130000000.deltacommit.requested").touch()
    (table / ".hoodie/.heartbeat").mkdir(exist_ok=True)
    (table / ".hoodie/.heartbeat/20261118130000000").touch()
    before = files(table)

    ran = run("index", "build", table, *KINDS[kind], ALONE)

    require_refusal(
        ran, 22, "20261118130000000 (deltacommit", "hudi.engine.single.writer", "hoodie.write.lock.provider"
    )
    assert files(table) == before


@each_kind
@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("hoodie.table.version", "10", ("hoodie.table.version=10", "6, 8, 9", "newer engine")),
        ("hoodie.table.base.file.format", "ORC", ("hoodie.table.base.file.format='ORC'", "PARQUET")),
        ("hoodie.table.base.file.format", "HFILE", ("HFILE", "Parquet")),
        ("hoodie.table.multiple.base.file.formats.enable", "true", ("multiple.base.file.formats.enable='true'",)),
    ],
)
def test_a_table_that_is_not_understood_is_refused_naming_the_property(
    kind: str, key: str, value: str, words: tuple[str, ...], stand: Stand, run: Run
) -> None:
    table = stand(kind)
    _set(table, key, value)
    before = files(table)

    ran = run("index", "build", table, *KINDS[kind], ALONE)

    require_refusal(ran, 18)
    assert all(word.lower() in ran.err.lower() for word in words), ran.err
    assert files(table) == before


@of_rows
@pytest.mark.parametrize(
    ("key", "value"), [("hoodie.record.merge.mode", "CUSTOM"), ("hoodie.populate.meta.fields", "false")]
)
def test_rows_that_only_their_writer_can_read_are_refused_before_there_is_a_plan(
    kind: str, key: str, value: str, stand: Stand, run: Run
) -> None:
    table = stand(kind)
    _set(table, key, value)
    before = files(table)

    require_refusal(run("index", "build", table, *KINDS[kind], ALONE), 18, f"{key}={value}")
    assert files(table) == before


@each_kind
@pytest.mark.parametrize("value", ["some", "-1", "10001"])
def test_a_number_of_shards_that_makes_no_sense_is_refused_before_there_is_a_plan(
    kind: str, value: str, stand: Stand, run: Run
) -> None:
    table = stand(kind)
    before = files(table)

    ran = run("index", "build", table, *KINDS[kind], ALONE, "--conf", f"{SHARDS[kind]}={value}")

    assert ran.code in {18, 20}
    require_refusal(ran, ran.code, SHARDS[kind], value, "expected", "set it right")
    assert files(table) == before


@pytest.mark.parametrize("arguments", [("build",), ("schedule",), ("build", "--dry-run")], ids=" ".join)
@pytest.mark.parametrize("case", REFUSED)
def test_what_no_index_can_be_made_of_is_refused_before_the_first_write(
    case: str, arguments: tuple[str, ...], stand: Stand, run: Run
) -> None:
    where, asked, code, words = REFUSED[case]
    table = stand(where)
    before = files(table)

    require_refusal(run("index", *arguments, table, *asked, ALONE), code, *words)
    assert files(table) == before


@pytest.mark.parametrize("case", SENSELESS)
def test_columns_and_names_that_make_no_sense_are_code_2(case: str, stand: Stand, run: Run) -> None:
    asked, words = SENSELESS[case]
    table = stand("ready")
    before = files(table)

    ran = run("index", "build", table, *asked, ALONE)

    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert files(table) == before


@pytest.mark.parametrize(
    "asked",
    [REFUSED["secondary: no record index"][1], REFUSED["column_stats: no such column"][1]],
    ids=["rows", "files"],
)
def test_what_is_refused_leaves_a_table_without_metadata_table_without_one(
    asked: tuple[str, ...], stand: Stand, run: Run
) -> None:
    table = stand("plain")
    assert run("metadata", "disable", table, ALONE).code == 0
    before = files(table)

    ran = run("index", "build", table, *asked, ALONE)

    require_refusal(ran, ran.code)
    assert ran.code in {10, 20}
    assert files(table) == before


@each_kind
def test_a_footer_that_is_cut_off_ends_the_build_naming_the_file_and_nothing_is_left_of_it(
    kind: str, stand: Stand, run: Run
) -> None:
    table = stand(kind)
    *_, newest = sorted(table.glob("region=*/*.parquet"))
    newest.write_bytes(newest.read_bytes()[:-100])
    before = files(table)

    ran = run("index", "build", table, *KINDS[kind], ALONE)

    require_refusal(ran, 17, newest.name, "corrupt at offset", f"the file has {newest.stat().st_size}")
    assert _without_given(files(table)) == _without_given(before)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "bloom_filters"])  # which logs have none of
def test_a_log_with_a_damaged_block_ends_the_build_naming_the_file_and_nothing_is_left_of_it(
    kind: str, stand: Stand, run: Run
) -> None:
    table = stand(kind)
    *_, newest = sorted(table.glob("region=*/.*.log.*"))
    data = newest.read_bytes()
    middle = len(data) // 2
    newest.write_bytes(data[:middle] + b"\xff" * 40 + data[middle + 40 :])
    before = files(table)

    ran = run("index", "build", table, *KINDS[kind], ALONE)

    require_refusal(ran, 17, newest.name, "corrupt at offset", "a log block")
    assert _without_given(files(table)) == _without_given(before)


def _set(table: Path, key: str, value: str) -> None:
    lines = (table / PROPERTIES).read_text("latin-1").splitlines()
    kept = [line for line in lines if not line.startswith(f"{key}=")]
    (table / PROPERTIES).write_text("\n".join([*kept, f"{key}={value}"]) + "\n", "latin-1")


def _without_given(found: Mapping[Path, bytes]) -> dict[Path, bytes]:
    return {path: data for path, data in found.items() if not str(path).startswith(GIVEN)}
