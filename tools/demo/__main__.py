"""`make demo`: a record index that the operator builds, watches over and rebuilds beside a real Hudi writer.

    python -m tools.demo [--keep] [--picture FILE.svg]

Ends with what was seen; the exit code is 0 if all that the demo promises was.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tools.demo.java import WriterError
from tools.demo.local_operator import OperatorError
from tools.demo.picture import svg
from tools.demo.story import Seen, Stage, play
from tools.demo.summary import picture, promises
from tools.parts import PartMissingError, bundle_jar

_WIDEST = 170
_PICTURE = Path("demo/timeline.svg")


def main() -> int:
    asked = _arguments()
    bundle_jar("1.2.0")  # fetched before anything is timed
    folder = Path(tempfile.mkdtemp(prefix="hudi-demo-"))
    began = time.monotonic()
    try:
        return _play(folder, asked.picture, began)
    finally:
        if asked.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _play(folder: Path, drawing: Path, began: float) -> int:
    stage = Stage(folder / "orders", folder / "manifests", folder / "state", _say, _quote, _teller(began))
    seen, failure = Seen(), ""
    try:
        play(stage, seen)
    except (WriterError, OperatorError) as failed:
        failure = str(failed)
    seen.ended = seen.ended or time.time()
    _say("What was seen")
    kept = promises(seen)
    for promise in kept:
        print(f"  {'✓' if promise.is_kept else '✗'} {promise.words}")
    if failure:
        print(f"  ✗ {failure}")
    if seen.began:
        drawing.parent.mkdir(parents=True, exist_ok=True)
        drawing.write_text(svg(picture(seen)))
        print(f"  picture: {drawing}")
    print(f"  {time.monotonic() - began:.0f} s")
    return 0 if not failure and all(promise.is_kept for promise in kept) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.demo", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--keep", action="store_true", help="leave the table, the manifests and the state behind")
    parser.add_argument("--picture", type=Path, default=_PICTURE, help=f"where to draw ({_PICTURE})")
    return parser.parse_args()


def _say(line: str) -> None:
    print(f"\n\033[1m▸ {line}\033[0m" if sys.stdout.isatty() else f"\n> {line}", flush=True)


def _quote(text: str) -> None:
    for line in text.splitlines():
        print(f"      {line}", flush=True)


def _teller(began: float) -> Callable[[str, str], None]:
    def show(who: str, line: str) -> None:
        told = line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"
        print(f"  {time.monotonic() - began:6.1f} s  {who:<8} │ {told}", flush=True)

    return show


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PartMissingError as missing:
        sys.exit(str(missing))
