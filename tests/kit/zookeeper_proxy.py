"""A network between a client and a server that breaks when it is told to: pieces of TCP, passed on or not."""

import selectors
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.kit.zookeeper_server import free_port


class Network:
    """Passes connections on to `port`, each in threads of its own, until `cut` or `stall`."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._links: list[socket.socket] = []
        self._is_stalled = threading.Event()
        self._is_cut = threading.Event()
        self._last_words = b""
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", free_port()), backlog=128)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        """Connections break, and new ones break at once, until `heal`."""
        self._is_cut.set()
        self._break()

    def blink(self) -> None:
        """Connections break once."""
        self._break()

    def stall(self) -> None:
        """Nothing is passed on any more and nobody is told, until `heal`; then what was sent meanwhile arrives."""
        self._is_stalled.set()

    def heal(self) -> None:
        self._is_cut.clear()
        self._is_stalled.clear()

    def cut_after(self, words: bytes) -> None:
        """The next request with these bytes reaches the server, and its answer nobody."""
        self._last_words = words

    def __enter__(self) -> Self:
        self._spawn(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_stalled.clear()
        self._is_cut.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._break()
        for thread in self._threads:
            thread.join(timeout=20)

    def _spawn(self, task: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=task, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._spawn(self._pass, client)

    def _pass(self, client: socket.socket) -> None:
        with client:
            if self._is_cut.is_set():
                return
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port)) as server:
                self._links += [client, server]
                self._pump(client, server)

    def _pump(self, client: socket.socket, server: socket.socket) -> None:
        with selectors.DefaultSelector() as either:
            either.register(client, selectors.EVENT_READ, server)
            either.register(server, selectors.EVENT_READ, client)
            while True:
                for key, _ in either.select():
                    while self._is_stalled.is_set():
                        time.sleep(0.01)
                    source, target = (client, server) if key.data is server else (server, client)
                    data = source.recv(65536)
                    if not data:
                        return
                    target.sendall(data)
                    if source is client and self._last_words and self._last_words in data:
                        self._last_words = b""
                        server.recv(65536)
                        return

    def _break(self) -> None:
        links, self._links = self._links, []
        for link in links:
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
