"""The golden tables that there must be, and their sizes: one that vanishes must not take its tests with it unseen."""

EXPECTED_NAMES = frozenset(
    {
        "v6_cow_archived",
        "v6_cow_indexed",
        "v6_cow_orders",
        "v6_cow_services",
        "v6_mor_commit_time",
        "v6_mor_compacted",
        "v6_mor_compacted_by_1_2",
        "v6_mor_deletions",
        "v6_mor_journeys",
        "v6_mor_killed",
        "v6_mor_orders",
        "v6_mor_pending",
        "v6_mor_pending_rolled_back",
        "v6_mor_record_index_large",
        "v6_mor_rolled_back",
        "v6_mor_statistics",
        "v6_mor_strange_keys",
        "v8_cow_orders",
        "v8_cow_secondary",
        "v8_cow_statistics",
        "v8_mor_archived",
        "v8_mor_compacted",
        "v8_mor_indexed",
        "v8_mor_orders",
        "v8_mor_partial",
        "v8_mor_pending",
        "v8_mor_pending_rolled_back",
        "v8_mor_rolled_back",
        "v8_mor_services",
        "v9_cow_archived",
        "v9_cow_expression_index",
        "v9_cow_orders",
        "v9_cow_partitioned_record_index",
        "v9_cow_rolled_back",
        "v9_cow_statistics",
        "v9_mor_commit_time",
        "v9_mor_compacted",
        "v9_mor_deletions",
        "v9_mor_expression_index",
        "v9_mor_index_in_flight",
        "v9_mor_indexed",
        "v9_mor_journeys",
        "v9_mor_killed",
        "v9_mor_orders",
        "v9_mor_partial",
        "v9_mor_pending",
        "v9_mor_pending_rolled_back",
        "v9_mor_record_index_large",
        "v9_mor_secondary",
        "v9_mor_services",
        "v9_mor_strange_keys",
        "v9_mor_upgraded",
    }
)
_LARGEST_BYTES = 1_000_000
# An index of several blocks needs many keys.
_LARGER = {"v9_mor_record_index_large": 3_000_000}


def largest_bytes(name: str) -> int:
    """How large the zip of that table may be."""
    return _LARGER.get(name, _LARGEST_BYTES)
