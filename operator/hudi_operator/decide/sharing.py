"""Which indexes of a table one run builds: one plan, one snapshot, one start of a pod and of Spark for all of them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hudi_engine.contract import Action
from hudi_operator.decide.case import Case
from hudi_operator.decide.need import token_mark
from hudi_operator.decision import Start
from hudi_operator.orders import are_alike, with_others
from hudi_operator.resources.model import Approval, IndexType, MetadataIndex
from hudi_operator.status.past import MOST_INDEXES


@dataclass(frozen=True, slots=True)
class Proposal:
    """What would be begun for a resource if it were alone on its table."""

    case: Case
    start: Start


def shared(first: Proposal, others: Iterable[Proposal]) -> Start:
    """The start of the one whose turn it is, for all that would be built just so right now.

    The run stays the first one's own: its name, its attempts, its end. What the others see of it is `kinds`.
    """
    start = first.start
    if not _may_share(first):
        return start
    alike = (other.start.order for other in others if _may_share(other) and are_alike(start.order, other.start.order))
    joined = {order.request.kinds: order for order in alike if order.request.kinds != start.order.request.kinds}
    if not joined:
        return start
    orders = [*joined.values()][: MOST_INDEXES - 1]
    names = ", ".join(order.owner.name for order in orders)
    return replace(start, order=with_others(start.order, orders), why=f"{start.why}; for {names} as well")


def _may_share(proposal: Proposal) -> bool:
    """Not what is made by itself alone: of an approved plan, by a token, or after a run that failed.

    Which of several indexes a run failed by is not known, so after that each has runs of its own until one succeeds.
    The end of a token is known by the triggers of the resource's own runs, and the engine takes `files` with no other.
    """
    index, order = proposal.case.resource, proposal.start.order
    if not isinstance(index, MetadataIndex) or order.request.action is not Action.BUILD:
        return False
    if index.approval is not Approval.AUTOMATIC or index.index_type is IndexType.FILES:
        return False
    if index.rebuild_token and order.trigger.endswith(token_mark(index.rebuild_token)):
        return False
    last = proposal.case.newest(Action.BUILD)
    return last is None or last.has_succeeded
