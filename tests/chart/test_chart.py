"""The chart as Helm renders it."""

import json
import tarfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import typer.main
import yaml

from hudi_operator.decision import Defaults
from hudi_operator.launch.manifest import MANAGED_BY
from hudi_operator.main import app
from hudi_operator.policy.file import parse_policy
from tests.chart.helm import CHART, ROOT, VALUES, helm, lint, of_kinds, pods, rendered, template

_EVERY: Final = pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem.removesuffix("-values"))
_CI: Final = CHART / "ci"
_DEFINITIONS: Final = sorted(path.name for path in (ROOT / "crds").glob("*.yaml"))
_SCHEMA: Final = json.loads((CHART / "values.schema.json").read_text())
# Maps whose fields are Kubernetes' own, the operator's, or the user's.
_OPEN: Final = {"type": "object"}


@_EVERY
def test_helm_finds_no_fault_in_the_chart(values: Path) -> None:
    ran = lint(values)

    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"replica": "2"}, "'replica' not allowed"),
        ({"watch.mode": "cluster"}, "'Cluster', 'Namespaces', 'Own'"),
        ({"watch.mode": "Namespaces", "watch.namespaces": "{Orders}"}, "/watch/namespaces/0"),
        ({"replicas": "2", "leaderElection.enabled": "false"}, "Set replicas to 1, or leaderElection.enabled to true"),
        ({"watch.mode": "Namespaces"}, "name at least one namespace"),
        ({"watch.namespaces": "{orders}"}, "set watch.mode to Namespaces"),
        ({"config.any": "1"}, "config is set"),
        ({"image.digest": "latest"}, "/image/digest"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, Mapping) else "",
)
def test_values_that_cannot_work_are_refused(given: Mapping[str, str], expected: str) -> None:
    ran = template(given=given)

    assert ran.returncode == 1
    assert expected in ran.stderr


def test_the_schema_has_every_value_and_no_other() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())

    assert set(_paths_of_schema(_SCHEMA)) - {"global"} == set(_paths_of(values, _SCHEMA))


def test_the_chart_has_the_version_of_the_project() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())

    assert (chart["version"], chart["appVersion"]) == (version, version)


@pytest.mark.parametrize("name", _DEFINITIONS)
def test_a_definition_of_the_chart_is_that_of_the_folder_crds(name: str) -> None:
    assert (CHART / "files/crds" / name).read_bytes() == (ROOT / "crds" / name).read_bytes()


def test_helm_changes_nothing_of_a_definition_but_its_labels_and_annotations() -> None:
    expected = {each["metadata"]["name"]: each for each in map(_definition, _DEFINITIONS)}

    made = {each["metadata"]["name"]: each for each in of_kinds(rendered(), "CustomResourceDefinition")}

    assert len(expected) == 3
    assert {each["metadata"].pop("annotations")["helm.sh/resource-policy"] for each in made.values()} == {"keep"}
    assert all(each["metadata"].pop("labels") for each in made.values())
    assert made == expected


def test_the_chart_has_no_definition_that_the_project_lacks() -> None:
    assert sorted(path.name for path in (CHART / "files/crds").iterdir()) == _DEFINITIONS


@_EVERY
def test_every_pod_of_the_chart_is_admitted_to_a_restricted_namespace_and_needs_no_fixed_uid(values: Path) -> None:
    """The rules of Kubernetes' Pod Security Standards."""
    for pod in (specs := pods(rendered(values))):
        security = pod["securityContext"]
        assert (security["runAsNonRoot"], security["seccompProfile"]) == (True, {"type": "RuntimeDefault"})
        for container in (*pod["containers"], *pod.get("initContainers", ())):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["requests"].keys() >= {"cpu", "memory"}
            assert container["resources"]["limits"].keys() >= {"memory"}
    assert len(specs) >= 2
    assert all("runAsUser" not in pod["securityContext"] for pod in pods(rendered()))


@_EVERY
def test_every_option_that_the_chart_gives_is_one_of_the_operator(values: Path) -> None:
    command = typer.main.get_command(app)
    options = {name for each in command.commands["run"].params for name in (*each.opts, *each.secondary_opts)}  # type: ignore[attr-defined]  # a group of commands

    deployments = {each["metadata"]["name"]: each for each in of_kinds(rendered(values), "Deployment")}
    (container,) = deployments["hudi-operator"]["spec"]["template"]["spec"]["containers"]

    assert container["args"][0] == "run"
    assert {argument.partition("=")[0] for argument in container["args"][1:]} - options == set()


def test_what_the_operator_expects_of_a_namespace_of_tables_is_what_the_chart_makes() -> None:
    made = rendered(_CI / "several-tenants-values.yaml")
    accounts = [each["metadata"] for each in of_kinds(made, "ServiceAccount")]
    policies = [each for each in of_kinds(made, "NetworkPolicy") if each["metadata"]["name"].endswith("-runs")]

    runs = [each["namespace"] for each in accounts if each["name"] == Defaults().service_account_name]
    executors = [each["namespace"] for each in accounts if each["name"] == Defaults().executor_service_account_name]
    assert runs == executors == ["orders", "clicks"]
    assert [each["metadata"]["namespace"] for each in policies] == runs
    assert {json.dumps(each["spec"]["podSelector"]) for each in policies} == {json.dumps({"matchLabels": MANAGED_BY})}


def test_a_policy_is_a_file_only_if_it_is_given() -> None:
    (settings,) = of_kinds(rendered(given={"policy.namespaces.orders.images": "{*}"}), "ConfigMap")

    assert yaml.safe_load(settings["data"]["policy.yaml"]) == {"namespaces": {"orders": {"images": ["*"]}}}
    assert settings["data"].keys() == {"policy.yaml"}
    assert of_kinds(rendered(), "ConfigMap") == []


def test_the_policy_of_the_demo_opens_its_bucket_to_every_namespace() -> None:
    made = {each["metadata"]["name"]: each for each in of_kinds(rendered(CHART / "values-demo.yaml"), "ConfigMap")}

    policy = parse_policy(made["hudi-operator"]["data"]["policy.yaml"])

    grant = policy.grant("any", "s3a://warehouse/orders")
    assert grant is not None
    assert grant.endpoints == ("*",)


def test_a_package_has_the_definitions_and_not_the_values_of_tests(tmp_path: Path) -> None:
    ran = helm("package", CHART, "--destination", tmp_path)
    assert ran.returncode == 0, ran.stderr

    with tarfile.open(next(tmp_path.glob("*.tgz"))) as packed:
        names = packed.getnames()

    assert {f"hudi-operator/files/crds/{name}" for name in _DEFINITIONS} <= set(names)
    assert [name for name in names if name.startswith("hudi-operator/ci/")] == []


def _definition(name: str) -> Any:
    return yaml.safe_load((ROOT / "crds" / name).read_text())


def _paths_of_schema(schema: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for name, inner in schema["properties"].items():
        if "properties" in inner:
            yield from _paths_of_schema(inner, f"{above}{name}.")
        else:
            yield above + name


def _paths_of(values: Mapping[str, Any], schema: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The leaves of values: what the schema does not divide further is one."""
    for name, value in values.items():
        inner = schema["properties"].get(name, _OPEN)
        if isinstance(value, Mapping) and "properties" in inner:
            yield from _paths_of(value, inner, f"{above}{name}.")
        else:
            yield above + name
