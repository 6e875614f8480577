"""Sessions of Spark, each in a process of its own, started when a test first asks for one."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

_ROOT = Path(__file__).parents[2]
_QUIET = {
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


class Builder:
    """A session that builds record indexes. `faults` is the folder that `faulty_daemon` looks into."""

    def __init__(self, **settings: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="spark-")
        self._log = Path(self._folder.name, "log")
        self.faults = Path(self._folder.name, "faults")
        self.faults.mkdir()
        settings = {**_QUIET, **settings, "spark.executorEnv.FAULTS": str(self.faults)}
        paths = f"{_ROOT}{os.pathsep}{_ROOT / 'engine'}"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.spark.building", json.dumps(settings)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self._folder.name,
                env={
                    **os.environ,
                    "FAULTS": str(self.faults),
                    "PYTHONPATH": paths,
                    "PYSPARK_PYTHON": sys.executable,
                    "SPARK_LOCAL_DIRS": self._folder.name,
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    "TZ": "UTC",
                },
            )

    def build(self, how: str, table: Path, memory_bytes: int = 1 << 28, shards: int = 3, **order: bool) -> Any:
        asked = {"how": how, "table": str(table), "memory_bytes": memory_bytes, "shards": shards, **order}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, f"the session ended; its last words: {self._log.read_text()[-4000:]}"
        return json.loads(answer)

    @property
    def left_behind(self) -> list[Path]:
        """What tasks have not removed of what they kept on disk."""
        return list(Path(self._folder.name).rglob("record-index-*"))

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@pytest.fixture(scope="session")
def threads() -> Iterator[Builder]:
    """Executor and driver are one process."""
    with Builder(**{"spark.master": "local[2]"}) as builder:
        yield builder


@pytest.fixture(scope="session")
def cluster() -> Iterator[Builder]:
    """Two executors, whose tasks fail if asked to; one that takes long would be tried twice, had they two hosts."""
    settings = {
        "spark.master": "local-cluster[2,1,512]",
        "spark.executor.memory": "512m",
        "spark.python.daemon.module": "tests.spark.faulty_daemon",
        "spark.speculation": "true",
        "spark.speculation.interval": "200ms",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "1s",
    }
    with Builder(**settings) as builder:
        yield builder
