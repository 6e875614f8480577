"""Holds a Java writer before a step that a test names, by files; `held/Holds.java` is the other side.

A step is a change of a file (`create /…`, `rename /… to /…`, `delete /…`), `lock` (the writer is about to ask for the
table's lock) or `unlock`. The classes are a file system and a lock provider that extend those of Hadoop and of Hudi.
"""

import hashlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyspark

from tools.parts import bundle_jar, cached, s3_jars

# In the place of Hudi's own, for a writer that is to be held.
HELD_ZOOKEEPER_LOCK: Final = "HeldZooKeeperLock"
_SOURCES: Final = sorted(Path(__file__).with_name("held").glob("*.java"))
_SPARK: Final = Path(next(iter(pyspark.__path__)), "jars/*")


class Holds:
    """What is held, or is to be, in one JVM."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder

    def put_on(self, name: str, step: str) -> None:
        """From now on; `step` is a regular expression."""
        aside = self._folder / f"{name}.new"
        aside.write_text(step)
        aside.replace(self._folder / f"{name}.on")

    def has(self, name: str) -> bool:
        """Whether a thread of the JVM waits there."""
        return (self._folder / f"{name}.held").exists()

    def let_go(self, name: str) -> None:
        """Fine if nothing came there."""
        for state in ("on", "held"):
            (self._folder / f"{name}.{state}").unlink(missing_ok=True)

    @property
    def steps(self) -> list[str]:
        """What the JVM has done so far."""
        file = self._folder / "steps"
        return file.read_text().splitlines() if file.exists() else []


def compiled_holds(version: str, *, reach_s3: bool) -> Path:
    """The folder of the classes, compiled against that release."""
    sources = [source for source in _SOURCES if reach_s3 or source.stem != "HeldS3"]
    jars = (bundle_jar(version), *(s3_jars() if reach_s3 else ()), _SPARK)
    content = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    name = f"{version}-{content[:12]}"
    return cached("holds", name, lambda folder: _compile(sources, jars, folder / name))


def _compile(sources: Sequence[Path], jars: Sequence[Path], folder: Path) -> None:
    command: list[str | Path] = ["javac", "-nowarn", "-cp", os.pathsep.join(map(str, jars)), "-d", folder, *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"javac ended with {done.returncode}: {done.stderr[-3000:]}"
