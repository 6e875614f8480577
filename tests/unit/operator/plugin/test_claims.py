"""Whatever may be wrong, there is something to do about it."""

import pytest

from hudi_operator.plugin.claims import is_on_the_way, remedy
from hudi_operator.words import Reason
from tests.unit.operator.plugin.documents_of_tests import index

_WELL = {
    *(Reason.OBSERVED, Reason.CONSISTENT, Reason.HEALTHY, Reason.UNIQUE, Reason.INDEX_IN_SYNC, Reason.CAUGHT_UP),
    *(Reason.APPROVED, Reason.NOT_NEEDED, Reason.DROPPED, Reason.IDLE, Reason.SUCCEEDED, Reason.RECONCILED),
    Reason.NOT_STALLED,
}


@pytest.mark.parametrize("reason", [each for each in Reason if each not in _WELL and not is_on_the_way(each)])
def test_each_reason_that_is_neither_well_nor_passing_comes_with_what_to_do(reason: Reason) -> None:
    assert remedy(index(), reason)


def test_what_is_to_be_done_names_the_resource_and_its_table() -> None:
    assert "kubectl hudi approve orders-by-key" in remedy(index(), Reason.AWAITING_APPROVAL)
    assert "orders-writer" in remedy(index(), Reason.DROPPED_BY_WRITER)


def test_a_reason_that_is_none_of_ours_has_no_remedy() -> None:
    assert remedy(index(), "SomethingElse") == ""
