"""How a run is carried out, from what its resource says and what its table says."""

from collections.abc import Mapping
from dataclasses import fields

from hudi_operator.resources.model import Execution, ExecutionMode, PodTemplate, Resources, Retry

_OF_EXECUTORS = (
    "executor",
    "executor_instances",
    "dynamic_allocation",
    "executor_service_account_name",
    "executor_template",
)


def effective(own: Execution, table: Execution) -> Execution:
    """Of each field the nearer value; maps are merged key by key. A run with no executors has none of the table's."""
    merged = {one.name: _nearer(getattr(own, one.name), getattr(table, one.name)) for one in fields(Execution)}
    merged["mode"] = mode = _mode(own) or _mode(table)
    if mode is ExecutionMode.DRIVER_ONLY:
        merged |= {name: getattr(Execution(), name) for name in _OF_EXECUTORS}
    return Execution(**merged)  # type: ignore[arg-type]  # each value is of its own field


def with_defaults(given: Resources | None, defaults: Resources) -> Resources:
    """Of each resource what is given, else the defaults: a default request might be more than a limit that is given."""
    own = given or Resources()
    named = {*own.requests, *own.limits}
    requests, limits = (
        {name: amount for name, amount in amounts.items() if name not in named}
        for amounts in (defaults.requests, defaults.limits)
    )
    return Resources({**requests, **own.requests}, {**limits, **own.limits})


def _mode(given: Execution) -> ExecutionMode | None:
    """Executors without a mode mean Spark."""
    has_executors = any(getattr(given, name) != getattr(Execution(), name) for name in _OF_EXECUTORS)
    return given.mode or (ExecutionMode.SPARK if has_executors else None)


def _nearer(own: object, table: object) -> object:
    match own, table:
        case Mapping(), Mapping():
            return {**table, **own}
        case Resources(), Resources():
            return Resources({**table.requests, **own.requests}, {**table.limits, **own.limits})
        case Retry(), Retry():
            return Retry(*(_nearer(getattr(own, one.name), getattr(table, one.name)) for one in fields(Retry)))  # type: ignore[arg-type]  # numbers
        case PodTemplate(), PodTemplate():
            parts = (_nearer(getattr(own, one.name), getattr(table, one.name)) for one in fields(PodTemplate))
            return PodTemplate(*parts)  # type: ignore[arg-type]  # each value is of its own field
    return table if own is None or own == () else own
