from hudi_operator.decision import RemoveAnnotation, SetFinalizer, Stop
from hudi_operator.reconcile.home import Event
from hudi_operator.reconcile.tellings import told_of_act, told_of_conditions
from hudi_operator.runs import RunKey


def status(**conditions: str) -> dict[str, object]:
    """Of each condition its status and reason, as `True/Built`."""
    return {
        "conditions": [
            {"type": name, "status": said.split("/")[0], "reason": said.split("/")[1], "message": f"{name} it is"}
            for name, said in conditions.items()
        ]
    }


def told(before: dict[str, object], after: dict[str, object]) -> list[Event]:
    return list(told_of_conditions(before, after))


def test_becoming_ready_is_told() -> None:
    events = told(status(Ready="False/Building"), status(Ready="True/IndexInSync"))

    assert events == [Event("Normal", "IndexInSync", "Ready it is")]


def test_steps_on_the_way_to_ready_are_not_told() -> None:
    assert told(status(Ready="False/NotBuilt"), status(Ready="False/Building", Reconciling="True/Building")) == []


def test_trouble_is_told_once_for_each_reason() -> None:
    first = status(MetadataConsistent="False/PartitionDropped")
    second = status(MetadataConsistent="False/IndexStale")

    assert told(status(MetadataConsistent="True/Consistent"), first)[0].type == "Warning"
    assert told(first, first) == []
    assert told(first, second) == [Event("Warning", "IndexStale", "MetadataConsistent it is")]


def test_the_end_of_trouble_is_told() -> None:
    events = told(status(Stalled="True/RetriesExhausted"), status(Stalled="False/NotStalled"))

    assert events == [Event("Normal", "NotStalled", "Stalled it is")]


def test_a_new_resource_in_which_all_is_well_tells_of_nothing_but_that_it_is_ready() -> None:
    events = told({}, status(Ready="True/Scheduled", Stalled="False/NotStalled", Reachable="True/Observed"))

    assert [event.reason for event in events] == ["Scheduled"]


def test_what_nobody_knows_is_not_told() -> None:
    assert told({}, status(Reachable="Unknown/NotObserved", TimelineHealthy="Unknown/NotObserved")) == []


def test_a_stopped_run_is_told_with_the_reason_and_bookkeeping_is_not_told() -> None:
    assert told_of_act(Stop(RunKey("shop", "run-1", "uid-2"), "it was replaced")) == Event(
        "Normal", "RunStopped", "run run-1: it was replaced"
    )
    assert told_of_act(SetFinalizer(True)) is None


def test_a_wish_that_cannot_be_fulfilled_is_told() -> None:
    event = told_of_act(RemoveAnnotation("approve", "there is no such plan"))

    assert event == Event("Normal", "AnnotationRemoved", "approve: there is no such plan")
    assert told_of_act(RemoveAnnotation("approve", "")) is None


def test_what_turns_out_well_when_it_is_first_looked_at_is_not_told() -> None:
    assert told(status(Reachable="Unknown/NotObserved"), status(Reachable="True/Observed")) == []


def test_an_index_that_was_taken_away_is_told_of_though_it_is_built_again_by_itself() -> None:
    before = status(Built="True/Built", Stalled="False/NotStalled")
    after = status(Built="False/DroppedByWriter", Stalled="False/NotStalled")

    assert told(before, after) == [Event("Warning", "DroppedByWriter", "Built it is")]
    assert told(after, after) == []


def test_an_index_that_was_taken_away_and_stays_so_is_told_of_once() -> None:
    before = status(Built="True/Built", Stalled="False/NotStalled")
    after = status(Built="False/DroppedByWriter", Stalled="True/DroppedByWriter")

    assert told(before, after) == [Event("Warning", "DroppedByWriter", "Stalled it is")]
