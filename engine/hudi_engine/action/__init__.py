"""The verbs that change a table. A `plan_…` writes nothing; a `run_…` may be repeated after a crash anywhere."""
