"""Who may do what, once the chart is installed.

`python -m tests.chart.test_rights` writes the snapshots anew. Commit that only if you can explain each changed line.
"""

from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.chart.helm import CHART, ROOT, Manifest, of_kinds, rendered

_SNAPSHOTS: Final = Path(__file__).with_name("rights")
_CASES: Final = {name: CHART / f"ci/{name}-values.yaml" for name in ("default", "namespaced", "own")}
_KEPT: Final = ("default", "namespaced")
_RIGHTS: Final = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
_FINALIZERS: Final = [f"{plural}/finalizers" for plural in ("huditables", "metadataindexes", "tableservices")]


@pytest.mark.parametrize("name", _KEPT)
def test_the_rights_that_the_chart_gives_are_those_of_the_snapshot(name: str) -> None:
    assert _rights(name) == list(yaml.safe_load_all((_SNAPSHOTS / f"{name}.yaml").read_text()))


def test_the_operator_has_the_rights_that_the_tests_in_a_cluster_give_it_and_its_owners_finalizers() -> None:
    tried = list(yaml.safe_load_all((ROOT / "tests/cluster/rights.yaml").read_text()))

    (rules,) = (
        each["rules"] for each in _rights("default") if each["metadata"]["name"] == "hudi-operator" and "rules" in each
    )

    finalizers = {"apiGroups": ["hudi-operator.dev"], "resources": _FINALIZERS, "verbs": ["update"]}
    assert [rule for rule in rules if rule != finalizers] == of_kinds(tried, "ClusterRole")[0]["rules"]
    assert finalizers in rules


@pytest.mark.parametrize("name", ["namespaced", "own"])
def test_an_operator_of_some_namespaces_has_no_right_beyond_them(name: str) -> None:
    bindings = of_kinds(_rights(name), "RoleBinding", "ClusterRoleBinding")

    watched = {"namespaced": {"orders", "clicks"}, "own": set()}[name]
    assert {each["kind"] for each in bindings} == {"RoleBinding"}
    assert {each["metadata"]["namespace"] for each in bindings} == watched | {"hudi"}


def _rights(name: str) -> list[Manifest]:
    """Without labels, which are the same everywhere, but for those that add rights to other roles."""
    made = of_kinds(rendered(_CASES[name]), *_RIGHTS)
    for each in made:
        labels = each["metadata"].pop("labels")
        if added := {key: text for key, text in labels.items() if key.startswith("rbac.")}:
            each["metadata"]["labels"] = added
    return made


if __name__ == "__main__":
    for case in _KEPT:
        (_SNAPSHOTS / f"{case}.yaml").write_text(yaml.safe_dump_all(_rights(case), sort_keys=False))
