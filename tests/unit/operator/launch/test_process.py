"""Runs as processes: each exactly once, whoever is killed when."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from hudi_engine.contract import Action, Grant, JobRequest, Outcome
from hudi_operator.launch import keeper
from hudi_operator.launch.protocol import NameConflict, NotStarted
from hudi_operator.launch.records import RunFolder, order_text
from hudi_operator.launch.sight import STARTING_SECONDS
from hudi_operator.policy import Policy, Rules
from hudi_operator.resources.model import Execution
from hudi_operator.runs import RunKey, RunPhase
from tests.unit.operator.launch.orders import (
    CANARY,
    folder_of,
    has_ended,
    launcher,
    order,
    starts,
    until,
    until_file,
)

KEY = RunKey("default", "orders-keys-1", "uid-1")


def test_a_run_ends_with_its_exit_code_and_its_report(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("ends"))
        run = await until(runs, has_ended)

        assert (run.phase, run.exit_code, run.trouble) == (RunPhase.ENDED, 0, "")
        assert run.report is not None
        assert run.report.outcome is Outcome.VALID
        assert (run.owner_uid, run.action, run.trigger, run.attempt) == ("uid-1", Action.VALIDATE, "token-1", 1)
        assert run.base_path == "ends"
        assert run.started_at is not None
        assert run.ended_at is not None
        assert run.created_at <= run.started_at <= run.ended_at

    asyncio.run(story())


def test_a_run_tells_for_which_indexes_it_is(tmp_path: Path) -> None:
    async def story() -> None:
        runs, kinds = launcher(tmp_path), ("record_index", "column_stats")
        await runs.start(order("ends", request=JobRequest("ends", Action.BUILD, kinds)))

        assert (await until(runs, has_ended)).kinds == kinds

    asyncio.run(story())


def test_a_run_without_a_report_tells_the_last_that_it_said(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("fails"))
        run = await until(runs, has_ended)

        assert (run.exit_code, run.report, run.trouble) == (70, None, "the engine speaks")

    asyncio.run(story())


def test_an_order_given_again_is_the_same_run_while_it_runs_and_after_it_ended(tmp_path: Path) -> None:
    async def story() -> None:
        runs, others = launcher(tmp_path), launcher(tmp_path)
        for each in (runs, others, runs):
            await each.start(order("ends"))
        await until(runs, has_ended)
        for each in (runs, others):
            await each.start(order("ends"))

        assert len(starts(tmp_path)) == 1
        assert len(await runs.runs()) == 1

    asyncio.run(story())


def test_a_run_of_another_owner_is_a_conflict_and_is_left_alone(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("ends"))
        with pytest.raises(
            NameConflict, match="is of TableService default/orders-keys with uid uid-1, not of uid uid-2"
        ):
            await runs.start(order("ends", owner_uid="uid-2"))

        assert (await until(runs, has_ended)).owner_uid == "uid-1"

    asyncio.run(story())


def test_a_folder_that_is_no_record_is_a_conflict_and_hides_no_run(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        folder_of(tmp_path, "strange").mkdir(parents=True)
        (folder_of(tmp_path, "strange") / "order.json").write_text("{}")
        await runs.start(order("ends"))
        with pytest.raises(NameConflict, match="not a record of a run"):
            await runs.start(order("ends", "strange"))

        assert [run.name for run in await runs.runs()] == ["orders-keys-1"]
        await until(runs, has_ended)

    asyncio.run(story())


def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    for name in ("../outside", "a/b", "..", ".hidden", ""):
        with pytest.raises(ValueError, match="name of a folder"):
            asyncio.run(launcher(tmp_path).start(order("ends", name)))

    assert not list(tmp_path.iterdir())


def test_stop_ends_the_run_cleanly_and_may_be_repeated(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("runs"))
        await until_file(folder_of(tmp_path) / "deaf")
        await runs.stop(KEY)
        await runs.stop(KEY)
        run = await until(runs, has_ended)

        assert (run.phase, run.exit_code, run.is_stopping) == (RunPhase.ENDED, 143, False)
        assert run.report is not None
        assert run.report.outcome is Outcome.INTERRUPTED
        await runs.stop(KEY)
        await runs.stop(replace(KEY, name="no-such-run"))

    asyncio.run(story())


def test_a_run_that_does_not_end_when_asked_is_killed_after_its_grace_period(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("deaf"))
        await until_file(folder_of(tmp_path) / "deaf")
        await runs.stop(KEY)
        assert (await until(runs, lambda run: True)).is_stopping
        run = await until(runs, has_ended)

        assert (run.phase, run.exit_code) == (RunPhase.ENDED, 137)

    asyncio.run(story())


@pytest.mark.thorough
def test_a_run_whose_time_is_over_is_stopped_without_an_operator(tmp_path: Path) -> None:
    async def story() -> None:
        execution = Execution(active_deadline_seconds=1, termination_grace_period_seconds=1)
        await launcher(tmp_path).start(order("deaf", execution=execution))
        run = await until(launcher(tmp_path), has_ended)

        assert (run.exit_code, run.trouble_reason) == (137, "DeadlineExceeded")
        assert run.trouble == "it was stopped because it had not ended after 1 seconds (activeDeadlineSeconds)"

    asyncio.run(story())


def test_an_engine_that_is_killed_ends_with_137(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("runs"))
        await until_file(folder_of(tmp_path) / "deaf")
        os.kill(int((folder_of(tmp_path) / "engine").read_text().split()[0]), signal.SIGKILL)
        run = await until(runs, has_ended)

        assert (run.phase, run.exit_code, run.trouble_reason) == (RunPhase.ENDED, 137, "Killed")

    asyncio.run(story())


def test_while_the_engine_of_a_killed_keeper_lives_the_run_does_too_and_can_be_stopped(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("runs"))
        await until_file(folder_of(tmp_path) / "deaf")
        os.kill(int((folder_of(tmp_path) / "keeper").read_text().split()[0]), signal.SIGKILL)
        for _ in range(3):
            assert (await until(runs, lambda run: True)).phase is RunPhase.RUNNING
            await runs.start(order("runs"))
        await runs.stop(KEY)
        run = await until(runs, has_ended)

        # The engine's own report tells how it ended.
        assert (run.phase, run.exit_code) == (RunPhase.ENDED, 143)
        assert len(starts(tmp_path)) == 1

    asyncio.run(story())


def test_a_run_of_which_every_process_was_killed_is_lost_and_never_begun_again(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("runs"))
        await until_file(folder_of(tmp_path) / "deaf")
        for name in ("keeper", "engine"):
            os.kill(int((folder_of(tmp_path) / name).read_text().split()[0]), signal.SIGKILL)
        run = await until(runs, has_ended)
        await runs.start(order("runs"))

        assert (run.phase, run.exit_code) == (RunPhase.LOST, None)
        assert run.trouble.endswith("how it ended is not known; it said last: the engine speaks")
        assert len(starts(tmp_path)) == 1

    asyncio.run(story())


def test_what_an_engine_leaves_behind_is_ended_with_it(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("leaves a child"))
        child = int(await until_file(folder_of(tmp_path) / "child"))
        run = await until(runs, has_ended)

        assert run.exit_code == 0
        # It has no parent but the system's first process, which may take a moment to bury it.
        assert _is_gone(child)

    asyncio.run(story())


def test_an_order_whose_operator_was_killed_before_its_process_began_is_begun_when_given_again(tmp_path: Path) -> None:
    async def story() -> None:
        _ordered_only(tmp_path, created_ms=_now_ms())
        runs = launcher(tmp_path)
        assert (await until(runs, lambda run: True)).phase is RunPhase.WAITING
        await runs.start(order("ends"))
        await until(runs, has_ended)

        assert len(starts(tmp_path)) == 1

    asyncio.run(story())


def test_an_order_that_nobody_begins_is_given_up_for_good(tmp_path: Path) -> None:
    async def story() -> None:
        _ordered_only(tmp_path, created_ms=_now_ms() - int(STARTING_SECONDS * 1000))
        runs = launcher(tmp_path)
        run = await until(runs, lambda run: True)
        await runs.start(order("ends"))

        assert (run.phase, run.trouble_reason) == (RunPhase.LOST, "Lost")
        assert "before it had started its process" in run.trouble
        assert starts(tmp_path) == []

    asyncio.run(story())


def test_an_order_that_somebody_is_about_to_begin_is_not_given_up(tmp_path: Path) -> None:
    async def story() -> None:
        _ordered_only(tmp_path, created_ms=0)
        runs = launcher(tmp_path)
        with RunFolder(folder_of(tmp_path)).held() as lock:
            assert lock is not None
            assert (await until(runs, lambda run: True)).phase is RunPhase.WAITING
            await runs.start(order("ends"))

        assert starts(tmp_path) == []

    asyncio.run(story())


def test_a_run_stopped_before_its_process_began_never_begins(tmp_path: Path) -> None:
    async def story() -> None:
        _ordered_only(tmp_path, created_ms=_now_ms())
        runs = launcher(tmp_path)
        await runs.stop(KEY)
        await runs.start(order("ends"))

        assert (await until(runs, has_ended)).exit_code == 143
        assert starts(tmp_path) == []

    asyncio.run(story())


def test_a_wish_to_stop_that_is_older_than_the_keeper_is_fulfilled(tmp_path: Path) -> None:
    _ordered_only(tmp_path, created_ms=_now_ms())
    folder = folder_of(tmp_path)
    (folder / "stop").write_text("")
    with RunFolder(folder).held() as lock:
        assert lock is not None
        command = [
            sys.executable,
            "-I",
            "-S",
            keeper.__file__,
            str(folder),
            str(lock),
            "60",
            "60",
            "/bin/sleep",
            "1000",
        ]
        subprocess.run(command, pass_fds=(lock,), check=True)

    assert (folder / "exit").read_text().split()[0] == "143"


def test_a_number_that_has_become_another_process_s_is_not_signalled(tmp_path: Path) -> None:
    async def story() -> None:
        with subprocess.Popen(["/bin/sleep", "1000"]) as innocent:
            _ordered_only(tmp_path, created_ms=_now_ms())
            folder = RunFolder(folder_of(tmp_path))
            folder.write("keeper", f"{innocent.pid} 1")
            with folder.held():
                await launcher(tmp_path).stop(KEY)

            assert innocent.poll() is None
            innocent.kill()

    asyncio.run(story())


def test_only_ended_runs_are_forgotten(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("runs"))
        await until_file(folder_of(tmp_path) / "deaf")
        await runs.forget(KEY)
        assert len(await runs.runs()) == 1
        await runs.stop(KEY)
        await until(runs, has_ended)
        await runs.forget(KEY)
        await runs.forget(KEY)

        assert await runs.runs() == []
        assert list((tmp_path / "runs").iterdir()) == []

    asyncio.run(story())


@pytest.mark.parametrize("other", [replace(KEY, namespace="evil"), replace(KEY, owner_uid="uid-2")])
def test_a_run_of_the_same_name_that_is_anothers_is_neither_stopped_nor_forgotten(
    tmp_path: Path, other: RunKey
) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("runs"))
        await until_file(folder_of(tmp_path) / "deaf")
        await runs.stop(other)
        assert not (await runs.runs())[0].is_stopping
        await runs.stop(KEY)
        await until(runs, has_ended)
        await runs.forget(other)

        assert [run.key for run in await runs.runs()] == [KEY]

    asyncio.run(story())


def test_the_engine_reads_secrets_from_private_files_that_are_gone_when_it_has_ended(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("reads secrets", secrets=("store",)))
        run = await until(runs, has_ended)

        assert run.report is not None
        assert run.report.reason == f"{len(CANARY)} characters in ['0o700']"
        assert _holding(tmp_path, CANARY) == []

    asyncio.run(story())


def test_secrets_of_a_run_whose_processes_were_killed_are_removed_when_it_is_looked_at(tmp_path: Path) -> None:
    async def story() -> None:
        runs = launcher(tmp_path)
        await runs.start(order("runs", secrets=("store",)))
        await until_file(folder_of(tmp_path) / "deaf")
        processes = [int((folder_of(tmp_path) / name).read_text().split()[0]) for name in ("keeper", "engine")]
        seen = [Path(f"/proc/{each}/{what}").read_bytes() for each in processes for what in ("cmdline", "environ")]
        assert len(_holding(tmp_path, CANARY)) == 1
        for each in processes:
            os.kill(each, signal.SIGKILL)
        await until(runs, has_ended)

        assert _holding(tmp_path, CANARY) == []
        assert not any(CANARY.encode() in each for each in seen)

    asyncio.run(story())


def test_a_secret_that_is_not_there_or_cannot_be_files_leaves_nothing_behind(tmp_path: Path) -> None:
    async def unfit(namespace: str, name: str) -> dict[str, bytes]:
        return {"../../outside": b"x"}

    async def story() -> None:
        with pytest.raises(NotStarted, match="no Secret default/other"):
            await launcher(tmp_path).start(order("ends", secrets=("other",)))
        with pytest.raises(NotStarted, match=r"has the key '\.\./\.\./outside', expected letters"):
            await replace(launcher(tmp_path), secrets=unfit).start(order("ends", secrets=("store",)))

        assert await launcher(tmp_path).runs() == []
        assert not (tmp_path / "runs").exists() or list((tmp_path / "runs").iterdir()) == []

    asyncio.run(story())


def test_a_state_folder_that_cannot_be_written_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")

    with pytest.raises(NotStarted, match=r"orders-keys-1 was not started: .*state.*give another with --state"):
        asyncio.run(launcher(tmp_path / "state").start(order("ends")))


def test_a_request_that_is_too_long_for_an_argument_is_not_started(tmp_path: Path) -> None:
    async def story() -> None:
        conf = {f"hoodie.{number}": "x" * 900 for number in range(143)}
        request = JobRequest("ends", Action.VALIDATE, conf=conf)
        with pytest.raises(NotStarted, match="cannot be started: the request"):
            await launcher(tmp_path).start(order("ends", request=request))

        assert await launcher(tmp_path).runs() == []

    asyncio.run(story())


def test_what_a_killed_operator_left_half_made_is_swept_once_it_is_old(tmp_path: Path) -> None:
    fresh, old = tmp_path / "runs/.orders-keys-1-a", tmp_path / "runs/.orders-keys-1-b"
    for draft in (fresh, old):
        draft.mkdir(parents=True)
    os.utime(old, (0, 0))

    assert asyncio.run(launcher(tmp_path).runs()) == []
    assert (fresh.exists(), old.exists()) == (True, False)


@pytest.mark.thorough
def test_of_two_operators_that_start_the_same_order_at_once_one_starts_it(tmp_path: Path) -> None:
    racer = f"""
