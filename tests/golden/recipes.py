"""Which golden tables there are: who writes each, what it is, and the scenario it goes through."""

from tests.golden import index_scenarios, scenarios
from tests.golden.lab import Recipe

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"

_ALL = (
    Recipe("v6_cow_orders", ("0.15.0",), 6, COW, (scenarios.orders,)),
    Recipe("v6_mor_orders", ("0.15.0",), 6, MOR, (scenarios.orders,)),
    Recipe("v8_cow_orders", ("1.2.0",), 8, COW, (scenarios.orders,)),
    Recipe("v8_mor_orders", ("1.0.2",), 8, MOR, (scenarios.orders,)),
    Recipe("v9_cow_orders", ("1.1.1",), 9, COW, (scenarios.orders,)),
    Recipe("v9_mor_orders", ("1.2.0",), 9, MOR, (scenarios.orders,)),
    Recipe("v6_mor_journeys", ("0.15.0",), 6, MOR, (scenarios.journeys,)),
    Recipe("v9_mor_journeys", ("1.2.0",), 9, MOR, (scenarios.journeys,)),
    Recipe("v6_mor_compacted", ("0.15.0",), 6, MOR, (scenarios.compacted,)),
    Recipe("v6_mor_compacted_by_1_2", ("1.2.0",), 6, MOR, (scenarios.compacted,)),
    Recipe("v8_mor_compacted", ("1.0.2",), 8, MOR, (scenarios.compacted,)),
    Recipe("v9_mor_compacted", ("1.1.1",), 9, MOR, (scenarios.compacted,)),
    Recipe("v6_cow_services", ("0.15.0",), 6, COW, (scenarios.services,)),
    Recipe("v8_mor_services", ("1.2.0",), 8, MOR, (scenarios.services,)),
    Recipe("v9_mor_services", ("1.1.1",), 9, MOR, (scenarios.services,)),
    Recipe("v6_mor_rolled_back", ("0.15.0",), 6, MOR, (scenarios.rolled_back,)),
    Recipe("v8_mor_rolled_back", ("1.0.2",), 8, MOR, (scenarios.rolled_back,)),
    Recipe("v9_cow_rolled_back", ("1.2.0",), 9, COW, (scenarios.rolled_back,)),
    Recipe("v6_cow_archived", ("0.15.0",), 6, COW, (scenarios.archived,)),
    Recipe("v8_mor_archived", ("1.0.2",), 8, MOR, (scenarios.archived,)),
    Recipe("v9_cow_archived", ("1.1.1",), 9, COW, (scenarios.archived,)),
    Recipe("v6_mor_killed", ("1.0.2",), 6, MOR, (scenarios.killed,)),
    Recipe("v9_mor_killed", ("1.2.0",), 9, MOR, (scenarios.killed,)),
    Recipe("v9_mor_upgraded", ("0.15.0", "1.2.0"), 9, MOR, (scenarios.aged, scenarios.upgraded)),
    Recipe("v6_mor_commit_time", ("0.15.0",), 6, MOR, (scenarios.commit_time,)),
    Recipe("v9_mor_commit_time", ("1.2.0",), 9, MOR, (scenarios.commit_time,)),
    Recipe("v6_mor_deletions", ("0.15.0",), 6, MOR, (scenarios.deletions,)),
    Recipe("v9_mor_deletions", ("1.2.0",), 9, MOR, (scenarios.deletions,)),
    Recipe("v8_mor_partial", ("1.0.2",), 8, MOR, (scenarios.partial,)),
    Recipe("v9_mor_partial", ("1.2.0",), 9, MOR, (scenarios.partial,)),
    Recipe("v6_cow_indexed", ("0.15.0",), 6, COW, (scenarios.indexed,)),
    Recipe("v8_mor_indexed", ("1.0.2",), 8, MOR, (scenarios.indexed,)),
    Recipe("v9_mor_indexed", ("1.2.0",), 9, MOR, (scenarios.indexed,)),
    Recipe("v6_mor_record_index_large", ("0.15.0",), 6, MOR, (index_scenarios.record_index_large,)),
    Recipe("v9_mor_record_index_large", ("1.2.0",), 9, MOR, (index_scenarios.record_index_large,)),
    Recipe("v9_cow_partitioned_record_index", ("1.1.1",), 9, COW, (index_scenarios.partitioned_record_index,)),
    Recipe("v6_mor_strange_keys", ("0.15.0",), 6, MOR, (index_scenarios.strange_keys,)),
    Recipe("v9_mor_strange_keys", ("1.2.0",), 9, MOR, (index_scenarios.strange_keys,)),
    Recipe("v8_cow_secondary", ("1.0.2",), 8, COW, (index_scenarios.secondary,)),
    Recipe("v9_mor_secondary", ("1.2.0",), 9, MOR, (index_scenarios.secondary,)),
    Recipe("v6_mor_statistics", ("0.15.0",), 6, MOR, (index_scenarios.statistics,)),
    Recipe("v8_cow_statistics", ("1.0.2",), 8, COW, (index_scenarios.statistics,)),
    Recipe("v9_cow_statistics", ("1.2.0",), 9, COW, (index_scenarios.statistics,)),
    Recipe("v9_mor_index_in_flight", ("1.2.0",), 9, MOR, (index_scenarios.index_in_flight,)),
    Recipe("v6_mor_pending", ("0.15.0",), 6, MOR, (index_scenarios.pending,)),
    Recipe("v8_mor_pending", ("1.0.2",), 8, MOR, (index_scenarios.pending,)),
    Recipe("v9_mor_pending", ("1.2.0",), 9, MOR, (index_scenarios.pending,)),
    Recipe("v6_mor_pending_rolled_back", ("0.15.0",), 6, MOR, (index_scenarios.pending_rolled_back,)),
    Recipe("v8_mor_pending_rolled_back", ("1.0.2",), 8, MOR, (index_scenarios.pending_rolled_back,)),
    Recipe("v9_mor_pending_rolled_back", ("1.2.0",), 9, MOR, (index_scenarios.pending_rolled_back,)),
    Recipe("v9_cow_expression_index", ("1.2.0",), 9, COW, (index_scenarios.expression_index,)),
    Recipe("v9_mor_expression_index", ("1.2.0",), 9, MOR, (index_scenarios.expression_index,)),
)
RECIPES = {recipe.name: recipe for recipe in _ALL}
SCENARIOS = {stage.__name__: stage for recipe in _ALL for stage in recipe.stages}
# Each needs indexes that not every release and table version has.
ABOUT_INDEXES = {name for name, stage in SCENARIOS.items() if stage.__module__ == index_scenarios.__name__}


def on_the_spot(scenario: str, hudi: str, table_version: int, table_type: str) -> Recipe:
    """A recipe for a table that no golden zip has: any scenario by any writer."""
    return Recipe(f"{scenario}_v{table_version}", (hudi,), table_version, table_type, (SCENARIOS[scenario],))
