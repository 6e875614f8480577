"""`hudi-engine observe`: tables looked at for as long as somebody asks, a line a question and a line an answer."""

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO

from hudi_engine.cli.observer import Observer
from hudi_engine.cli.stopping import Terminated, stoppable
from hudi_engine.clock import SystemClock
from hudi_engine.contract import (
    MAX_QUESTION_BYTES,
    Malformed,
    ObserveAnswer,
    ObserveRequest,
    TableUnseen,
    UnseenReason,
)

_IDS = 1 << 63


def observe() -> None:
    """Look at tables for as long as somebody asks; made for the operator.

    Each line on standard input is an ObserveRequest as JSON (docs/cli.md), each line on standard output the answer to
    it, in the same order. A line that is none is answered, too. Ends with the input, or when told to.
    """
    observer = Observer(SystemClock())
    with suppress(Terminated), stoppable():
        for line in _lines(sys.stdin.buffer):
            sys.stdout.buffer.write(f"{_answered(observer, line).to_json()}\n".encode())
            sys.stdout.buffer.flush()


def _answered(observer: Observer, line: bytes) -> ObserveAnswer:
    try:
        request = ObserveRequest.from_json(line)
    except Malformed as malformed:
        # What was asked is not shown: there may be anything in it.
        told = f"no ObserveRequest: {str(malformed).partition(':')[0]} is not as expected; docs/cli.md has its fields"
        return ObserveAnswer(_id_of(line), TableUnseen(UnseenReason.INTERNAL, told, False, SystemClock().now_ms()))
    return observer.answer(request)


def _id_of(line: bytes) -> int | None:
    """So that whoever waits for this answer knows it, if only the rest of the line is wrong."""
    try:
        found = json.loads(line)["id"]
    except (ValueError, RecursionError, LookupError, TypeError):
        return None
    return found if type(found) is int and 0 <= found < _IDS else None


def _lines(given: BinaryIO) -> Iterator[bytes]:
    """The lines; of one that is too long to be a question only so much that this shows."""
    while line := given.readline(MAX_QUESTION_BYTES + 1):
        rest = line
        while rest and not rest.endswith(b"\n") and len(rest) > MAX_QUESTION_BYTES:
            rest = given.readline(MAX_QUESTION_BYTES + 1)
        if line.strip():
            yield line
