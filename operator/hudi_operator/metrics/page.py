"""A page of metrics as it is filled, series by series."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    SummaryMetricFamily,
)
from prometheus_client.metrics_core import Metric

from hudi_operator.metrics.families import Family

Labels = tuple[str, ...]


@dataclass(slots=True)
class Spread:
    """What a histogram or summary holds: how many values fell into each bucket, how many there were, and their sum."""

    family: Family
    in_buckets: list[int] = field(init=False)
    sum: float = 0.0
    count: int = 0

    def __post_init__(self) -> None:
        self.in_buckets = [0] * (len(self.family.buckets) + 1)

    def add(self, value: float) -> None:
        self.in_buckets[bisect_left(self.family.buckets, value)] += 1
        self.sum += value
        self.count += 1


@dataclass(slots=True)
class Page:
    """A value is put at most once for each family and its labels; None is a value that nobody knows, and left out."""

    values: dict[Family, dict[Labels, float | Spread]] = field(default_factory=dict)

    def put(self, family: Family, value: float | Spread | None, *labels: str) -> None:
        if value is not None:
            self.values.setdefault(family, {})[labels] = value

    def put_all(self, values: Mapping[Family, Mapping[Labels, float | Spread]]) -> None:
        for family, series in values.items():
            self.values.setdefault(family, {}).update(series)

    def families(self) -> Iterator[Metric]:
        for family, series in self.values.items():
            yield _metric_of(family, series)


def _metric_of(family: Family, series: Mapping[Labels, float | Spread]) -> Metric:
    name, says, names = family.name, family.says, family.labels
    gauge, counter = GaugeMetricFamily(name, says, labels=names), CounterMetricFamily(name, says, labels=names)
    histogram = HistogramMetricFamily(name, says, labels=names)
    summary = SummaryMetricFamily(name, says, labels=names)
    for labels, value in series.items():
        match value:
            case Spread() if family.type == "histogram":
                bounds = [*(str(float(bound)) for bound in family.buckets), "+Inf"]
                histogram.add_metric(labels, list(zip(bounds, accumulate(value.in_buckets), strict=True)), value.sum)
            case Spread():
                summary.add_metric(labels, value.count, value.sum)
            case _ if family.type == "counter":
                counter.add_metric(labels, value)
            case _:
                gauge.add_metric(labels, value)
    return {"gauge": gauge, "counter": counter, "histogram": histogram, "summary": summary}[family.type]
