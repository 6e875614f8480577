"""The page over HTTP."""

import asyncio

from aiohttp import ClientSession

from hudi_operator.metrics import Counts, serve
from tests.unit.operator.metrics.observed import NOW, everything


def test_the_page_is_answered_at_a_port_while_it_is_open() -> None:
    async def asked() -> tuple[int, str, str]:
        async with (
            serve(0, everything(), Counts(started_at=NOW)) as port,
            ClientSession() as session,
            session.get(f"http://127.0.0.1:{port}/metrics") as answer,
        ):
            return answer.status, answer.headers["Content-Type"], await answer.text()

    status, content_type, text = asyncio.run(asked())

    assert status == 200
    assert content_type.startswith("text/plain; version=")
    assert "hudi_operator_build_info{" in text
    assert "process_resident_memory_bytes" in text
