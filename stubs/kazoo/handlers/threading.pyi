from collections.abc import Callable
from socket import socket

class KazooTimeoutError(Exception): ...

class SequentialThreadingHandler:
    create_connection: Callable[..., socket]
