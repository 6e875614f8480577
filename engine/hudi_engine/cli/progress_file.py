"""A file that always holds the newest progress of a job, for whoever started it."""

import os
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

import typer

from hudi_engine.contract import RunProgress


@dataclass(slots=True)
class ProgressFile:
    """One JSON line, replaced as a whole. Any thread may write; what cannot be written is no matter to the job."""

    path: Path
    last: RunProgress | None = None
    has_failed: bool = False
    writing: threading.Lock = field(default_factory=threading.Lock)

    def write(self, progress: RunProgress) -> None:
        """Unless the file says so already."""
        with self.writing:
            if self.last is not None and replace(progress, updated_ms=self.last.updated_ms) == self.last:
                return
            self.last = progress
            temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
            try:
                temporary.write_text(f"{progress.to_json()}\n")
                temporary.replace(self.path)
            except OSError as refused:
                self._tell(refused)

    def _tell(self, refused: OSError) -> None:
        if not self.has_failed:
            self.has_failed = True
            typer.echo(f"hudi-engine: the progress could not be written: {self.path}: {refused.strerror}", err=True)
