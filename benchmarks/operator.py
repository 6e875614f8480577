"""What the operator costs with 500 resources over 100 tables and a real API server: `python -m benchmarks.operator`.

100 HudiTables, 200 MetadataIndexes and 200 TableServices over 100 copies of a small table whose indexes are there. One
operator, runs as processes. Prints what it took to bring them all to Ready, then what a minute costs in which nothing
happens, then what it takes to reconcile all of them at once; writes benchmarks/out/operator.json.

Ends with 1 if a figure is above its limit.

Memory is what is resident of the operator alone; its observer, a process of the engine, is beside it. Quantiles are of
the operator's own histograms: the upper bound of the bucket in which they fall.
"""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Final

import yaml
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.processes import descendants
from benchmarks.usage import Usage, difference, usage_of
from hudi_engine.contract import Action, JobRequest
from tests.cluster.kubernetes import Cluster
from tests.cluster.namespaces import Refused
from tests.cluster.operator_process import OperatorProcess
from tests.golden.unpack import unpack

OUT: Final = Path(__file__).parent / "out" / "operator.json"
TABLES: Final = 100
IDLE_SECONDS: Final = 60.0
_GOLDEN: Final = "v9_cow_orders"
_NAMESPACE: Final = "benchmark"
_PORT: Final = 18080
_SCRAPES: Final = 10
_SECONDS_TO_BE_READY: Final = 300.0
_CONDITION: Final = "hudi_operator_resource_condition"
_LOOKS: Final = "hudi_table_observations_total"
_PAGE: Final = f"import urllib.request as r; print(r.urlopen('http://127.0.0.1:{_PORT}/metrics').read().decode())"

# The parts of the document, their figures, and what these may be at most.
_LIMITS: Final = (
    ("idle", "operator_resident_mb", 150.0),
    ("idle", "operator_cpu_share", 0.02),
    ("idle", "observer_cpu_ms_an_observation", 20.0),
    ("to_ready", "reconcile_p99_seconds_at_most", 1.0),
    ("all_at_once", "reconcile_p99_seconds_at_most", 1.0),
)

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """The operator's metrics at one moment: values by name and labels."""

    values: Mapping[tuple[str, tuple[tuple[str, str], ...]], float]

    @staticmethod
    def of(cluster: Cluster) -> "Page":
        text = cluster.run([sys.executable, "-c", _PAGE])
        families = text_string_to_metric_families(text)
        samples = (sample for family in families for sample in family.samples)
        return Page({(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples})

    def total(self, name: str, **labels: str) -> float:
        return sum(
            value for (of, has), value in self.values.items() if of == name and labels.items() <= dict(has).items()
        )

    def quantile_since(self, before: "Page", name: str, share: float) -> float | None:
        """The upper bound of the bucket in which the quantile falls, of what was counted since; None above all."""
        bounds = sorted({float(dict(has)["le"]) for of, has in self.values if of == f"{name}_bucket"})
        up_to = [self._in_bucket(name, bound) - before._in_bucket(name, bound) for bound in bounds]
        found = next(bound for bound, count in zip(bounds, up_to, strict=True) if count >= share * up_to[-1])
        return found if isfinite(found) else None

    def _in_bucket(self, name: str, bound: float) -> float:
        return sum(
            value
            for (of, has), value in self.values.items()
            if of == f"{name}_bucket" and float(dict(has)["le"]) == bound
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch, Cluster(Path(scratch) / "cluster") as cluster:
        copies(cluster, Path(scratch) / "tables")
        cluster.kubectl("create", "namespace", _NAMESPACE)
        cluster.kubectl("create", "-f", "-", f"--namespace={_NAMESPACE}", given=manifests(Path(scratch) / "tables"))
        ports = ("--metrics-port", str(_PORT), "--health-port", "0")
        with cluster.operator(*ports) as operator:
            document = measure(cluster, operator)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document, indent=2))
    sys.exit("; ".join(above_limits(document)) or 0)


def above_limits(document: Document) -> list[str]:
    """What is above its limit; a quantile above all buckets is."""
    found = ((part, name, document[part][name], limit) for part, name, limit in _LIMITS)
    return [
        f"{part}.{name} is {value}, at most {limit:g} expected"
        for part, name, value, limit in found
        if value is None or value > limit
    ]


def copies(cluster: Cluster, place: Path) -> None:
    """Of a table that has its record index."""
    first = unpack(_GOLDEN, place.with_name("first"))
    request = JobRequest(str(first), Action.BUILD, ("record_index",), conf={"hudi.engine.single.writer": "true"})
    cluster.run([Path(sys.executable).with_name("hudi-engine"), "run", request.to_json()])
    for number in range(TABLES):
        shutil.copytree(first, place / f"table-{number}")


def manifests(place: Path) -> str:
    return "---\n".join(yaml.safe_dump(each) for number in range(TABLES) for each in _of_table(place, number))


def _of_table(place: Path, number: int) -> list[Document]:
    name = f"table-{number}"
    table = {
        "basePath": str(place / name),
        "concurrency": {"mode": "SingleWriter"},
        "execution": {"mode": "DriverOnly"},
    }
    index: Document = {"tableRef": {"name": name}}
    service = index | {"type": "Validate", "schedule": "0 0 1 1 *"}
    return [
        _manifest("HudiTable", name, table),
        _manifest("MetadataIndex", f"{name}-files", index | {"indexType": "Files"}),
        _manifest("MetadataIndex", f"{name}-records", index | {"indexType": "RecordIndex"}),
        _manifest("TableService", f"{name}-early", service),
        _manifest("TableService", f"{name}-late", service),
    ]


