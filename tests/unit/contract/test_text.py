import pytest
from hypothesis import given
from hypothesis import strategies as st

from hudi_engine.contract import JobReport, Outcome, RunProgress, TableUnseen, UnseenReason, printable

EVIL = "a\x1b[2Jb\r\nc\u202ed\x9be\u2028f\x00"
FIT = "a?[2Jb  c?d?e f?"


def test_what_a_terminal_would_obey_is_replaced_and_all_else_stays() -> None:
    assert printable(EVIL) == FIT
    assert printable("Größe 5 µs, 表, 🚀") == "Größe 5 µs, 表, 🚀"


@given(st.text())
def test_what_was_made_printable_is_so_and_as_long(text: str) -> None:
    assert printable(text).isprintable()
    assert len(printable(text)) == len(text)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (JobReport(Outcome.FAILED, 70, reason=EVIL), lambda text: JobReport.from_json(text).reason),
        (RunProgress("base", 1, 2, 3, EVIL, 4), lambda text: RunProgress.from_json(text).said),
    ],
    ids=["report", "progress"],
)
def test_sentences_of_a_run_are_made_printable_where_they_come_in(written: object, read: object) -> None:
    assert read(written.to_json()) == FIT  # type: ignore[operator, attr-defined]  # the two belong together


def test_why_a_table_is_not_seen_is_made_printable_where_it_comes_in() -> None:
    tree = {"reason": UnseenReason.INTERNAL.value, "message": EVIL, "retry": False, "observed_ms": 1}

    assert TableUnseen.of_tree(tree, "unseen").message == FIT
