"""The engine's own errors, from a task to the driver: Spark brings the text of what a task raised, and no more."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from py4j.protocol import Py4JError

from hudi_engine import errors
from hudi_engine.errors import EngineError

_MARKED: Final = re.compile(r"\[hudi-engine ([0-9a-f]+)\]")


class TaskFailedError(Exception):
    """What a task raises in the place of an error of the engine, which it holds as text that nothing breaks up."""

    def __init__(self, error: EngineError) -> None:
        told = json.dumps({"kind": type(error).__name__, "arguments": error.args})
        super().__init__(f"{error} [hudi-engine {told.encode().hex()}]")


@contextmanager
def told_to_driver() -> Iterator[None]:
    """Within a task: errors of the engine become such as `as_raised` knows again."""
    try:
        yield
    except EngineError as error:
        raise TaskFailedError(error) from error


@contextmanager
def as_raised() -> Iterator[None]:
    """Within the driver: what failed a job is raised as the task raised it. Spark's own errors stay as they are."""
    try:
        yield
    except Py4JError as failed:
        match = _MARKED.search(str(failed))
        if match is None:
            raise
        told: dict[str, Any] = json.loads(bytes.fromhex(match[1]))
        kind: Callable[..., EngineError] = getattr(errors, told["kind"])
        raise kind(*told["arguments"]) from failed
