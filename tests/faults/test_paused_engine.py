"""The engine that tests pause: the same steps in every store, and a failure that says where the engine is."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.golden.unpack import unpack
from tests.kit import engine as engines
from tests.kit.engine import Engine, Pause
from tests.kit.wait import wait_until
from tools.s3_server import S3Server, s3_server

_ALONE: Final = {"hudi.engine.single.writer": "true"}
_TABLE: Final = "v9_mor_orders"
_COMMIT: Final = Pause("commit", r"^create .*metadata/.*\d{17}_\d{17}\.deltacommit$")
_FLAG: Final = Pause("flag", r"^replace .*hoodie\.properties$")
# A test process of its own, which prints the number of its engine's and waits to be killed.
_DOOMED_TEST: Final = """
import sys
from pathlib import Path
from tests.kit.engine import Engine, Pause
with Engine(Path(sys.argv[1]), {"hudi.engine.single.writer": "true"}, [Pause("base", "hfile")]) as engine:
    assert engine.pauses("base")
    print(engine.process_id, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


def test_a_build_in_an_object_store_pauses_at_the_steps_of_a_build_on_a_disk(s3: S3Server, tmp_path: Path) -> None:
    bucket = s3.folder / s3.make_bucket("paused").removeprefix("s3://")
    on_disk, objects = unpack(_TABLE, tmp_path), unpack(_TABLE, bucket)
    with Engine(on_disk, _ALONE) as engine:
        assert engine.end().code == 0
        expected = _comparable(engine.steps)

    with Engine(f"s3a://paused/{_TABLE}", {**_ALONE, **s3.options}, [_COMMIT]) as engine:
        assert engine.pauses("commit")
        published = _shards(objects), _commits(objects)
        engine.go_on("commit")
        ended = engine.end()
        steps = _comparable(engine.steps)

    assert published == (10, _commits(on_disk) - 1)
    assert ended.code == 0, ended
    assert _commits(objects) == _commits(on_disk)
    assert steps == expected


def test_a_test_that_waits_in_vain_says_for_what_and_shows_what_the_engine_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine(unpack(_TABLE, tmp_path), _ALONE, [_FLAG, Pause("never", "no such step")]) as engine:
        assert engine.pauses("flag")
        monkeypatch.setattr(engines, "_LONGEST_SECONDS", 0.0)

        with pytest.raises(
            AssertionError, match=r"waited 0 seconds for the engine: its pause at .*no such step"
        ) as error:
            engine.pauses("never")

    assert re.search(r"runs; its last 20 of \d+ steps:\n( {4}\w+ .*\n){20}standard output:", str(error.value))


def test_a_wait_without_words_quotes_the_line_that_waits() -> None:
    with pytest.raises(AssertionError, match=r"waited 0 seconds for `wait_until\(bool, 0\)`"):
        wait_until(bool, 0)


def test_a_paused_engine_ends_when_its_test_is_killed(tmp_path: Path) -> None:
    test = subprocess.Popen(
        [sys.executable, "-c", _DOOMED_TEST, unpack(_TABLE, tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TMPDIR": str(tmp_path)},  # for what nobody is left to remove
    )
    with test:
        assert test.stdout is not None
        engine = Path("/proc", test.stdout.readline().strip())
        assert engine.exists()

        test.kill()

    wait_until(lambda: not engine.exists())


def _comparable(steps: Sequence[str]) -> list[str]:
    """Without instants, which differ, and in an order that does not depend on threads; an object has no half."""
    return sorted(re.sub(r"\d{17}", "<instant>", step) for step in steps if not step.startswith("half of "))


def _shards(table: Path) -> int:
    return len([*(table / ".hoodie/metadata/record_index").glob("*.hfile")])


def _commits(table: Path) -> int:
    return len([*(table / ".hoodie/metadata/.hoodie/timeline").glob("*_*.deltacommit")])
