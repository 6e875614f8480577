"""A proxy before a real S3 server that loses answers: what a bad network, or a gateway that restarts, does."""

import http.client
import threading
from dataclasses import dataclass
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import unquote, urlsplit


class Mishap(StrEnum):
    """What befalls one request."""

    NONE = "passed on, and the answer too"
    ANSWER_LOST = "passed on, and the connection closed instead of an answer"
    ANSWER_CUT = "passed on, and the connection closed in the middle of the answer"
    FAULT_AFTER = "passed on, and 500 said instead of the answer"
    FAULT_BEFORE = "503 said and nothing passed on"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and how many bytes the server's answer to it had; `target` is its path and query, decoded."""

    method: str
    target: str
    answer_bytes: int


class LossyProxy:
    """Passes requests on to `endpoint`; `mishaps` befall the next requests of a method, in turn.

    `seen` has the methods of all requests as they come, `asked` those that were passed on as they are answered.
    """

    def __init__(self, endpoint: str) -> None:
        self.mishaps: dict[str, list[Mishap]] = {}
        self.seen: list[str] = []
        self.asked: list[Asked] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, endpoint))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def next_mishap(self, method: str) -> Mishap:
        self.seen.append(method)
        left = self.mishaps.get(method, [])
        return left.pop(0) if left else Mishap.NONE

    def __enter__(self) -> "LossyProxy":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(proxy: LossyProxy, endpoint: str) -> type[BaseHTTPRequestHandler]:
    address = urlsplit(endpoint).netloc

    class Handler(BaseHTTPRequestHandler):
        def do(self) -> None:
            self.close_connection = True
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            mishap = proxy.next_mishap(self.command)
            if mishap is Mishap.FAULT_BEFORE:
                self.say(503, {}, b"")
                return
            status, headers, answer = self.pass_on(body)
            proxy.asked.append(Asked(self.command, unquote(self.path), len(answer)))
            if mishap is Mishap.FAULT_AFTER:
                self.say(500, {}, b"")
            elif mishap is Mishap.ANSWER_CUT:
                self.say(status, headers, answer, len(answer) // 2)
            elif mishap is Mishap.NONE:
                self.say(status, headers, answer)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do  # noqa: N815 - http.server's names

        def pass_on(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
            connection = http.client.HTTPConnection(address)
            try:
                # The signature covers the path and the Host header: both go on as they came.
                connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    connection.putheader(name, value)
                connection.endheaders(body)
                answer = connection.getresponse()
                return answer.status, dict(answer.getheaders()), answer.read()
            finally:
                connection.close()

        def say(self, status: int, headers: dict[str, str], body: bytes, sent_bytes: int | None = None) -> None:
            self.send_response(status)
            for name, value in headers.items():
                if name.lower() not in {"connection", "transfer-encoding", "content-length", "server", "date"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body[:sent_bytes])

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
            """Say nothing: the tests do."""

    return Handler
