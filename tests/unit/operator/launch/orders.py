"""Orders of runs, and a stand-in for the engine: a program that does what the table's name asks for."""

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from hudi_engine.contract import Action, JobRequest
from hudi_operator.launch.process import ProcessLauncher
from hudi_operator.launch.protocol import NotStarted
from hudi_operator.resources.model import Execution, Ref
from hudi_operator.runs import RunOrder, RunSeen
from hudi_operator.words import Kind

CANARY = "canary-7f3a91"

_ENGINE = """
import json, os, signal, sys, time
request = json.loads(sys.argv[1])
report = dict(version=1, outcome="valid", exit_code=0, retry=False, reason="all is well")
folder = os.path.dirname(request["report_path"])
with open(os.path.join(os.path.dirname(folder), "..", "started"), "a") as starts:
    starts.write(str(os.getpid()) + chr(10))
def leave(*_):
    report.update(outcome="interrupted", exit_code=143, retry=True, reason="interrupted")
    open(request["report_path"], "w").write(json.dumps(report) + chr(10))
    os._exit(143)
print("the engine speaks", file=sys.stderr, flush=True)
match request["table"]:
    case "ends":
        open(request["report_path"], "w").write(json.dumps(report) + chr(10))
    case "fails":
        sys.exit(70)
    case "runs":
        signal.signal(signal.SIGTERM, leave)
        open(os.path.join(folder, "deaf"), "w").close()
        while True: time.sleep(1000)
    case "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open(os.path.join(folder, "deaf"), "w").close()
        while True: time.sleep(1000)
    case "leaves a child":
        if os.fork() == 0:
            with open(os.path.join(folder, "number"), "w") as number:
                number.write(str(os.getpid()))
            os.rename(os.path.join(folder, "number"), os.path.join(folder, "child"))
            while True: time.sleep(1000)
        while not os.path.exists(os.path.join(folder, "child")): pass
    case "tells what it has":
        has = sorted(name for name in os.environ if name.startswith("AWS_"))
        report.update(reason=json.dumps([has, request.get("grant")]))
        open(request["report_path"], "w").write(json.dumps(report) + chr(10))
    case "reads secrets":
        places = request["conf_from"]
        found = {key: open(os.path.join(place, key)).read() for place in places for key in os.listdir(place)}
        modes = [oct(os.stat(place).st_mode & 0o777) for place in places]
        report.update(reason=f"{len(found.get('fs.s3a.secret.key', ''))} characters in {modes}")
        open(request["report_path"], "w").write(json.dumps(report) + chr(10))
"""
ENGINE = (sys.executable, "-I", "-S", "-c", _ENGINE)


async def secrets(namespace: str, name: str) -> Mapping[str, bytes]:
    if (namespace, name) != ("default", "store"):
        raise NotStarted(f"there is no Secret {namespace}/{name}")
    return {"fs.s3a.secret.key": CANARY.encode()}


def launcher(state: Path) -> ProcessLauncher:
    return ProcessLauncher(state, secrets, command=ENGINE)


def order(does: str, name: str = "orders-keys-1", **changes: object) -> RunOrder:
    """Of a run that does so."""
    made = RunOrder(
        name=name,
        owner=Ref(Kind.SERVICE, "default", "orders-keys"),
        owner_uid="uid-1",
        table="orders",
        trigger="token-1",
        attempt=1,
        request=JobRequest(does, Action.VALIDATE),
        execution=Execution(termination_grace_period_seconds=1),
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # the names are those of the fields


async def until(launcher: ProcessLauncher, is_so: Callable[[RunSeen], bool], name: str = "orders-keys-1") -> RunSeen:
    """The run once that holds of it."""
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        found = [run for run in await launcher.runs() if run.name == name]
        if found and is_so(found[0]):
            return found[0]
        await asyncio.sleep(0.02)
    raise AssertionError(f"still not so: {found}")


async def until_file(path: Path) -> str:
    ends = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < ends, f"{path} never came"
        await asyncio.sleep(0.02)
    return path.read_text()


def has_ended(run: RunSeen) -> bool:
    return not run.is_live


def folder_of(state: Path, name: str = "orders-keys-1") -> Path:
    return state / "runs" / name


def starts(state: Path) -> list[str]:
    """The numbers of the engines that ever began."""
    file = state / "started"
    return file.read_text().split() if file.exists() else []
