"""Of which columns of statistics every file is known to have entries.

That a column is named says little: a writer that is told to index one more names it at its next commit, and has entries
of what it writes from then on. So what counts is that a run of ours asked for it, and that it was named ever since.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from hudi_engine.contract import Action, IndexSeen
from hudi_operator.decide.case import Case
from hudi_operator.decide.guard import index_of
from hudi_operator.resources.model import IndexType, MetadataIndex
from hudi_operator.retry import Past


@dataclass(frozen=True, slots=True)
class Covered:
    """`names` are the columns, `run` is the last that asked for any."""

    run: str
    names: tuple[str, ...]

    @property
    def facts(self) -> Mapping[str, object]:
        return {"run": self.run, "names": list(self.names)}


def covered_of(index: MetadataIndex, case: Case) -> Covered:
    told = case.world.previous.get("columns")
    told = told if isinstance(told, Mapping) else {}
    names = told.get("names")
    covered = Covered(str(told.get("run", "")), tuple(names) if isinstance(names, list | tuple) else ())
    last = next((past for past in reversed(case.ended) if _is_for_columns(index, case, past)), None)
    if last is not None and last.name != covered.run and case.was_looked_at_since(last):
        covered = Covered(last.name, index.columns)
    there = index_of(index, case).columns
    return Covered(covered.run, tuple(name for name in covered.names if name in there))


def lacks_columns(index: MetadataIndex, found: IndexSeen) -> tuple[str, ...]:
    """Columns asked for that are not named; none where nobody records columns."""
    if index.index_type is not IndexType.COLUMN_STATS or not found.columns:
        return ()
    return tuple(sorted({*index.columns} - {*found.columns}))


def _is_for_columns(index: MetadataIndex, case: Case, past: Past) -> bool:
    """Its own runs asked for the columns that the spec had then; others' have asked for those that it has."""
    is_of_this_spec = past in case.past_elsewhere or past.trigger.startswith(f"g{index.meta.generation}.")
    return past.action is Action.BUILD and past.has_succeeded and is_of_this_spec
