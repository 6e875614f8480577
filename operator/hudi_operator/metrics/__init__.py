"""Metrics: what was last observed as gauges, what happened since the operator's start as counters.

`serve` is the page; `Counts` is told of what happens by those who see it.
"""

from hudi_operator.metrics.collector import Observed, TableCollector
from hudi_operator.metrics.counts import Counts, Reconciled
from hudi_operator.metrics.serve import serve

__all__ = ["Counts", "Observed", "Reconciled", "TableCollector", "serve"]
