"""Plays scenarios inside the cluster's namespaces: python -m tests.cluster.faults.play FOLDER TABLE WISH...

A wish is one JSON object; the story of each is one JSON line on standard output.
"""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

import aiohttp

from tests.cluster.faults.admin import Admin
from tests.cluster.faults.scenario import Stage, Wish
from tests.cluster.faults.trouble import Sort, Trouble, What


async def play(folder: Path, table: Path, wishes: list[Wish]) -> None:
    connector = aiohttp.TCPConnector(ssl=False)
    async with aiohttp.ClientSession(connector=connector) as session:
        stage = Stage(folder, table, Admin(folder / "admin.json", session))
        for wish in wishes:
            print(json.dumps(asdict(await stage.play(wish))), flush=True)


def wish_of(text: str) -> Wish:
    tree = json.loads(text)
    given = tree["trouble"]
    trouble = given and Trouble(tuple(map(What, given["whats"])), Sort(given["sort"]), given["first"], given["step"])
    return Wish(trouble, tree["operators"])


if __name__ == "__main__":
    asyncio.run(play(Path(sys.argv[1]), Path(sys.argv[2]), [wish_of(text) for text in sys.argv[3:]]))
