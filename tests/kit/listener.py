"""An HTTP server on the loopback that answers nothing of use and keeps all that it was sent."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Listener:
    port: int
    received: list[str] = field(default_factory=list)
    """Each request: its line and its headers, as they came."""


@contextmanager
def listening() -> Iterator[Listener]:
    received: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received.append(f"{self.requestline}\n{self.headers}")
            self.send_response(403)
            self.end_headers()

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_PUT(self) -> None:
            self.do_GET()

        def log_message(self, *said: object) -> None:
            """Nothing on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Listener(server.server_port, received)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
