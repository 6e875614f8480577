"""An HTTP proxy that leads every CONNECT to one address: python -m tests.cluster.connect_proxy PORT TO_PORT LOG.

Each name that was asked for is a line of the log.
"""

import asyncio
import sys
from pathlib import Path


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        target.write(data)
        await target.drain()
    target.close()


async def _serve(port: int, to_port: int, log: Path) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        with log.open("a") as lines:
            print(request.split()[1], file=lines)
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", to_port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_copy(reader, there_writer), _copy(there_reader, writer))

    server = await asyncio.start_server(handle, "127.0.0.1", port)
    log.touch()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
