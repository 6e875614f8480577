"""`make demo`, the README's first command: what it promises is seen, and nothing of it stays."""

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def test_the_demo_keeps_its_promises_and_leaves_nothing(tmp_path: Path) -> None:
    picture, scratch = tmp_path / "timeline.svg", tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "tools.demo", "--picture", str(picture)]
    environment = {**os.environ, "TZ": "UTC", "TMPDIR": str(scratch)}

    ended = subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, timeout=290, check=False
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "✗" not in ended.stdout
    assert " 0 lost" in ended.stdout
    assert picture.read_text().startswith("<svg ")
    assert list(scratch.glob("hudi-demo-*")) == []
