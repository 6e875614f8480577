"""What the tests need and pip does not bring: fetched once into the user's cache, whole or not at all.

python -m tools.parts jars [VERSION...]
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HUDI_VERSIONS = ("0.15.0", "1.0.2", "1.1.1", "1.2.0")

_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"


class PartMissingError(Exception):
    """A part cannot be brought here; the message says what to install or to try."""


def bundle_jar(version: str) -> Path:
    """The Hudi bundle for Spark 3.5 of that version, fetched by Maven if it is not in the cache yet."""
    return _jar("org.apache.hudi", "hudi-spark3.5-bundle_2.12", version)


def s3_jars() -> tuple[Path, ...]:
    """What PySpark 3.5 lacks to read and write `s3a://`: as old as the Hadoop in it."""
    return _jar("org.apache.hadoop", "hadoop-aws", "3.3.4"), _jar("com.amazonaws", "aws-java-sdk-bundle", "1.12.262")


def _jar(group: str, artifact: str, version: str) -> Path:
    name = f"{artifact}-{version}.jar"
    return cached("jars", name, lambda folder: _copy_artifact(f"{group}:{artifact}:{version}", folder))


def cached(kind: str, name: str, make_in: Callable[[Path], None]) -> Path:
    """The file `name`, made by `make_in(folder)` unless it is there already.

    Two processes do not make it twice, and nobody sees a part of it: it is made in a folder of its own and renamed.
    """
    folder = cache_folder() / kind
    wanted = folder / name
    if wanted.exists():
        return wanted
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / f".{name}.lock"), tempfile.TemporaryDirectory(dir=folder) as made:
        if not wanted.exists():
            make_in(Path(made))
            os.replace(Path(made) / name, wanted)
    return wanted


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hudi-operator"


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _copy_artifact(coordinates: str, folder: Path) -> None:
    if not shutil.which("mvn"):
        raise PartMissingError(
            f"mvn is not on the PATH and {coordinates} is not cached: install Maven (apt install maven)"
        )
    command = ["mvn", "-q", "-B", _COPY, f"-Dartifact={coordinates}", f"-DoutputDirectory={folder}"]
    # Maven looks for a pom in the working folder, so it runs where there is none.
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PartMissingError(
            f"{' '.join(command)} failed with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}"
        )


def main(arguments: Sequence[str]) -> int:
    match arguments:
        case ["jars"]:
            print(*map(bundle_jar, HUDI_VERSIONS), *s3_jars(), sep="\n")
            return 0
        case ["jars", *versions]:
            print(*map(bundle_jar, versions), sep="\n")
            return 0
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except PartMissingError as missing:
        sys.exit(str(missing))
