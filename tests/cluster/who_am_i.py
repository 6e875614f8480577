"""Prints, on a line each, as whom the API server knows the operator's own connection, or why there is no answer.

python -m tests.cluster.who_am_i KUBECONFIG [AUTHORITY NEXT]: asks again after NEXT has replaced AUTHORITY, if given.
"""

import asyncio
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import aiohttp

from hudi_operator.kube.connection import Connection
from hudi_operator.kube.find import find_connection
from hudi_operator.kube.session import Traffic, new_session
from hudi_operator.metrics import Counts

_REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_BODY = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


async def _ask(connection: Connection, replaced: list[Path]) -> None:
    now = datetime.now(UTC)
    async with new_session(connection, Traffic(Counts(now), lambda: now)) as session:
        await _print(session, connection.server)
        if replaced:
            authority, following = replaced
            os.replace(following, authority)
            await _print(session, connection.server)


async def _print(session: aiohttp.ClientSession, server: str) -> None:
    try:
        async with session.post(server + _REVIEW, json=_BODY) as response:
            answer = await response.json()
            print(answer["status"]["userInfo"]["username"] if response.ok else answer["message"])
    except aiohttp.ClientError as failed:
        print(f"{type(failed).__name__}: {failed}")


if __name__ == "__main__":
    kubeconfig, *files = map(Path, sys.argv[1:])
    asyncio.run(_ask(find_connection(kubeconfig, os.environ), files))