import asyncio, sys
from pathlib import Path
sys.path[:0] = {sys.path!r}
from tests.unit.operator.launch.orders import launcher, order
async def race():
    runs = launcher(Path({str(tmp_path)!r}))
    for number in range(50):
        sys.stdout.write("."); sys.stdout.flush()
        sys.stdin.readline()
        await runs.start(order("ends", f"race-{{number}}"))
asyncio.run(race())
"""
    racers = [
        subprocess.Popen([sys.executable, "-c", racer], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)
    ]
    for _ in range(50):
        for each in racers:
            assert each.stdout is not None
            assert each.stdout.read(1) == b"."
        for each in racers:
            assert each.stdin is not None
            each.stdin.write(b"\n")
            each.stdin.flush()
    for each in racers:
        each.communicate()

    async def story() -> None:
        for number in range(50):
            run = await until(launcher(tmp_path), has_ended, f"race-{number}")
            assert (run.phase, run.exit_code) == (RunPhase.ENDED, 0)

    asyncio.run(story())
    assert len(starts(tmp_path)) == 50


def _ordered_only(state: Path, created_ms: int) -> None:
    folder_of(state).parent.mkdir(parents=True)
    assert RunFolder(folder_of(state)).create(order_text(order("ends"), created_ms))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _is_gone(process: int) -> bool:
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
    return False


def _holding(folder: Path, text: str) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in files if text in path.read_text(errors="replace")]


@pytest.mark.parametrize(
    ("policy", "has", "grant"),
    [
        (None, ["AWS_SESSION_TOKEN"], None),
        (Policy({"default": Rules((Grant("*"),))}), [], {"path": "*", "endpoints": [], "has_identity": False}),
        (
            Policy({"default": Rules((Grant("*", has_identity=True),))}),
            ["AWS_SESSION_TOKEN"],
            {"path": "*", "endpoints": [], "has_identity": True},
        ),
    ],
)
def test_a_run_has_the_operators_credentials_only_where_the_policy_or_local_mode_says_so(
    policy: Policy | None, has: list[str], grant: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SESSION_TOKEN", CANARY)

    async def story() -> None:
        runs = replace(launcher(tmp_path), policy=policy)
        await runs.start(order("tells what it has"))
        run = await until(runs, has_ended)

        assert run.report is not None
        assert json.loads(run.report.reason) == [has, grant]

    asyncio.run(story())


def test_a_run_on_a_table_that_the_policy_does_not_open_is_not_started(tmp_path: Path) -> None:
    async def story() -> None:
        runs = replace(launcher(tmp_path), policy=Policy({}))

        with pytest.raises(NotStarted, match="opens no path to the namespace default"):
            await runs.start(order("ends"))

        assert await runs.runs() == []

    asyncio.run(story())
