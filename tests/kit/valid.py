"""What a validation of some indexes finds, in a store of a test: nothing."""

from collections.abc import Sequence
from functools import partial

from hudi_engine.index.metadata_table import MetadataTable
from hudi_engine.validate.report import Discrepancy
from hudi_engine.validate.run import Status, plan_checks, run_check
from hudi_engine.validate.subject import subject_of
from tests.kit.subjects import Count


def require_valid(metadata: MetadataTable, names: Sequence[str]) -> None:
    """These indexes are complete, something is in them, and nothing wrong."""
    if not names:
        return
    subject = subject_of(metadata.data, metadata, None, Count())
    for planned in plan_checks(metadata, names):
        told: list[str] = []
        outcome = run_check(subject, planned, partial(_note, told))
        assert outcome.status is Status.OK, f"{planned.index}: {outcome.reason} {told}"
        assert outcome.looked_at


def _note(told: list[str], found: Discrepancy) -> None:
    told.append(str(found))
