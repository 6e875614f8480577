"""The command `kubectl hudi`.

Exit codes: 0, done; 1, `doctor` found something, or what was asked for is refused; 2, the command line; 3, the cluster
or the folder does not answer.
"""

import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NoReturn, TextIO

import typer

from hudi_engine.contract import printable
from hudi_operator.plugin.doctor import finding_tree, findings
from hudi_operator.plugin.documents import Document, TableGroup, grouped
from hudi_operator.plugin.folder import Folder
from hudi_operator.plugin.kubectl import Cluster
from hudi_operator.plugin.picture import plan_lines, status_lines
from hudi_operator.plugin.place import CannotLook, NotThere, Place, Refused
from hudi_operator.version import version_option

REFUSED, CANNOT_LOOK = 1, 3

app = typer.Typer(
    name="kubectl-hudi",
    help="What hudi-operator knows of tables, their indexes and services. Runs kubectl for all it asks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Namespace = Annotated[str | None, typer.Option("--namespace", "-n", help="Where to look, if not in the context's own.")]
Context = Annotated[str | None, typer.Option("--context", help="Which context of the kubeconfig.")]
Everywhere = Annotated[bool, typer.Option("--all-namespaces", "-A", help="Look into every namespace.")]
State = Annotated[Path | None, typer.Option("--state", help="State folder of a local operator, instead of a cluster.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
TableName = Annotated[str | None, typer.Argument(metavar="[TABLE]", help="Only this HudiTable.")]
IndexName = Annotated[str, typer.Argument(metavar="INDEX", help="Name of the MetadataIndex.")]


@app.callback()
def options(*, version: Annotated[bool, version_option("kubectl-hudi")] = False) -> None:
    """Options that stand before a command."""


@app.command()
def status(
    table: TableName = None,
    *,
    namespace: Namespace = None,
    context: Context = None,
    everywhere: Everywhere = False,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Tables, their indexes and services: states, progress, lag, runs, and what is not as it should be."""
    groups = _groups(_place(namespace, context, everywhere, state), table)
    if as_json:
        _print_json({"tables": [_group_tree(group) for group in groups]})
    else:
        _print(status_lines(groups, _now()) if groups else ["no resources found"])


@app.command()
def plan(
    index: IndexName,
    *,
    namespace: Namespace = None,
    context: Context = None,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """The plan that waits for approval: keys, bytes, shards and its hash."""
    found = _place(namespace, context, False, state).index(index)
    if as_json:
        waits = found.is_awaiting_approval
        _print_json({"index": index, "state": found.state, "awaitingApproval": waits, "plan": found.plan.value})
    else:
        _print(plan_lines(found, _now()))


@app.command()
def approve(
    index: IndexName,
    *,
    plan_hash: Annotated[str | None, typer.Option("--hash", help="Of the plan that you have seen.")] = None,
    namespace: Namespace = None,
    context: Context = None,
    state: State = None,
) -> None:
    """Approve the plan that waits; refused if it is another one than was shown."""
    place = _place(namespace, context, False, state)
    shown = plan_hash or _shown_and_confirmed(place.index(index))
    now = place.index(index)
    if not now.is_awaiting_approval:
        raise Refused(f"{index} is {now.state or 'not looked at yet'} and waits for no approval")
    if now.plan.text("hash") != shown:
        raise Refused(f"the plan is {now.plan.text('hash')} by now, not {shown}: see kubectl hudi plan {index}")
    place.approve(now.ref, shown)
    _print([f"{index}: plan {shown} approved"])


@app.command()
def doctor(
    table: TableName = None,
    *,
    namespace: Namespace = None,
    context: Context = None,
    everywhere: Everywhere = False,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """Go through conditions, leases, orphaned plans and what writers need; exit code 1 if something is wrong."""
    place = _place(namespace, context, everywhere, state)
    groups = _groups(place, table)
    found = findings(groups, place.surroundings(), _now())
    if as_json:
        _print_json({"findings": [finding_tree(each) for each in found], "tables": len(groups)})
    else:
        for each in found:
            _print([f"✗ {each.about}: {each.what}", *([f"  → {each.to_do}"] if each.to_do else [])])
        print(f"{len(found)} findings in {len(groups)} tables" if found else f"✓ nothing wrong in {len(groups)} tables")
    if found:
        raise typer.Exit(REFUSED)


def main() -> None:
    """The entry point: errors are one line, without a traceback."""
    try:
        app(standalone_mode=True)
    except Refused as refused:
        _leave(str(refused), REFUSED)
    except CannotLook as failed:
        _leave(str(failed), CANNOT_LOOK)


def _place(namespace: str | None, context: str | None, everywhere: bool, state: Path | None) -> Place:
    if state is None:
        return Cluster(namespace, context, everywhere)
    if context:
        raise typer.BadParameter("--state is a folder, in which there are no contexts")
    return Folder(state, namespace)


def _groups(place: Place, table: str | None) -> list[TableGroup]:
    found = [group for group in grouped(place.documents()) if table in (None, group.name)]
    if table is not None and not found:
        raise NotThere(f"no HudiTable {table}, and nothing that refers to it; -A looks into every namespace")
    return found


def _shown_and_confirmed(index: Document) -> str:
    """The hash of the plan that was shown, if the person at the terminal says yes to it."""
    _print(plan_lines(index, _now()))
    if not index.is_awaiting_approval:
        raise Refused(f"{index.ref.name} waits for no approval")
    if not sys.stdin.isatty():
        raise Refused("nobody is there to be asked: give --hash with the hash of the plan that you have seen")
    typer.confirm("Approve this plan?", abort=True)
    return index.plan.text("hash")


def _group_tree(group: TableGroup) -> dict[str, object]:
    return {
        "namespace": group.namespace,
        "name": group.name,
        "table": group.table.tree.value if group.table else None,
        "indexes": [index.tree.value for index in group.indexes],
        "services": [service.tree.value for service in group.services],
    }


def _print(lines: Iterable[str], to: TextIO | None = None) -> None:
    """Statuses hold words that anybody may have chosen: none of them gives the terminal orders."""
    for line in lines:
        print(printable(line), file=to)


def _print_json(tree: dict[str, object]) -> None:
    print(json.dumps(tree, indent=2))


def _now() -> datetime:
    return datetime.now(UTC)


def _leave(message: str, code: int) -> NoReturn:
    _print(f"kubectl hudi: {message}".splitlines(), sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
