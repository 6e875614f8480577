"""An index is built, the table validated, and the index dropped again, whatever happens to the operator meanwhile."""

import asyncio
import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests.cluster.faults.admin import Admin
from tests.cluster.faults.operators import Operator, operating
from tests.cluster.faults.runs_seen import RunsSeen
from tests.cluster.faults.trouble import Trouble
from tests.kit.soak import is_soak

# A stage takes seconds; beside other stories of a soak, on a busy machine, minutes.
SECONDS: Final = 400.0 if is_soak() else 90.0
_NUMBERS = count(1)
# What there has to be at the end, each once and at its first attempt.
EXPECTED: Final = ("build", "drop", "validate")


@dataclass(frozen=True, slots=True)
class Wish:
    """What to go through: which trouble, with how many operators at once."""

    trouble: Trouble | None = None
    operators: int = 1


@dataclass(slots=True)
class Story:
    """What happened. `wrong` has everything that should not have."""

    trouble: str
    numbers: dict[str, int] = field(default_factory=dict)
    hits: int = 0
    starts: int = 0
    gave_up: int = 0
    runs: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)
    log: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where scenarios are played: a folder with the operator's kubeconfig, a table to copy, and the API server."""

    folder: Path
    table: Path
    admin: Admin

    async def play(self, wish: Wish) -> Story:
        name = f"faults-{os.getpid()}-{next(_NUMBERS)}"
        place = self.folder / name
        table = place / "orders"
        shutil.copytree(self.table, table)
        began = time.monotonic()
        story = Story(str(wish.trouble or "no trouble"))
        seen = RunsSeen(place / "state", name)
        await self.admin.make_namespace(name)
        await self.admin.forget_lease()
        places = [self.folder / f"{name}-{number}" for number in range(wish.operators)]
        for each in places:
            each.mkdir()
        arguments = ("--state", str(place / "state"), "--namespace", name, "--metrics-port", "0", "--health-port", "0")
        watching = asyncio.create_task(seen.watch())
        try:
            async with operating(places, arguments, wish.trouble, self.admin) as operators:
                await self._acts(name, table, seen, story)
                await self._end(operators, story)
        finally:
            watching.cancel()
        story.seconds = time.monotonic() - began
        _judge(story, seen, table)
        if story.wrong:
            story.log = "\n".join([*(each.said[-6000:] for each in operators), *operators[0].proxy.told])
        await self.admin.remove_namespace(name)
        for each in (place, *places):
            shutil.rmtree(each)
        return story

    async def _acts(self, name: str, table: Path, seen: RunsSeen, story: Story) -> None:
        admin = self.admin
        await admin.create(
            name,
            "HudiTable",
            "huditables",
            name="orders",
            spec={
                "basePath": str(table),
                "concurrency": {"mode": "SingleWriter"},
                "observe": {"intervalSeconds": 5},
                "execution": {"mode": "DriverOnly", "retry": {"backoffSeconds": 1}},
            },
        )
        index = {"tableRef": {"name": "orders"}, "indexType": "RecordIndex", "deletionPolicy": "Drop"}
        await admin.create(name, "MetadataIndex", "metadataindexes", name="records", spec=index)
        service = {"tableRef": {"name": "orders"}, "type": "Validate", "runToken": "once"}
        await admin.create(name, "TableService", "tableservices", name="check", spec=service)

        async def is_built() -> bool:
            found = [
                await admin.get(name, *what) for what in (("metadataindexes", "records"), ("huditables", "orders"))
            ]
            return all(_holds(each, "Ready") for each in found) and _holds(
                await admin.get(name, "tableservices", "check"), "LastRunSucceeded"
            )

        async def is_dropped() -> bool:
            return await admin.get(name, "metadataindexes", "records") is None and not seen.is_any_live

        async def is_at_rest() -> bool:
            return all(
                [
                    _holds(await admin.get(name, *what), "Ready")
                    for what in (("huditables", "orders"), ("tableservices", "check"))
                ]
            )

        for stage, is_reached in (("built", is_built), ("dropped", is_dropped), ("at rest", is_at_rest)):
            if not await _reached(is_reached):
                found = {
                    plural: (await admin.get(name, plural, of) or {}).get("status")
                    for plural, of in (
                        ("metadataindexes", "records"),
                        ("huditables", "orders"),
                        ("tableservices", "check"),
                    )
                }
                story.wrong.append(f"not {stage} after {SECONDS:.0f} s: {found}")
                return
            if stage == "built":
                await admin.delete(name, "metadataindexes", "records")

    async def _end(self, operators: list[Operator], story: Story) -> None:
        story.hits = sum(operator.proxy.hits for operator in operators)
        for operator in operators:
            operator.proxy.trouble = None
        for operator in operators:
            code = await operator.stop()
            # One that has only just begun is ended by the signal itself, and one that is just being killed by that.
            if code not in (0, -signal.SIGTERM, -signal.SIGKILL):
                story.wrong.append(f"the operator ended with {code} when it was asked to, expected 0; None: it did not")
        numbers: Counter[str] = Counter()
        for operator in operators:
            numbers.update({str(sort): many for sort, many in operator.proxy.numbers.items()})
        story.numbers = dict(numbers)
        story.starts = sum(operator.starts for operator in operators)
        story.gave_up = sum(code > 0 for operator in operators for code in operator.exit_codes)


async def _reached(is_reached: Callable[[], Awaitable[bool]]) -> bool:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if await is_reached():
            return True
        await asyncio.sleep(0.1)
    return False


def _judge(story: Story, seen: RunsSeen, table: Path) -> None:
    seen.look()
    story.runs = [asdict(run) for run in seen.runs.values()]
    actions = tuple(sorted(run.action for run in seen.runs.values()))
    if actions != EXPECTED:
        story.wrong.append(f"runs: {actions}, expected {EXPECTED}")
    story.wrong += [f"run not at its first attempt: {run}" for run in seen.runs.values() if run.attempt != 1]
    story.wrong += [f"run failed: {run}" for run in seen.runs.values() if run.exit_code != 0]
    story.wrong += [f"two runs at once: {pair}" for pair in seen.overlapping()]
    if seen.most_live > 1:
        story.wrong.append(f"{seen.most_live} runs lived at the same moment, expected one at a time")
    built = len(list((table / ".hoodie" / ".index_attempts" / "built").glob("*.json")))
    if built != 1:
        story.wrong.append(f"{built} notes of indexes that were built, expected 1")
    if "record_index" in _listed_indexes(table):
        story.wrong.append("the table still lists its record index, expected it to be dropped")


def _listed_indexes(table: Path) -> list[str]:
    lines = (table / ".hoodie" / "hoodie.properties").read_text().splitlines()
    listed = (line.partition("=")[2] for line in lines if line.startswith("hoodie.table.metadata.partitions="))
    return next(listed, "").replace("\\", "").split(",")


def _holds(resource: dict[str, Any] | None, condition: str) -> bool:
    """Said of the newest generation."""
    if resource is None:
        return False
    status = resource.get("status", {})
    if status.get("observedGeneration") != resource["metadata"]["generation"]:
        return False
    return any(each["type"] == condition and each["status"] == "True" for each in status.get("conditions", []))
