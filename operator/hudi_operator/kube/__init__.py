"""The operator in a cluster: its API, the watches, the Lease, events and health."""
