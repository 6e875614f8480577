"""One JVM per Hudi release, alive for many cases."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tests.java.holds import Holds, compiled_holds
from tests.kit import evidence
from tools import spark_session
from tools.harness import HarnessError
from tools.s3_server import S3Server

_ROOT = Path(__file__).parents[2]

# What hadoop-aws does not read of the settings that any reader of S3 has, and the file system that it brings.
_S3A: Final = {
    "fs.s3a.impl": "HeldS3",
    "fs.s3a.connection.ssl.enabled": "false",
    "fs.s3a.directory.marker.retention": "keep",
    "fs.s3a.attempts.maximum": "3",
    # Hudi leaves streams open until the garbage collector finds them.
    "fs.s3a.connection.maximum": "2000",
}


class JavaError(Exception):
    """What Java threw; the worker goes on."""


class Jvm:
    """Real Hudi of one version. Every operation of `worker.OPERATIONS` is a method: `jvm.snapshot(table=…)`.

    With `s3` it reads and writes `s3a://` there. Its time zone is UTC, unless a test is about zones. `entered` is a
    command that runs another one elsewhere, as in another network.

    Not for two threads at once. `close` ends the worker and with it the JVM, whatever they are doing.
    """

    def __init__(
        self, version: str, s3: S3Server | None = None, zone: str = "UTC", entered: Sequence[str] = ()
    ) -> None:
        self.version = version
        self._folder = tempfile.TemporaryDirectory(prefix=f"hudi-{version}-")
        self._log = Path(self._folder.name, "log")
        evidence.watch(f"JVM of Hudi {version}", self._log)
        self.holds = Holds(Path(self._folder.name, "holds"))
        classes = compiled_holds(version, reach_s3=s3 is not None)
        said = (version, str(classes), json.dumps(_reaching(s3)), zone)
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [*entered, sys.executable, "-m", "tests.java.worker", *said],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self._folder.name,  # Spark leaves its warehouse in the working folder
                env={
                    **os.environ,
                    "PYTHONPATH": str(_ROOT),
                    "PYSPARK_PYTHON": sys.executable,
                    "TZ": "UTC",
                    "JAVA_TOOL_OPTIONS": spark_session.FOR_SMALL_COMMITS,
                    "SPARK_LOCAL_DIRS": self._folder.name,
                },
            )
        self._require_started()

    def call(self, operation: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        print(json.dumps({"do": operation, "with": arguments}), file=self._process.stdin, flush=True)
        return self._answer()

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        if operation.startswith("_"):
            raise AttributeError(operation)
        return lambda **arguments: self.call(operation, **arguments)

    def close(self) -> None:
        # The end of its input ends the worker; the JVM ends when the worker's end of their pipe closes.
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def kill(self) -> None:
        """Worker and JVM end at once, as by `kill -9`."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        for process in [*map(int, children), self._process.pid]:
            os.kill(process, signal.SIGKILL)
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _require_started(self) -> None:
        try:
            self._answer()
        except JavaError as error:
            raise HarnessError(f"the JVM of Hudi {self.version} did not start: {error}") from error

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise JavaError(f"the worker of Hudi {self.version} ended; its last words: {self._log.read_text()[-3000:]}")
        got = json.loads(line)
        if "error" in got:
            said = self._log.read_text(errors="replace")[-4000:]
            raise JavaError(f"Hudi {self.version}: {got['error']}\n{got['where']}its log ends with: {said}")
        return got["answer"]


def _reaching(s3: S3Server | None) -> dict[str, str]:
    return {"fs.file.impl": "HeldLocalFiles", **({} if s3 is None else {**_S3A, **s3.options})}
