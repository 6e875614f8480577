"""An error of the engine that a task raises is the same error in the driver."""

import pytest
from py4j.protocol import Py4JError

from hudi_engine.errors import AlreadyExists, Contradiction, CorruptFile, EngineError, StorageUnavailable
from hudi_engine.spark.failures import TaskFailedError, as_raised, told_to_driver

ERRORS = [
    Contradiction("two 'quotes', a\nline and [brackets]"),
    CorruptFile("a row without a key", 17, "p0/ü.parquet"),
    StorageUnavailable("no answer"),
    AlreadyExists(""),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_the_driver_raises_what_the_task_raised(error: EngineError) -> None:
    with pytest.raises(TaskFailedError) as failed, told_to_driver():
        raise error
    text = f"Job aborted: Lost task 1.3 in stage 2.0: PythonException: {failed.value}\n\tat org.apache.spark.Runner"

    with pytest.raises(type(error)) as raised, as_raised():
        raise Py4JError(text)

    assert (str(raised.value), raised.value.args) == (str(error), error.args)


def test_what_is_no_error_of_the_engine_stays_what_it_is() -> None:
    with pytest.raises(ZeroDivisionError), told_to_driver():
        raise ZeroDivisionError
    with pytest.raises(Py4JError, match="executor lost"), as_raised():
        raise Py4JError("executor lost")