def _manifest(kind: str, name: str, spec: Document) -> Document:
    return {"apiVersion": "hudi-operator.dev/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def measure(cluster: Cluster, operator: OperatorProcess) -> Document:
    began = time.monotonic()
    empty = Page({})
    ready = _await(cluster, lambda page: page.total(_CONDITION, condition="Ready", status="True") == 5 * TABLES)
    seconds = time.monotonic() - began
    # What was begun together is over by then, and what the start needed is given back.
    time.sleep(30)
    settled = Page.of(cluster)
    used = [usage_of(pid) for pid in (operator.pid, _observer(operator))]
    time.sleep(IDLE_SECONDS)
    later = [usage_of(pid) for pid in (operator.pid, _observer(operator))]
    idle = Page.of(cluster)
    return {
        "work": f"{5 * TABLES} resources over {TABLES} tables",
        "to_ready": {"seconds": round(seconds, 1), **_reconciles(ready, empty)},
        "idle": _idle(used, later, (settled, idle)),
        "all_at_once": _burst(cluster, operator),
        "metrics_page": _page(cluster, operator),
    }


def _idle(before: list[Usage], after: list[Usage], pages: tuple[Page, Page]) -> Document:
    operator, observer = (difference(*pair) for pair in zip(before, after, strict=True))
    looks = pages[1].total(_LOOKS) - pages[0].total(_LOOKS)
    return {
        "operator_resident_mb": round(operator.resident_bytes / 1e6, 1),
        "operator_peak_mb": round(operator.peak_bytes / 1e6, 1),
        "observer_resident_mb": round(observer.resident_bytes / 1e6, 1),
        "operator_cpu_share": round(operator.cpu_seconds / IDLE_SECONDS, 4),
        "observer_cpu_share": round(observer.cpu_seconds / IDLE_SECONDS, 4),
        "observations_a_minute": round(looks * 60 / IDLE_SECONDS),
        "observer_cpu_ms_an_observation": round(1000 * observer.cpu_seconds / looks, 2),
        "api_requests_a_minute": _requests(*pages),
        **_reconciles(pages[1], pages[0]),
    }


def _burst(cluster: Cluster, operator: OperatorProcess) -> Document:
    """Every resource is edited at once."""
    before, used = Page.of(cluster), usage_of(operator.pid)
    began = time.monotonic()
    for kind in ("huditables", "metadataindexes", "tableservices"):
        cluster.kubectl("annotate", kind, "--all", "example.org/touched=1", f"--namespace={_NAMESPACE}")
    name = "hudi_operator_reconciles_total"
    after = _await(cluster, lambda page: page.total(name) - before.total(name) >= 5 * TABLES)
    seconds = time.monotonic() - began
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(difference(used, usage_of(operator.pid)).cpu_seconds, 2),
        **_reconciles(after, before),
    }


def _page(cluster: Cluster, operator: OperatorProcess) -> Document:
    """What a scrape costs, in which nothing else is done."""
    used = usage_of(operator.pid)
    sizes = [len(cluster.run([sys.executable, "-c", _PAGE])) for _ in range(_SCRAPES)]
    seconds = difference(used, usage_of(operator.pid)).cpu_seconds
    return {"mb": round(sizes[0] / 1e6, 2), "cpu_ms": round(1000 * seconds / _SCRAPES)}


def _reconciles(after: Page, before: Page) -> Document:
    count = after.total("hudi_operator_reconciles_total") - before.total("hudi_operator_reconciles_total")
    if not count:
        return {"reconciles": 0}
    return {
        "reconciles": count,
        "errors": after.total("hudi_operator_reconciles_total", result="error"),
        "reconcile_p99_seconds_at_most": after.quantile_since(before, "hudi_operator_reconcile_duration_seconds", 0.99),
        "queue_wait_p99_seconds_at_most": after.quantile_since(before, "hudi_operator_queue_wait_seconds", 0.99),
    }


def _requests(before: Page, after: Page) -> dict[str, float]:
    """Of each verb and resource, in a minute."""
    name = "hudi_operator_api_requests_total"
    grown = {key: value - before.values.get(key, 0.0) for key, value in after.values.items() if key[0] == name}
    shown = {
        f"{dict(labels)['verb']} {dict(labels)['resource']}": count for (_, labels), count in grown.items() if count
    }
    return {"all": sum(shown.values()) * 60 / IDLE_SECONDS, **shown}


def _observer(operator: OperatorProcess) -> int:
    (found,) = (pid for pid in descendants(operator.pid) if "observe" in _arguments(pid))
    return found


def _arguments(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/cmdline").read_text().split("\0")


def _await(cluster: Cluster, is_so: Callable[[Page], bool]) -> Page:
    end = time.monotonic() + _SECONDS_TO_BE_READY
    while time.monotonic() < end:
        # The page is not there before the operator is.
        with suppress(Refused):
            page = Page.of(cluster)
            if is_so(page):
                return page
        time.sleep(1.0)
    raise TimeoutError(f"not so after {_SECONDS_TO_BE_READY:.0f} s")


if __name__ == "__main__":
    main()
