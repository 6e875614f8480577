"""A process that holds a SparkSession with one Hudi release and answers jobs, one JSON line each."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_bytes_of
from tools import spark_session


def answer_jobs(jobs: Mapping[str, Callable[..., Any]], jar: str, *asked: str, memory: str = "6g") -> None:
    """Does what is asked, a JSON object each with the name of the job under `do`. What Java prints goes to stderr."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        spark = spark_session.start(Path(jar), memory=memory)
        for text in asked:
            job = json.loads(text)
            print(json.dumps(jobs[job.pop("do")](spark, **job)), file=answers, flush=True)
        spark.stop()


def jvm() -> int:
    """The process that Spark runs in, a child of this one."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return max(map(int, children), key=peak_bytes_of)


def jvm_peak() -> int:
    return peak_bytes_of(jvm())
