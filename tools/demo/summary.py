"""What was seen, as promises kept or not, and as a picture."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from hudi_engine.contract import Outcome
from hudi_operator.words import Reason
from tools.demo.java import HUDI
from tools.demo.local_operator import Flag, Run
from tools.demo.picture import Lane, Moment, Paint, Picture, Span
from tools.demo.story import Seen, is_valid


@dataclass(frozen=True, slots=True)
class Promise:
    is_kept: bool
    words: str


def promises(seen: Seen) -> list[Promise]:
    """In the order in which they were to be seen."""
    return [*_of_commits(seen), *_of_builds(seen), *_of_guard(seen), *_of_answers(seen)]


def _of_commits(seen: Seen) -> Iterator[Promise]:
    if not seen.builds:
        yield Promise(False, f"{len(seen.commits)} commits by Java, and no build")
        return
    first = seen.builds[0]
    before = sum(commit.ended < first.began for commit in seen.commits)
    during = sum(any(_overlaps(commit.began, commit.ended, run) for run in seen.builds) for commit in seen.commits)
    after = sum(commit.began > first.ended for commit in seen.commits)
    figures = f"{before} before the first build, {during} while an index was built, {after} after the first build"
    yield Promise(min(before, during, after) > 0, f"{len(seen.commits)} commits by Java (Hudi {HUDI}): {figures}")


def _of_builds(seen: Seen) -> Iterator[Promise]:
    ready = [sight.at for sight in seen.sights if sight.is_ready]
    states = list(dict.fromkeys(sight.state for sight in seen.sights if sight.state))
    waited = f", {ready[0] - seen.applied:.1f} s after apply" if ready else ""
    yield Promise(bool(ready), f"Ready{waited}; states seen: {', '.join(states)}")
    for number, run in enumerate(seen.builds):
        kind = next(iter(run.report.kinds), None)
        phases = ", ".join(f"{span.paint} {span.end - span.begin:.1f} s" for span in _of_build(run, run.began))
        size = f"{kind.keys:,} keys in {kind.shards} shards" if kind else "no index"
        held = f"lock held for {run.report.lock_holds.max_ms} ms at most"
        words = f"{'rebuilt' if number else 'built'}: {size} in {run.ended - run.began:.1f} s ({phases}), {held}"
        yield Promise(run.exit_code == 0 and run.report.outcome is Outcome.READY, words)


def _of_guard(seen: Seen) -> Iterator[Promise]:
    deleted, noticed, again = seen.deleted, seen.noticed, seen.ready_again
    if deleted is None or noticed is None:
        what = "deleted the index, and nobody noticed" if deleted else "did not delete the index"
        yield Promise(False, f"a misconfigured job {what}")
        return
    reason = Reason.DROPPED_BY_WRITER
    yield Promise(True, f"a misconfigured job deleted the index; noticed {noticed - deleted:.1f} s later: {reason}")
    back = f"{again - deleted:.1f} s after it was deleted" if again else "never"
    yield Promise(again is not None and len(seen.builds) > 1, f"Ready again {back}, without a hand")


def _of_answers(seen: Seen) -> Iterator[Promise]:
    outcomes = ", ".join(run.report.outcome for run in seen.validations)
    is_all_valid = len(seen.validations) >= 2 and all(map(is_valid, seen.validations))
    yield Promise(is_all_valid, f"{len(seen.validations)} Validate runs: {outcomes or 'none'}")
    asked = [each for each in seen.look_ups if each.is_java_asked]
    keys, right = sum(each.keys for each in asked), sum(each.right for each in asked)
    yield Promise(bool(asked) and keys == right, f"{right:,} of {keys:,} look-ups equal to Java's own")
    rows = f"{seen.keys_written:,} orders written, {seen.rows_by_spark:,} rows by Spark's reading"
    yield Promise(seen.keys_lost == 0 and seen.rows_by_spark >= seen.keys_written > 0, f"{rows}, {seen.keys_lost} lost")


def picture(seen: Seen) -> Picture:
    """Seconds are counted from the beginning of the table."""
    lanes = (
        Lane("Java writer", tuple(_commits(seen))),
        Lane("record index", tuple(_phases(seen))),
        Lane("validate runs", tuple(_validations(seen))),
        Lane("look-ups", moments=tuple(_look_ups(seen))),
    )
    last = max([seen.ended, *(commit.ended for commit in seen.commits)])
    caption = (
        f"Hudi {HUDI} (Java) commits to a merge-on-read table without pause. One job lacks the index's setting and so "
        "deletes it; the guard has it built again."
    )
    return Picture("make demo: a record index beside a Java writer", caption, last - seen.began, lanes)


def _commits(seen: Seen) -> Iterator[Span]:
    for commit in seen.commits:
        paint = Paint.WRITE if commit.is_right else Paint.WRONG
        label = "" if commit.is_right else "deletes the index"
        yield Span(commit.began - seen.began, commit.ended - seen.began, paint, label)


def _phases(seen: Seen) -> Iterator[Span]:
    """Runs by their own progress; what lies between them by the table's properties."""
    for run in seen.builds:
        yield from _of_build(run, seen.began)
    edges = [*seen.flags, Flag(seen.ended, False)]
    for flag, later in pairwise(edges):
        if flag.is_complete:
            yield Span(flag.at - seen.began, later.at - seen.began, Paint.READY, "ready")
        else:
            until = min((run.began for run in seen.builds if run.began > flag.at), default=later.at)
            yield Span(flag.at - seen.began, until - seen.began, Paint.DROPPED, "dropped")


def _of_build(run: Run, zero: float) -> Iterator[Span]:
    """Its phases. The plan's begins with the start of its process, the catch-up's ends with the flag that is set."""
    begin, end = run.base or (run.ended, run.ended)
    yield Span(run.began - zero, begin - zero, Paint.PLAN)
    if run.base is not None:
        yield Span(begin - zero, end - zero, Paint.BASE)
        yield Span(end - zero, run.ended - zero, Paint.CATCH_UP)


def _validations(seen: Seen) -> Iterator[Span]:
    for run in seen.validations:
        yield Span(run.began - seen.began, run.ended - seen.began, Paint.RUN, str(run.report.outcome))


def _look_ups(seen: Seen) -> Iterator[Moment]:
    for each in seen.look_ups:
        words = f"{each.right:,} of {each.keys:,} right" + (", as Java says" if each.is_java_asked else "")
        yield Moment(each.at - seen.began, Paint.LOOK_UP, words)


def _overlaps(began: float, ended: float, run: Run) -> bool:
    return began < run.ended and ended > run.began
