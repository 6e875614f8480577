"""The user's story: what is applied becomes ready beside a Java writer, and says so."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cluster.api import Tree, path_of
from tests.cluster.kubernetes import HOME, Cluster
from tests.cluster.manifests import INDEX, SERVICE, TABLE, index, service, table, text
from tests.cluster.operator_process import OperatorProcess
from tests.cluster.runs import builds_of
from tests.cluster.user import User
from tests.java.live import Scene
from tests.java.remains import require_ready_and_nothing_left
from tests.kit.builds import Builds
from tests.kit.eventually import eventually

_EXAMPLES: Final = Path(__file__).parents[2] / "examples"
_EXAMPLE_PATH: Final = "file:/tables/orders"


@pytest.fixture(scope="module")
def builds(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Builds:
    return builds_of(cluster, tmp_path_factory.mktemp("builds") / "pauses")


@pytest.fixture(scope="module")
def operator(cluster: Cluster, builds: Builds) -> Iterator[OperatorProcess]:
    """One for all these tests; the last one stops it."""
    with cluster.operator(pauses=builds.folder) as running:
        yield running


@pytest.mark.usefixtures("operator")
def test_the_example_applied_beside_a_java_writer_becomes_ready_and_java_finds_every_row_by_it(
    user: User, live: Scene, builds: Builds
) -> None:
    example = (_EXAMPLES / "orders.yaml").read_text()
    assert example.count(_EXAMPLE_PATH) == 1
    builds.stop_the_next()
    user.kubectl("apply", "-f", "-", given=example.replace(_EXAMPLE_PATH, str(live.folder)))
    with builds.stopped(live.folder):
        live.commit()
    live.commit()
    user.wait("metadataindex/orders-by-key")

    user.edit("tableservice/orders-nightly-check", runToken="now")
    user.wait("tableservice/orders-nightly-check", "LastRunSucceeded")

    require_ready_and_nothing_left(live.folder)
    live.commit()
    live.require_found_by_java()


@pytest.mark.usefixtures("operator")
def test_columns_conditions_status_and_events_tell_what_there_is(user: User, quiet: Path) -> None:
    user.apply(table(quiet), index(), service())
    user.wait()
    user.wait(f"tableservice/{SERVICE}", "LastRunSucceeded")
    user.wait(f"huditable/{TABLE}")

    tables, indexes, services = (_shown(user, kind) for kind in ("hudit", "hudii", "hudis"))
    assert (tables["READY"], tables["TYPE"]) == ("True", "MERGE_ON_READ")
    assert (indexes["TABLE"], indexes["TYPE"], indexes["READY"], indexes["STATE"]) == (
        *(TABLE, "RecordIndex", "True", "Ready"),
    )
    assert (services["TYPE"], services["READY"]) == ("Validate", "True")
    for kind, name in (("huditable", TABLE), ("metadataindex", INDEX), ("tableservice", SERVICE)):
        _require_at_rest(user.get(f"{kind}/{name}"))
    # The table is ready before the index is, and tells of what it has by a reconciliation of its own.
    user.wait_until(
        "the table to tell of its index",
        f"huditable/{TABLE}",
        lambda seen: "record_index" in str(seen["status"]["table"]),
    )
    user.wait_for_event(f"metadataindex/{INDEX}")
    user.wait_for_event(f"tableservice/{SERVICE}")


@pytest.mark.usefixtures("operator")
def test_the_settings_that_writers_need_are_in_a_config_map_that_goes_with_the_table(user: User, quiet: Path) -> None:
    user.apply(table(quiet), index())
    user.wait()

    writer = f"configmap/{TABLE}-writer"
    (properties,) = user.get(writer)["data"].values()

    assert "hoodie.metadata.record.index.enable=true" in properties.splitlines()
    assert "hoodie.write.concurrency.mode=optimistic_concurrency_control" in properties.splitlines()
    user.kubectl("delete", "hudi", "--all")
    eventually("the config map to go", lambda: user.listed("configmap"), lambda left: writer not in map(_name, left))


@pytest.mark.usefixtures("operator")
@pytest.mark.parametrize("options", [(), ("--server-side",)], ids=["client-side", "server-side"])
def test_an_apply_again_of_what_is_ready_changes_nothing(user: User, quiet: Path, options: tuple[str, ...]) -> None:
    documents = text(table(quiet), index())
    user.kubectl("apply", *options, "-f", "-", given=documents)
    user.wait()
    before = user.get(f"metadataindex/{INDEX}")

    said = user.kubectl("apply", *options, "-f", "-", given=documents)

    after = user.get(f"metadataindex/{INDEX}")
    assert said.count("serverside-applied" if options else "unchanged") == 2
    assert after["metadata"]["generation"] == before["metadata"]["generation"]
    assert after["spec"] == before["spec"]


@pytest.mark.usefixtures("operator")
def test_a_build_that_needs_approval_waits_for_its_hash_and_then_runs(user: User, quiet: Path) -> None:
    user.apply(table(quiet), index(approval="Manual"))
    what = f"metadataindex/{INDEX}"
    user.wait_until(
        "a plan to be approved", what, lambda seen: seen.get("status", {}).get("state") == "AwaitingApproval"
    )
    plan = user.get(what)["status"]["plan"]
    assert not list((quiet / ".hoodie").rglob("*.indexing.*"))

    user.annotate(what, approve=plan["hash"])

    user.wait()
    require_ready_and_nothing_left(quiet)


def test_the_operator_ends_when_asked_to_and_gives_the_lease_back(
    cluster: Cluster, user: User, operator: OperatorProcess, quiet: Path
) -> None:
    user.apply(table(quiet), index())
    user.wait()

    assert operator.stop() == 0
    assert cluster.api.get(path_of(HOME, f"lease/{HOME}"))["spec"]["holderIdentity"] == ""


def _name(config_map: Tree) -> str:
    return f"configmap/{config_map['metadata']['name']}"


def _shown(user: User, kind: str) -> dict[str, str]:
    """What `kubectl get` shows of the one of that kind, by column."""
    heads, values = user.kubectl("get", kind).splitlines()
    begins = [place for place in range(len(heads)) if heads[place] != " " and heads[: place + 1].endswith(heads[place])]
    begins = [place for place in begins if place == 0 or heads[place - 2 : place] == "  "]
    ends = [*begins[1:], len(values)]
    return {heads[begin:end].strip(): values[begin:end].strip() for begin, end in zip(begins, ends, strict=True)}


def _require_at_rest(resource: dict[str, Any]) -> None:
    status = resource["status"]
    assert status["observedGeneration"] == resource["metadata"]["generation"]
    known = {each["type"]: each["status"] for each in status["conditions"]}
    assert (known["Ready"], known["Reconciling"], known["Stalled"]) == ("True", "False", "False"), status
