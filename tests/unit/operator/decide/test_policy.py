"""Runs that the operator's policy does not allow are not begun."""

import pytest

from hudi_operator.decide import decide
from hudi_operator.decision import Defaults, Start
from hudi_operator.policy import Policy, Rules
from hudi_operator.resources.model import Execution
from tests.unit.operator.decide.expected import shown
from tests.unit.operator.decide.worlds import a_service, a_table, an_index, world

LISTED = Policy({"lake": Rules(images=("engine:1",), service_accounts=("indexer",))})
CLOSED = Policy({})


@pytest.mark.parametrize(
    ("execution", "policy", "is_begun"),
    [
        (Execution(), CLOSED, True),
        (Execution(image="engine:1", service_account_name="indexer"), LISTED, True),
        (Execution(image="engine:1", service_account_name="indexer"), None, True),
        (Execution(image="engine:1"), CLOSED, False),
        (Execution(image="engine:2"), LISTED, False),
        (Execution(service_account_name="admin"), LISTED, False),
        (Execution(executor_service_account_name="indexer"), LISTED, True),
        (Execution(executor_service_account_name="admin"), LISTED, False),
    ],
)
@pytest.mark.parametrize("is_of_table", [False, True])
def test_a_run_is_begun_if_the_policy_lists_the_image_and_the_account_that_users_name(
    execution: Execution, policy: Policy | None, is_begun: bool, is_of_table: bool
) -> None:
    table = a_table(execution=execution if is_of_table else Execution())
    index = an_index(execution=Execution() if is_of_table else execution)

    decision = decide(index, world(table=table, defaults=Defaults(policy=policy)))

    assert isinstance(decision.act, Start) is is_begun
    assert is_begun or shown(decision) == "!Failed NotAllowed: -"


def test_a_run_that_is_refused_says_what_is_allowed_and_whom_to_ask() -> None:
    service = a_service(run_token="now", execution=Execution(image="engine:2"))

    decision = decide(service, world(defaults=Defaults(policy=LISTED)))

    why = next(said.message for said in decision.said if said.condition == "Ready")
    assert why.startswith(
        "execution.image is engine:2, and the operator's policy allows engine:1 to the namespace lake"
    )
