"""`hudi-engine index status`: a table for people, a document for programs."""

from collections.abc import Mapping

from hudi_engine.action.seen import look
from hudi_engine.action.status import KindStatus, status_of
from hudi_engine.cli import screen
from hudi_engine.cli.options import open_from
from hudi_engine.concurrency.heartbeat import Heartbeats, own_lease


def show_status(location: str, names: tuple[str, ...], conf: Mapping[str, str], *, is_json: bool) -> None:
    """Of these indexes, or of all that there is anything of."""
    table = open_from(location, conf)
    heartbeats = Heartbeats(table.storage, table.clock, own_lease(conf))
    found = [status_of(seen, table.clock.now_ms(), table.zone) for seen in look(table, heartbeats, names)]
    if is_json:
        screen.print_json({"table": location, "indexes": [_document(status) for status in found]})
        return
    columns = ["index", "state", "base", "caught up to", "head", "lag>", "progress", "run by", "heartbeat>"]
    screen.show_grid(table.config.name, columns, map(_row, found))
    for status in found:
        if status.reason:
            screen.out().print(screen.safe(f"{status.name}: {status.reason}"), markup=False, soft_wrap=True)


def _document(status: KindStatus) -> dict[str, object]:
    progress, runner = status.progress, status.runner
    return {
        "index": status.name,
        "state": status.state,
        "reason": status.reason,
        "columns": list(status.columns),
        "plan": status.plan,
        "base": progress.base,
        "caught_up_to": progress.caught_up_to,
        "head": progress.head,
        "lag_instants": progress.lag_instants,
        "lag_seconds": round(progress.lag_seconds, 3),
        "progress": progress.phase,
        "attempt": None if runner is None else runner.attempt,
        "owner": None if runner is None else runner.owner,
        "heartbeat_age_seconds": None if runner is None else runner.heartbeat_age_seconds,
    }


def _row(status: KindStatus) -> list[object]:
    progress, runner = status.progress, status.runner
    lag = f"{progress.lag_instants}, {screen.age(progress.lag_seconds)}" if progress.lag_instants else ""
    who, beat = ("", "") if runner is None else (runner.owner, screen.age(runner.heartbeat_age_seconds))
    shown = [status.name, status.state, progress.base, progress.caught_up_to, progress.head]
    return [*shown, lag, progress.phase, who, beat]
