"""The fuzzer itself: what it must not overlook."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
# In a process of its own, since the fuzzer forks and this one has threads.
RUN = """
import os, signal, sys, time
from hudi_engine.errors import CorruptFile, EngineError
from tests.fuzz.cases import Case, Target, forged
from tests.fuzz.run import run
from tests.fuzz.worker import Limits

def read(_, data):
    {body}

target = Target("t", {{"s": b"0123456789"}}, read, crafted=lambda: iter([forged("s", "a path outside", b"outside")]))
limits = Limits(cpu_seconds=1.0, wall_seconds={wall_seconds}, growth_bytes=16 << 20)
outcome = run([target], 0, 1, limits)
for finding in outcome.findings:
    print(finding.case.mutation, "->", finding.fault.strip().splitlines()[-1])
print("ran", outcome.tallies["t"].cases)
"""


# On a machine at work a second of processor time may take many: only who sleeps shall be caught by the clock.
SLEEP, PATIENCE_SECONDS = "time.sleep(600)", 120


def findings_of(body: str) -> str:
    """What is printed for a target that reads like this."""
    wall_seconds = 4 if SLEEP in body else PATIENCE_SECONDS
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
    command = [sys.executable, "-c", RUN.format(body=body, wall_seconds=wall_seconds)]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


# The one damaged file that the reader below trips over.
CUT = "if len(data) == 5: "
REFUSE = "\n    if data == b'outside': raise __import__('hudi_engine').errors.UnsafePath('outside')"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("raise KeyError('inside')", "KeyError: 'inside'"),
        ("raise MemoryError", "MemoryError"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("raise CorruptFile('', 3)", "an error without a message"),
        ("raise CorruptFile('what', -1)", "an offset below nought: <bytes>: corrupt at offset -1: what"),
        ("raise EngineError('what')", "the root of the error tree was raised: what"),
        ("__import__('warnings').warn('odd')", "UserWarning: odd"),
        ("os.abort()", "the process died of SIGABRT"),
        ("os._exit(3)", "the process ended with status 3"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "the process died of SIGSEGV"),
        ("\n        while True: pass", "not done after 1 s of processor time"),
        (SLEEP, "not done after 4 s"),
        ("bytearray(os.urandom(1) * (32 << 20))", "memory grew by"),
        ("bytes(4 << 30)", "MemoryError"),
    ],
)
def test_a_case_that_ends_as_none_may_is_found_and_named(body: str, fault: str) -> None:
    printed = findings_of(CUT + body + REFUSE)

    assert f"cut to 5 bytes -> {fault}" in printed


def test_what_comes_after_a_death_is_tried_all_the_same() -> None:
    whole = findings_of("pass" + REFUSE)

    after_death = findings_of(CUT + "os.abort()" + REFUSE)

    assert whole.splitlines()[-1] == after_death.splitlines()[-1]


def test_a_forged_file_that_is_read_is_a_finding() -> None:
    assert "crafted: a path outside -> was read, though it cannot be right" in findings_of("pass")


def test_a_path_outside_has_to_be_refused_as_one() -> None:
    printed = findings_of("if data == b'outside': raise CorruptFile('torn', 0)")

    assert "a path outside -> a path outside of the table was refused for another reason" in printed


def test_a_file_that_a_writer_made_has_to_be_read() -> None:
    printed = findings_of("raise CorruptFile('torn', 0)")

    assert "as it is -> a file that a real writer made was refused: <bytes>: corrupt at offset 0: torn" in printed


def test_the_same_number_gives_the_same_case() -> None:
    script = "from tests.fuzz.mutations import by_chance; from tests.fuzz.cases import Target; "
    script += "t = Target('t', {'s': bytes(99)}, print); print(by_chance(t, '1/2/3') == by_chance(t, '1/2/3'))"

    done = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    assert done.stdout == "True\n"
