"""What spreads the work of a job: threads of this process, or Spark."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hudi_engine.cli.processors import threads
from hudi_engine.compute.local import LocalCompute
from hudi_engine.compute.order import Compute
from hudi_engine.contract import DEFAULT_MEMORY_BYTES, Action, ComputeKind, JobRequest
from hudi_engine.errors import NotFound, Unsupported

# All else is done by this process alone.
_WORK = (Action.BUILD, Action.RUN)
SCRATCH_KEY = "hudi.engine.scratch"
"""A folder of this machine for what does not fit into memory; the system's own for such things unless set."""


@contextmanager
def compute_of(request: JobRequest) -> Iterator[Compute]:
    """The one that the request names, for the time of a job."""
    if request.compute is ComputeKind.SPARK and request.action in _WORK:
        with _spark(request) as compute:
            yield compute
    else:
        yield local_compute(request.conf, request.memory_bytes)


def local_compute(conf: Mapping[str, str], memory_bytes: int = DEFAULT_MEMORY_BYTES) -> Compute:
    return LocalCompute(threads(), memory_bytes, _scratch(conf))


def _scratch(conf: Mapping[str, str]) -> Path:
    folder = Path(conf.get(SCRATCH_KEY) or tempfile.gettempdir())
    if not folder.is_dir():
        raise NotFound(f"{SCRATCH_KEY}={folder}: no such folder on this machine; make it, or name another by --scratch")
    return folder


@contextmanager
def _spark(request: JobRequest) -> Iterator[Compute]:
    try:
        # Only who asks for Spark needs it: without it everything else works.
        from hudi_engine.spark.compute import SparkCompute  # noqa: PLC0415
        from hudi_engine.spark.session import session  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith("pyspark"):
            raise
        raise Unsupported(
            "--compute spark: PySpark is not installed; `pip install 'hudi-operator[spark]'`, or use --compute local"
        ) from missing
    with session() as spark:
        yield SparkCompute(spark, request.table, request.conf, request.memory_bytes)
