"""The terminal: a line a change, a bar while a run is at work; or a JSON document a line."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TextIO

from hudi_engine.contract import printable
from hudi_operator.local.row import HEAD, Row, shown
from hudi_operator.reconcile import Event
from hudi_operator.resources.model import Ref
from hudi_operator.resources.unreadable import Stored

_CLEARED = "\r\x1b[2K"
# Where nothing can be drawn over, progress is a line of its own, and not more often than this.
_PROGRESS_SECONDS = 5.0


class Screen(Protocol):
    """Shows what happens, to people or to programs."""

    def status(self, resource: Stored, status: Mapping[str, object]) -> None: ...

    def event(self, resource: Stored, event: Event) -> None: ...

    def gone(self, ref: Ref) -> None: ...

    def note(self, text: str) -> None:
        """Something of the operator itself."""

    def close(self) -> None: ...


@dataclass(slots=True)
class Lines:
    out: TextIO
    now: Callable[[], datetime]
    _last: dict[Ref, Row] = field(default_factory=dict)
    _progress_at: dict[Ref, datetime] = field(default_factory=dict)
    _has_head: bool = False
    _bar: str = ""

    def status(self, resource: Stored, status: Mapping[str, object]) -> None:
        ref, row = resource.meta.ref, Row.of(resource, status)
        before, self._last[ref] = self._last.get(ref), row
        if before is None or before.news != row.news or self._is_progress_due(ref, before, row):
            if not self._has_head:
                self._has_head = True
                self._print(HEAD)
            self._print(row.line())
        self._draw()

    def event(self, resource: Stored, event: Event) -> None:
        if event.type == "Warning":
            self._print(f"warning: {shown(resource.meta.ref)}: {event.reason}: {event.message}")
            self._draw()

    def gone(self, ref: Ref) -> None:
        self._last.pop(ref, None)
        self._print(f"{shown(ref):<30} deleted")

    def note(self, text: str) -> None:
        self._print(text)
        self._draw()

    def close(self) -> None:
        self._erase()
        self.out.flush()

    def _is_progress_due(self, ref: Ref, before: Row, row: Row) -> bool:
        if self.out.isatty() or before == row or not row.phase:
            return False
        last = self._progress_at.get(ref)
        if last is not None and (self.now() - last).total_seconds() < _PROGRESS_SECONDS:
            return False
        self._progress_at[ref] = self.now()
        return True

    def _print(self, line: str) -> None:
        self._erase()
        self.out.write(f"{printable(line)}\n")
        self.out.flush()

    def _draw(self) -> None:
        """The bar of the run that is at work, below all lines; the first by name if there are several."""
        if not self.out.isatty():
            return
        self._erase()
        bars = (row.bar() for _, row in sorted(self._last.items()))
        self._bar = next((bar for bar in bars if bar), "")
        self.out.write(printable(self._bar)[: shutil.get_terminal_size().columns - 1])
        self.out.flush()

    def _erase(self) -> None:
        if self._bar:
            self.out.write(_CLEARED)
            self._bar = ""


@dataclass(slots=True)
class JsonLines:
    """`{"at", "kind", "namespace", "name"}` with `status`, `event` or `deleted`; `{"at", "note"}` of the operator."""

    out: TextIO
    now: Callable[[], datetime]

    def status(self, resource: Stored, status: Mapping[str, object]) -> None:
        self._write(resource.meta.ref, {"status": status})

    def event(self, resource: Stored, event: Event) -> None:
        told = {"type": event.type, "reason": event.reason, "message": event.message}
        self._write(resource.meta.ref, {"event": told})

    def gone(self, ref: Ref) -> None:
        self._write(ref, {"deleted": True})

    def note(self, text: str) -> None:
        self._print({"note": text})

    def close(self) -> None:
        self.out.flush()

    def _write(self, ref: Ref, told: Mapping[str, object]) -> None:
        self._print({"kind": ref.kind.value, "namespace": ref.namespace, "name": ref.name, **told})

    def _print(self, tree: Mapping[str, object]) -> None:
        self.out.write(json.dumps({"at": self.now().isoformat(), **tree}, default=str) + "\n")
        self.out.flush()
