"""`--dry-run`: what building an index would take, and whether it would be refused; nothing is changed."""

from dataclasses import asdict

from hudi_engine.cli import screen
from hudi_engine.cli.options import open_from
from hudi_engine.cli.planning import plan_build
from hudi_engine.contract import JobRequest


def show_plan(request: JobRequest, *, is_json: bool) -> None:
    """The plan's size in figures; zeros if the table has all that is asked for."""
    table = open_from(request.table, request.conf)
    planned = plan_build(table, request)
    if planned is None:
        if is_json:
            screen.print_json({"keys": 0, "shards": 0, "unchanged": list(request.kinds)})
        else:
            screen.out().print(f"nothing to do: {', '.join(request.kinds)} complete already")
        return
    figures = planned.figures
    if is_json:
        screen.print_json(asdict(figures) | {"unchanged": []})
        return
    rows = [
        ("entries, about", f"{figures.keys:,}"),
        ("shards", f"{figures.shards:,}"),
        ("to read", screen.size(figures.read_bytes)),
        ("to write", screen.size(figures.write_bytes)),
        ("memory", screen.size(figures.memory_bytes)),
        ("time", screen.age(figures.seconds)),
    ]
    screen.show_grid(f"{table.config.name}: {', '.join(request.kinds)} would take", ["", ">"], rows)
