"""What the operator's runs are doing, as one sees it who looks at files and processes."""

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tests.cluster.kubernetes import Cluster
from tests.cluster.namespaces import Seen
from tests.kit.builds import Builds

_ENGINES: Final = frozenset({"hudi_engine.cli.main", "tests.kit.paused_engine"})


def orders(state: Path) -> list[dict[str, Any]]:
    """Of all runs on record."""
    found = []
    for file in sorted((state / "runs").glob("[!.]*/order.json")):
        with suppress(FileNotFoundError):  # forgotten meanwhile
            found.append(json.loads(file.read_text()))
    return found


def attempts(state: Path) -> Counter[tuple[str, str, int]]:
    """How many runs there are of each attempt at a build, by their owner's uid."""
    return Counter(
        (order["owner_uid"], order["trigger"], order["attempt"])
        for order in orders(state)
        if json.loads(order["request"])["action"] == "build"
    )


def engines(cluster: Cluster, table: Path) -> list[Seen]:
    """The engine's processes that are at a run on that table; their keepers are others."""
    return [
        seen
        for seen in cluster.processes()
        if _ENGINES & {*seen.arguments}
        and "run" in seen.arguments
        and "-S" not in seen.arguments
        and any(str(table) in part for part in seen.arguments)
    ]


def builds_of(cluster: Cluster, folder: Path) -> Builds:
    """The builds of operators in that cluster. The folder is made."""
    return Builds(folder, lambda table: [each.pid for each in engines(cluster, table)])
