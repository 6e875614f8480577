"""`hudi-engine run` as the operator uses it: plans and their hashes, progress, secrets in folders, samples."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hudi_engine.cli.jobs import carry_out
from hudi_engine.contract import Action, Grant, JobReport, JobRequest, Outcome, RunProgress
from tests.cli.test_index_commands import interrupted
from tests.kit.commands import ENGINE, Ran

Golden = Callable[[str], Path]
ALONE = {"hudi.engine.single.writer": "true"}
KINDS = ("record_index",)
CANARY = "canary-0451-of-the-run"
ZOOKEEPER = "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider"
LOCK = "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"


def files(table: Path) -> Mapping[Path, bytes]:
    return {path.relative_to(table): path.read_bytes() for path in table.rglob("*") if path.is_file()}


def plan_of(table: Path, **conf: str) -> JobReport:
    return carry_out(JobRequest(str(table), Action.PLAN, KINDS, conf={**ALONE, **conf}))


def build_of(table: Path, plan_hash: str | None, **conf: str) -> JobReport:
    return carry_out(JobRequest(str(table), Action.BUILD, KINDS, conf={**ALONE, **conf}, plan_hash=plan_hash))


def run_process(request: JobRequest, **environment: str) -> Ran:
    arguments = [str(ENGINE), "run", request.to_json()]
    done = subprocess.run(
        arguments, capture_output=True, text=True, timeout=90, check=False, env={**os.environ, **environment}
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("name", ["v6_cow_orders", "v8_mor_orders", "v9_mor_orders"])
def test_a_plan_says_what_a_build_takes_writes_nothing_and_its_hash_lets_that_build_pass(
    name: str, golden: Golden
) -> None:
    table = golden(name)
    before = files(table)

    plan = plan_of(table)
    unchanged = files(table)
    again = plan_of(table)
    built = build_of(table, plan.plan_hash)

    (kind,) = plan.kinds
    assert (plan.outcome, plan.exit_code, kind.state) == (Outcome.PLANNED, 0, Outcome.PLANNED)
    assert kind.keys > 0
    assert kind.shards == 10
    assert min(plan.read_bytes, plan.write_bytes, plan.memory_bytes) > 0
    assert plan.plan_hash == again.plan_hash
    assert unchanged == before
    assert (built.outcome, built.kinds[0].shards) == (Outcome.READY, 10)
    assert built.rows == built.kinds[0].keys > 0


def test_a_build_that_is_not_the_one_planned_is_refused_before_it_writes_anything(golden: Golden) -> None:
    table = golden("v9_mor_orders")
    plan = plan_of(table)
    before = files(table)

    other = build_of(table, plan.plan_hash, **{"hoodie.metadata.global.record.level.index.min.filegroup.count": "4"})

    assert (other.outcome, other.exit_code, other.retry) == (Outcome.PLAN_CHANGED, 26, False)
    assert plan.plan_hash is not None
    assert plan.plan_hash in other.reason
    assert "4 shards" in other.reason
    assert files(table) == before


def test_a_build_goes_on_with_a_plan_on_the_timeline_whatever_was_approved(golden: Golden) -> None:
    table = golden("v9_mor_orders")
    scheduled = carry_out(JobRequest(str(table), Action.SCHEDULE, KINDS, conf=ALONE))

    built = build_of(table, "0123456789abcdef")

    assert (built.outcome, built.instant) == (Outcome.READY, scheduled.instant)


def test_a_plan_for_a_complete_index_is_reported_as_unchanged(golden: Golden) -> None:
    plan = plan_of(golden("v9_mor_indexed"))

    assert (plan.outcome, plan.exit_code, plan.plan_hash) == (Outcome.UNCHANGED, 0, None)
    assert plan.reason == "nothing to do: record_index: complete already"


def test_a_plan_can_be_made_where_there_is_no_metadata_table_yet(golden: Golden) -> None:
    table = golden("v9_mor_orders")
    with_metadata = plan_of(table)
    carry_out(JobRequest(str(table), Action.DROP, KINDS, conf=ALONE))
    subprocess.run([ENGINE, "metadata", "disable", table, "--single-writer"], check=True, capture_output=True)

    assert plan_of(table).plan_hash == with_metadata.plan_hash


def test_a_plan_that_no_build_could_carry_out_is_refused(golden: Golden) -> None:
    without_lock = carry_out(JobRequest(str(golden("v9_mor_orders")), Action.PLAN, KINDS))

    assert (without_lock.outcome, without_lock.exit_code) == (Outcome.FAILED, 20)
    assert "hoodie.write.lock.provider" in without_lock.reason


def test_the_report_says_how_long_the_lock_was_waited_for(golden: Golden) -> None:
    table = golden("v9_mor_orders")
    (table / ".hoodie/lock").write_text("{}")
    conf = {"hoodie.write.lock.provider": LOCK, "hoodie.write.lock.wait_time_ms": "300"}

    report = carry_out(JobRequest(str(table), Action.SCHEDULE, KINDS, conf=conf))

    assert (report.exit_code, report.lock_holds.count) == (22, 0)
    assert report.lock_holds.waits_total_ms >= report.lock_holds.waits_max_ms >= 300


def test_a_validation_says_of_each_index_what_became_of_it_and_the_first_discrepancies(golden: Golden) -> None:
    table = golden("v9_mor_indexed")
    victim = next(path for path in sorted(table.rglob("*.parquet")) if ".hoodie" not in path.parts)
    victim.unlink()

    report = carry_out(JobRequest(str(table), Action.VALIDATE, ("files", "bloom_filters")))

    assert (report.outcome, report.exit_code) == (Outcome.INVALID, 1)
    assert {kind.kind: kind.state for kind in report.kinds}["files"] is Outcome.INVALID
    assert f"{victim.name}" in report.reason


def test_a_sample_of_file_groups_is_validated(golden: Golden) -> None:
    request = JobRequest(str(golden("v9_mor_indexed")), Action.VALIDATE, KINDS)

    whole = carry_out(request)
    part = carry_out(JobRequest(request.table, Action.VALIDATE, KINDS, sample=1))

    assert part.outcome is whole.outcome is Outcome.VALID
    assert part.rows < whole.rows


def test_progress_of_a_run_ends_with_its_last_phase_done(golden: Golden, tmp_path: Path) -> None:
    request = JobRequest(
        str(golden("v9_mor_orders")), Action.BUILD, KINDS, conf=ALONE, progress_path=str(tmp_path / "progress")
    )

    report = carry_out(request)

    progress = RunProgress.from_json((tmp_path / "progress").read_text())
    assert report.outcome is Outcome.READY
    assert progress.phase in {"base", "catch-up"}
    assert progress.total is None or progress.done == progress.total


@pytest.mark.parametrize(
    ("given", "refused"),
    [({}, "hudi.engine.zookeeper.sasl.mechanism"), ({"sasl.mechanism": "DIGEST-MD5"}, "hudi.engine.zookeeper.acl")],
)
def test_properties_of_folders_are_taken_and_those_of_the_request_win(
    given: dict[str, str], refused: str, golden: Golden, tmp_path: Path
) -> None:
    (tmp_path / "conf").mkdir()
    for key, value in {
        "sasl.mechanism": "OTHER",
        "sasl.username": "nobody-0451",
        "sasl.password": "nobody-0451",
        "acl": "none",
    }.items():
        (tmp_path / "conf" / f"hudi.engine.zookeeper.{key}").write_text(value)
    lock = {
        "provider": ZOOKEEPER,
        "zookeeper.url": "127.0.0.1:1",
        "zookeeper.base_path": "/b",
        "zookeeper.lock_key": "k",
    }
    conf = {f"hoodie.write.lock.{key}": value for key, value in lock.items()}
    conf |= {f"hudi.engine.zookeeper.{key}": value for key, value in given.items()}
    table, folders = str(golden("v9_mor_orders")), (str(tmp_path / "conf"),)

    report = carry_out(JobRequest(table, Action.SCHEDULE, KINDS, conf=conf, conf_from=folders))

    assert (report.outcome, report.exit_code) == (Outcome.FAILED, 20)
    assert report.reason.startswith(refused)


def test_sigterm_ends_a_run_with_its_code_and_a_report(golden: Golden, tmp_path: Path) -> None:
    table = golden("v9_mor_orders")
    (table / ".hoodie/lock").write_text("{}")
    request = JobRequest(
        str(table),
        Action.BUILD,
        KINDS,
        conf={"hoodie.write.lock.provider": LOCK},
        report_path=str(tmp_path / "report"),
        progress_path=str(tmp_path / "progress"),
    )

    ran = interrupted(signal.SIGTERM, "run", request.to_json())

    report = JobReport.from_json((tmp_path / "report").read_text().strip())
    assert ran.code == report.exit_code == 143
    assert (report.outcome, report.retry) == (Outcome.INTERRUPTED, True)
    assert JobReport.from_json(ran.out.splitlines()[-1]) == report


@pytest.mark.parametrize("debug", ["", "1"])
@pytest.mark.parametrize(
    ("table", "action", "conf"),
    [
        ("v9_mor_orders", Action.BUILD, ALONE),
        ("v9_mor_orders", Action.PLAN, {}),
        ("v9_mor_orders", Action.BUILD, {"hoodie.write.lock.provider": "a.strange.Lock"}),
        ("v9_mor_orders", Action.VALIDATE, {"hudi.engine.timeline.timezone": "Nowhere"}),
        (
            "s3a://bucket/table",
            Action.BUILD,
            {**ALONE, "fs.s3a.endpoint": "http://127.0.0.1:9", "fs.s3a.endpoint.region": "x"},
        ),
    ],
)
def test_no_secret_of_a_folder_is_told_anywhere(
    table: str, action: Action, conf: Mapping[str, str], debug: str, golden: Golden, tmp_path: Path
) -> None:
    where = table if table.startswith("s3a:") else str(golden(table))
    (tmp_path / "secrets").mkdir()
    # The last ones are no numbers and no zones, so that an error is about them.
    for key in ("fs.s3a.secret.key", "fs.s3a.access.key", "fs.s3a.session.token", "hoodie.write.lock.wait_time_ms"):
        (tmp_path / "secrets" / key).write_text(f"{CANARY}-{key}")
    request = JobRequest(
        where,
        action,
        KINDS,
        conf=conf,
        report_path=str(tmp_path / "report"),
        conf_from=(str(tmp_path / "secrets"),),
        progress_path=str(tmp_path / "progress"),
    )

    ran = run_process(request, HUDI_ENGINE_DEBUG=debug)

    assert ran.code == JobReport.from_json((tmp_path / "report").read_text().strip()).exit_code
    assert CANARY not in ran.out + ran.err
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.parent.name != "secrets":
            assert CANARY.encode() not in path.read_bytes(), path
    assert CANARY not in request.to_json()


@pytest.mark.parametrize("debug", ["", "1"])
def test_folders_that_cannot_be_read_are_one_error_without_a_value(debug: str, golden: Golden, tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "fs.s3a.secret.key").write_text(f"{CANARY}{number}")
    folders = (str(tmp_path / "1"), str(tmp_path / "2"))

    ran = run_process(
        JobRequest(str(golden("v9_mor_orders")), Action.BUILD, KINDS, conf=ALONE, conf_from=folders),
        HUDI_ENGINE_DEBUG=debug,
    )

    report = JobReport.from_json(ran.out.splitlines()[-1])
    assert (ran.code, report.outcome, report.exit_code, report.retry) == (20, Outcome.FAILED, 20, False)
    assert report.reason.startswith("conf_from: 'fs.s3a.secret.key' is in ")
    assert CANARY not in ran.out + ran.err


def test_a_request_with_a_hash_comes_from_the_command_line_too(golden: Golden) -> None:
    request = {"version": 1, "table": str(golden("v9_mor_orders")), "action": "build", "kinds": ["record_index"]}

    done = subprocess.run(
        [ENGINE, "run", json.dumps({**request, "conf": ALONE, "plan_hash": "00000000"})],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 26
    assert JobReport.from_json(done.stdout.splitlines()[-1]).outcome is Outcome.PLAN_CHANGED


@pytest.mark.parametrize("is_of_lock", [False, True])
def test_a_job_opens_neither_a_table_nor_a_lock_that_its_grant_does_not_cover(
    is_of_lock: bool, golden: Golden, tmp_path: Path
) -> None:
    table = golden("v9_mor_orders")
    before = files(table)
    folder = tmp_path / "locks"
    lock = {"hoodie.write.lock.provider": LOCK, "hoodie.write.lock.filesystem.path": str(folder)}
    grant = Grant(str(table) if is_of_lock else str(tmp_path / "other"))
    conf = lock if is_of_lock else ALONE

    report = carry_out(JobRequest(str(table), Action.BUILD, KINDS, conf=conf, grant=grant))

    refused = folder if is_of_lock else table
    assert (report.outcome, report.exit_code, report.retry) == (Outcome.FAILED, 27, False)
    assert report.reason.startswith(f"{refused}: the operator's policy allows places below {grant.path} only")
    assert not folder.exists()
    assert files(table) == before


def test_a_job_that_its_grant_covers_is_done(golden: Golden) -> None:
    table = golden("v9_mor_orders")

    report = carry_out(JobRequest(str(table), Action.PLAN, KINDS, conf=ALONE, grant=Grant(f"file:{table.parent}")))

    assert report.outcome is Outcome.PLANNED
