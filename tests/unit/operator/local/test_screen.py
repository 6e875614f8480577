"""What is shown of changes, on a terminal and elsewhere."""

import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime

from hudi_operator.local.row import HEAD, Row
from hudi_operator.local.screen import JsonLines, Lines
from hudi_operator.reconcile import Event
from hudi_operator.resources.model import IndexType, Meta, MetadataIndex
from tests.unit.operator.local.manifests import INDEX_REF

NOW = datetime(2026, 1, 2, tzinfo=UTC)
INDEX = MetadataIndex(Meta(INDEX_REF, "uid-1"), "orders", IndexType.RECORD_INDEX)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def status(state: str, ready: str = "False", percent: float | None = None, **stalled: str) -> Mapping[str, object]:
    conditions = [
        {"type": "Ready", "status": ready, "reason": state, "message": "a message"},
        {"type": "Stalled", "status": stalled.get("stalled", "False"), "reason": "Contention", "message": "held by x"},
        {"type": "Reconciling", "status": "False", "reason": "Reconciled", "message": ""},
    ]
    progress = {} if percent is None else {"progress": {"phase": "base", "percent": percent, "rows": 12345}}
    return {"state": state, "conditions": conditions, "instants": {"lagInstants": 3}, **progress}


def test_a_line_is_shown_for_each_change_and_none_for_what_is_as_it_was() -> None:
    out = io.StringIO()
    lines = Lines(out, lambda: NOW)
    for one in (status("Building"), status("Building"), status("Ready", "True")):
        lines.status(INDEX, one)

    head, *rows = out.getvalue().splitlines()
    assert head == HEAD
    assert [row.split() for row in rows] == [
        ["hudii/orders-keys", "False", "Building", "-", "3", "Building", "a", "message"],
        ["hudii/orders-keys", "True", "Ready", "-", "3", "Ready", "a", "message"],
    ]


def test_progress_is_a_bar_on_a_terminal_and_a_line_now_and_then_elsewhere() -> None:
    terminal, file = Terminal(), io.StringIO()
    for out in (terminal, file):
        lines = Lines(out, lambda: NOW)
        for percent in (10, 20, 50):
            lines.status(INDEX, status("Building", percent=percent))
        lines.close()

    assert "[############............]  50% base 12,345 rows" in terminal.getvalue()
    assert terminal.getvalue().count("\n") == 2
    assert [line.split()[3] for line in file.getvalue().splitlines()[1:]] == ["10%", "20%"]


def test_a_warning_is_shown_and_other_events_are_not() -> None:
    out = io.StringIO()
    lines = Lines(out, lambda: NOW)
    lines.event(INDEX, Event("Warning", "DroppedByWriter", "a writer deleted it"))
    lines.event(INDEX, Event("Normal", "RunStarted", "build"))

    assert out.getvalue() == "warning: hudii/orders-keys: DroppedByWriter: a writer deleted it\n"


def test_nothing_that_a_terminal_obeys_is_shown() -> None:
    out = io.StringIO()
    Lines(out, lambda: NOW).note("a\x1b[2Jb\rc")

    assert out.getvalue() == "a?[2Jb c\n"


def test_json_is_a_document_a_line() -> None:
    out = io.StringIO()
    lines = JsonLines(out, lambda: NOW)
    lines.status(INDEX, status("Ready"))
    lines.gone(INDEX_REF)
    lines.note("ready")

    first, second, third = map(json.loads, out.getvalue().splitlines())
    assert (first["kind"], first["name"], first["status"]["state"]) == ("MetadataIndex", "orders-keys", "Ready")
    assert second["deleted"] is True
    assert third == {"at": NOW.isoformat(), "note": "ready"}


def test_a_resource_is_ready_when_it_is_at_rest_and_as_it_should_be() -> None:
    assert Row.of(INDEX, status("Ready", "True")).is_ready
    assert not Row.of(INDEX, status("Ready", "True", stalled="True")).is_ready
    assert not Row.of(INDEX, {}).is_ready


def test_of_a_stalled_resource_the_reason_of_that_is_shown() -> None:
    row = Row.of(INDEX, status("Building", stalled="True"))

    assert (row.reason, row.message) == ("Contention", "held by x")
