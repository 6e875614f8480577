"""One case, tried and judged: a result or an error of the engine's own is fine, anything else is a finding."""

import time
import traceback
from dataclasses import dataclass

from hudi_engine.errors import CorruptFile, EngineError, UnsafePath
from tests.fuzz.cases import Case, Target


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a case ended, `fault` being empty if it may end so."""

    outcome: str
    fault: str
    cpu_ms: float


def judge(target: Target, case: Case) -> Verdict:
    """What the target makes of the case."""
    start = time.process_time()
    try:
        target.read(case.seed, case.data)
    except EngineError as refused:
        outcome, fault = type(refused).__name__, _fault_of(refused, target, case)
    except BaseException as leaked:  # noqa: BLE001  a library may raise anything, a panic or a MemoryError too
        outcome, fault = type(leaked).__name__, "".join(traceback.format_exception(leaked)[-6:])
    else:
        outcome, fault = "read", "was read, though it cannot be right" if case.is_hopeless else ""
    return Verdict(outcome, fault, 1000 * (time.process_time() - start))


def _fault_of(refused: EngineError, target: Target, case: Case) -> str:
    """What is wrong with an error of the engine's own."""
    faults = {
        "a file that a real writer made was refused": case.is_whole,
        "an error without a message": not (refused.what if isinstance(refused, CorruptFile) else str(refused)).strip(),
        "an offset below nought": isinstance(refused, CorruptFile) and refused.offset < 0,
        "an error that names no file": isinstance(refused, CorruptFile) and target.names_the_file and not refused.path,
        "the root of the error tree was raised": type(refused) is EngineError,
        "a path outside of the table was refused for another reason": (
            "a path outside" in case.mutation and case.is_hopeless and not isinstance(refused, UnsafePath)
        ),
    }
    return "".join(f"{fault}: {refused}" for fault, is_so in faults.items() if is_so)
