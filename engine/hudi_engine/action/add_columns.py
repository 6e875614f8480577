"""Columns added to an index that is complete: entries for every file first, then the definition, by which they count.

Readers ask for no column that is not defined: entries that stand there before do no harm, and stay if it ends here.
"""

from typing import Final

import pyarrow as pa

from hudi_engine.action.additions import of_all_files
from hudi_engine.action.catch_up import Behind, CatchUp, CaughtUp, Standing
from hudi_engine.action.coverage import Base, held_by
from hudi_engine.action.entry_changes import EntryChanges, present_of
from hudi_engine.action.execute import Run
from hudi_engine.action.keeping import Correction, Overtaken, Question
from hudi_engine.action.plans import PlannedIndex
from hudi_engine.action.reading import Reading
from hudi_engine.action.site import Transaction
from hudi_engine.index.keys import column_stats_key
from hudi_engine.index.metadata_table import MetadataTable

File = tuple[str, str]
"""Its partition and its name."""
_COLUMN: Final = 12  # the characters by which a key begins with its column


class AddColumns(CatchUp):
    """The catch-up of an addition, which begins with all files that are committed by then.

    Of each commit one entry of each column is remembered. Should one of a file that is still there be gone at the end,
    a restore has taken it, or a writer has made the index anew: then others are gone as well.
    """

    def __init__(self, run: Run, index: PlannedIndex, *, may_wait: bool) -> None:
        metadata = run.site.metadata()
        self._questions = list(of_all_files(metadata))
        self._columns = index.columns
        self._asked_of: frozenset[File] = frozenset()
        self._witnesses: dict[bytes, frozenset[File]] = {}  # by key: files, of one of which it is
        super().__init__(run, _base_now(run, metadata, index), may_wait=may_wait)

    def run(self) -> CaughtUp | Overtaken:
        if self._questions:
            self._run.site.watch.begin("add columns", len(self._questions))
        while self._questions:
            settled = self._settle(self._questions[0], None)
            if isinstance(settled, Overtaken):
                return settled
            del self._questions[0]
            self._run.site.watch.advance(1, settled[0])
        return super().run()

    def last_pass(self, transaction: Transaction) -> Standing:
        standing = super().last_pass(transaction)
        if isinstance(standing, Behind):
            return standing
        reading = self._read(transaction.metadata)
        there = present_of(reading, pa.array(list(self._witnesses), pa.large_binary()))
        gone = self._witnesses.keys() - set(there.to_pylist())
        if any(self._is_missed(reading, key) for key in gone):
            return Overtaken(f"of what was added to {self._base.index} some is gone: restored away, or made anew")
        return standing

    def _is_missed(self, reading: Reading, key: bytes) -> bool:
        """Whether the file is still there: a clean takes its entries with it."""
        files = ((at, name) for at, name in self._witnesses[key] if name in reading.listing(at))
        return any(key.decode() == column_stats_key(column, *file) for file in files for column in self._columns)

    def _settle(self, question: Question, reading: Reading | None) -> tuple[int, bool] | Overtaken:
        self._asked_of = question.written
        return super()._settle(question, reading)

    def _apply_part(self, instant: str, part: Correction, *, is_last: bool) -> bool:
        is_written = super()._apply_part(instant, part, is_last=is_last)
        if is_written and isinstance(part, EntryChanges):
            of_column = {key[:_COLUMN]: key for key in part.puts["key"].to_pylist()}
            self._witnesses |= dict.fromkeys(of_column.values(), self._asked_of)
        return is_written


def _base_now(run: Run, metadata: MetadataTable, index: PlannedIndex) -> Base:
    """All that is committed now is asked about as a whole, so only later commits one by one."""
    timeline = metadata.data_timeline
    held = held_by(timeline, metadata.data.view(timeline).completions, index.upto)
    plan, attempt = run.plan.requested_at, run.attempt.number
    return Base(index.name, "", "", plan, attempt, index.upto, held.read_at, frozenset(held.covers))
