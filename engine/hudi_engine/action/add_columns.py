"""Columns added to an index that is complete: entries for every file first, then the definition, by which they count.

Readers ask for no column that is not defined: entries that stand there before do no harm, and stay if it ends here.
"""

import pyarrow as pa

from hudi_engine.action.additions import of_all_files
from hudi_engine.action.catch_up import Behind, CatchUp, CaughtUp, Standing
from hudi_engine.action.coverage import Base, held_by
from hudi_engine.action.entry_changes import EntryChanges, present_of
from hudi_engine.action.execute import Run
from hudi_engine.action.keeping import Correction, Overtaken
from hudi_engine.action.plans import PlannedIndex
from hudi_engine.action.site import Transaction
from hudi_engine.index.metadata_table import MetadataTable


class AddColumns(CatchUp):
    """The catch-up of an addition, which begins with all files that are committed by then.

    Of each thing written one entry is remembered. Should one be gone at the end, a restore has taken it, or a writer
    has made the index anew: then others are gone as well.
    """

    def __init__(self, run: Run, index: PlannedIndex, *, may_wait: bool) -> None:
        metadata = run.site.metadata()
        self._questions = list(of_all_files(metadata))
        self._witnesses: list[bytes] = []
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
        written = pa.array(sorted(self._witnesses), pa.large_binary())
        if not present_of(self._read(transaction.metadata), written).equals(written):
            return Overtaken(f"of what was added to {self._base.index} some is gone: restored away, or made anew")
        return standing

    def _remember(self, changes: Correction) -> None:
        if isinstance(changes, EntryChanges) and len(changes.puts):
            self._witnesses.append(changes.puts["key"][0].as_py())


def _base_now(run: Run, metadata: MetadataTable, index: PlannedIndex) -> Base:
    """All that is committed now is asked about as a whole, so only later commits one by one."""
    timeline = metadata.data_timeline
    held = held_by(timeline, metadata.data.view(timeline).completions, index.upto)
    plan, attempt = run.plan.requested_at, run.attempt.number
    return Base(index.name, "", "", plan, attempt, index.upto, held.read_at, frozenset(held.covers))
