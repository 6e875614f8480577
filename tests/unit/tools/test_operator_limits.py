from copy import deepcopy

import pytest

from benchmarks.operator import above_limits

MEASURED = {
    "to_ready": {"reconcile_p99_seconds_at_most": 0.5},
    "idle": {"operator_resident_mb": 79.0, "operator_cpu_share": 0.007, "observer_cpu_ms_an_observation": 1.0},
    "all_at_once": {"reconcile_p99_seconds_at_most": 1.0},
}


def test_what_is_within_its_limits_is_passed() -> None:
    assert above_limits(MEASURED) == []


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("idle", "operator_resident_mb", 150.1),
        ("idle", "operator_cpu_share", 0.03),
        ("idle", "observer_cpu_ms_an_observation", 21.0),
        ("all_at_once", "reconcile_p99_seconds_at_most", None),
    ],
)
def test_a_figure_above_its_limit_is_named(part: str, name: str, value: float | None) -> None:
    document = deepcopy(MEASURED) | {part: {**MEASURED[part], name: value}}

    (said,) = above_limits(document)

    assert said.startswith(f"{part}.{name} is {value}, at most")
